import { hasExited } from '@influencer-stats/runtime/async/has-exited'
import { execFile, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import {
  buildGoProgram,
  createPythonEnvironment,
  requireProgram,
} from '@influencer-stats/runtime/testing/third-party-client'
import { onTestFinished } from 'vitest'
import type { ClientMessage } from '../clients/client-program.ts'

const toPath = (name: string) => fileURLToPath(new URL(`../clients/${name}`, import.meta.url))

const runNode = (file: string) => async () => [process.execPath, toPath(file)]

let python: Promise<string> | undefined
const runPython = (file: string) => async () => {
  python ??= createPythonEnvironment(['--requirement', toPath('requirements.txt')])
  return [await python, toPath(file)]
}

/** Finds symfony/mercure, a package of Debian. @throws Error if it is missing */
export async function findSymfony(): Promise<string[]> {
  const check = `exit(is_dir('/usr/share/php/Symfony/Component/Mercure') ? 0 : 1);`
  await requireProgram('php-symfony-mercure of Debian', 'php', '-r', check)
  return ['php', toPath('symfony.php')]
}

/** A client that others wrote. */
export interface ThirdPartyClient {
  readonly name: string
  /** Finds, installs or builds the program. Resolves with its command. */
  findCommand(): Promise<string[]>
  /** True if the library passes on a block that the end of a stream cuts off, such as a heartbeat, as an empty message. */
  readonly passesCutBlocks?: boolean
}

export const CLIENTS: readonly ThirdPartyClient[] = [
  { name: 'npm eventsource', findCommand: runNode('eventsource.ts') },
  { name: 'npm eventsource-client', findCommand: runNode('eventsource-client.ts') },
  { name: 'npm @microsoft/fetch-event-source', findCommand: runNode('fetch-event-source.ts') },
  { name: 'EventSource of Chromium', findCommand: runNode('chromium.ts') },
  { name: 'PyPI requests and sseclient-py', findCommand: runPython('sseclient_py.py') },
  { name: 'PyPI httpx and httpx-sse', findCommand: runPython('httpx_sse_client.py') },
  {
    name: 'Go r3labs/sse and net/http',
    findCommand: async () => [await buildGoProgram(toPath('r3labs-sse'))],
    passesCutBlocks: true,
  },
  { name: 'PHP symfony/mercure and symfony/http-client', findCommand: findSymfony },
]

/** A client that subscribes. */
export interface ClientReader {
  /** All messages that the library has passed on. */
  readonly messages: readonly ClientMessage[]
  /** Number of blocks that ends of streams cut off. */
  readonly cutBlocks: number
  /** Throws if the program has ended. */
  checkAlive(): void
}

/** The program of a client, with the arguments of `client-program.ts`. */
export class ClientProgram {
  readonly #command: readonly string[]
  readonly #passesCutBlocks: boolean

  constructor(command: readonly string[], passesCutBlocks = false) {
    this.#command = command
    this.#passesCutBlocks = passesCutBlocks
  }

  /** @throws Error if its runtime is missing */
  static async find({ findCommand, passesCutBlocks = false }: ThirdPartyClient): Promise<ClientProgram> {
    return new ClientProgram(await findCommand(), passesCutBlocks)
  }

  /** Subscribes until the test ends. */
  read(url: string, ...topics: string[]): ClientReader {
    const [program, ...args] = this.#command
    const child = spawn(program!, [...args, 'read', url, ...topics], { stdio: ['ignore', 'pipe', 'pipe'] })
    const exit = new Promise((resolve) => child.once('exit', resolve))
    onTestFinished(async () => {
      child.kill()
      await exit
    })
    const messages: ClientMessage[] = []
    let cutBlocks = 0
    let line = ''
    let errors = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      const lines = (line + text).split('\n')
      line = lines.pop()!
      for (const message of lines.map((one) => JSON.parse(one) as ClientMessage)) {
        if (this.#passesCutBlocks && message.data === '') cutBlocks++
        else messages.push(message)
      }
    })
    child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text))
    return {
      messages,
      get cutBlocks() {
        return cutBlocks
      },
      checkAlive() {
        if (hasExited(child)) throw new Error(`the client ended: ${errors}`)
      },
    }
  }

  /** Runs another command of the program, and returns its result. */
  async run<T>(env: Readonly<Record<string, string>>, ...args: string[]): Promise<T> {
    const [program, ...more] = this.#command
    const { stdout } = await promisify(execFile)(program!, [...more, ...args], { env: { ...process.env, ...env } })
    return JSON.parse(stdout) as T
  }

  /** Puts or publishes a value. Returns the id of its event. */
  async send(url: string, topic: string, data: string, jwt: string): Promise<string> {
    return (await this.run<{ id: string }>({ MERCURE_JWT: jwt }, 'send', url, topic, data)).id
  }
}
