import { once } from 'node:events'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { delimiter, dirname, join, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { hasExited } from '@influencer-stats/runtime/async/has-exited'
import { findFreePort } from '@influencer-stats/runtime/testing/free-port'
import { PINS, spawnServer } from '../processes.ts'
import { createTemporaryFolder } from '../temporary-folder.ts'
import type { BenchTarget, TargetProcess } from './target.ts'

/** A program of another project, with its arguments and files for a new folder. */
export interface TargetProgram {
  readonly name: string
  readonly command: string
  /** Commands that must be installed; by default the command itself. */
  readonly needs?: readonly string[]
  args(folder: string, port: number): readonly string[]
  /** Files to create in its folder before it starts, by name. */
  files?(folder: string, port: number): Readonly<Record<string, string>>
  /** Fills its folder before it starts. */
  fill?(folder: string): Promise<void>
  /** Builds the program. @throws Error with the reason if it cannot */
  build?(): void
  readonly env?: Readonly<Record<string, string>>
  /** Processors, instead of the processor of servers. */
  readonly pin?: readonly number[]
  /** Returns the pid of the process that serves, if it is not the started process; undefined until it exists. */
  findServingPid?(pid: number): number | undefined
}

const PATH_FOLDERS = process.env.PATH?.split(delimiter) ?? []

/** True if all commands and files that a target needs are installed. */
export const isInstalled = ({ needs = [] }: BenchTarget): boolean =>
  needs.every((name) => PATH_FOLDERS.some((folder) => existsSync(resolve(folder, name))))

/** True if a port accepts connections. */
async function isListening(port: number): Promise<boolean> {
  const socket = connect({ host: '127.0.0.1', port })
  return once(socket, 'connect')
    .then(() => true)
    .catch(() => false)
    .finally(() => socket.destroy())
}

/**
 * Creates the target of a server script. The first argument of the script is its port, the last its data folder.
 * @param file its name in `servers/`
 * @throws Error if there is no such file
 */
export const createScriptTarget = (name: string, file: string, ...args: string[]): BenchTarget =>
  createProgramTarget(toScript(name, file, ...args))

/** Returns the program of a server script, as in `createScriptTarget`. */
export function toScript(name: string, file: string, ...args: string[]): TargetProgram {
  const script = fileURLToPath(new URL(`servers/${file}`, import.meta.url))
  if (!existsSync(script)) throw new Error(`no server script ${script}`)
  return { name, command: process.execPath, needs: [], args: (folder, port) => [script, String(port), ...args, folder] }
}

/** Starts a program in its folder. Resolves once it accepts connections. @throws Error if the program ends before */
async function startProgram(
  { name, command, args, files, fill, env, pin = PINS.server, findServingPid }: TargetProgram,
  folder: string,
): Promise<TargetProcess> {
  const port = await findFreePort()
  for (const [file, content] of Object.entries(files?.(folder, port) ?? {})) {
    mkdirSync(dirname(join(folder, file)), { recursive: true })
    writeFileSync(join(folder, file), content)
  }
  await fill?.(folder)
  const { child, failure, stop } = spawnServer(pin, command, [...args(folder, port)], env)
  child.stdout!.resume()
  const serving = () => (findServingPid ? findServingPid(child.pid!) : child.pid)
  while (!(await isListening(port)) || serving() === undefined) {
    if (hasExited(child)) throw failure(name)
    await delay(20)
  }
  return { url: `http://127.0.0.1:${port}`, pid: serving()!, stop }
}

/** Creates the target of a program, which gets a new folder at each start. */
export const createProgramTarget = (program: TargetProgram): BenchTarget => ({
  name: program.name,
  needs: program.needs ?? [program.command],
  async start() {
    program.build?.()
    const { path: folder, remove } = createTemporaryFolder()
    try {
      const { stop, ...started } = await startProgram(program, folder)
      return { ...started, stop: () => stop().finally(remove) }
    } catch (error) {
      remove()
      throw error
    }
  },
})
