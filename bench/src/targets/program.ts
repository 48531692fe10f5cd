import { once } from 'node:events'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { delimiter, dirname, join, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { findFreePort } from '@influencer-stats/runtime/testing/free-port'
import { PINS, spawnServer } from '../processes.ts'
import { createTemporaryFolder } from '../temporary-folder.ts'
import type { BenchTarget } from './target.ts'

/** A program that is installed here or not, and how it serves from a folder of its own. */
export interface TargetProgram {
  readonly name: string
  readonly command: string
  /** What must be installed; the command, unless it says otherwise. */
  readonly needs?: readonly string[]
  args(folder: string, port: number): readonly string[]
  /** What lies in its folder before it starts, by name. */
  files?(folder: string, port: number): Readonly<Record<string, string>>
  /** Makes what is to run. @throws Error that says why it cannot */
  build?(): void
  readonly env?: Readonly<Record<string, string>>
  /** In place of the processor of servers. */
  readonly pin?: readonly number[]
  /** The process that serves, where that is not the one that was started; nothing while there is none. */
  findServingPid?(pid: number): number | undefined
}

const PATH_FOLDERS = process.env.PATH?.split(delimiter) ?? []

/** Whether what a contender needs is installed here. */
export const isInstalled = ({ needs = [] }: BenchTarget): boolean =>
  needs.every((name) => PATH_FOLDERS.some((folder) => existsSync(resolve(folder, name))))

/** Whether something listens on a port. */
async function isListening(port: number): Promise<boolean> {
  const socket = connect({ host: '127.0.0.1', port })
  return once(socket, 'connect')
    .then(() => true)
    .catch(() => false)
    .finally(() => socket.destroy())
}

/** A server that is a file of this folder, told its port first, and last a folder of its own. */
export const createScriptTarget = (name: string, file: string, ...args: string[]): BenchTarget =>
  createProgramTarget({
    name,
    command: process.execPath,
    needs: [],
    args: (folder, port) => [fileURLToPath(new URL(file, import.meta.url)), String(port), ...args, folder],
  })

export const createProgramTarget = ({
  name,
  command,
  needs = [command],
  args,
  files,
  build,
  env,
  pin = PINS.server,
  findServingPid,
}: TargetProgram): BenchTarget => ({
  name,
  needs,
  async start() {
    build?.()
    const { path: folder, remove } = createTemporaryFolder()
    const port = await findFreePort()
    for (const [file, content] of Object.entries(files?.(folder, port) ?? {})) {
      mkdirSync(dirname(join(folder, file)), { recursive: true })
      writeFileSync(join(folder, file), content)
    }
    const { child, failure, stop } = spawnServer(pin, command, [...args(folder, port)], env)
    child.stdout!.resume()
    const serving = () => (findServingPid ? findServingPid(child.pid!) : child.pid)
    while (!(await isListening(port)) || serving() === undefined) {
      if (child.exitCode !== null) throw failure(name)
      await delay(20)
    }
    return { url: `http://127.0.0.1:${port}`, pid: serving()!, stop: () => stop().finally(remove) }
  },
})
