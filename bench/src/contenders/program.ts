import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { freePort } from '@influencer-stats/runtime/testing/free-port'
import { PINS, spawnPinned } from '../processes.ts'
import type { Contender } from './contender.ts'

/** A program that is installed here or not, and how it serves from a folder of its own. */
export interface Program {
  readonly name: string
  readonly command: string
  args(folder: string, port: number): readonly string[]
  /** What lies in its folder before it starts, by name. */
  files?(folder: string, port: number): Readonly<Record<string, string>>
  readonly env?: Readonly<Record<string, string>>
  /** The process that serves, where that is not the one that was started; nothing while there is none. */
  servingOf?(pid: number): number | undefined
}

export const isHere = (command: string): boolean => spawnSync('sh', ['-c', `command -v ${command}`]).status === 0

/** Whether something listens on a port. */
async function listens(port: number): Promise<boolean> {
  const socket = connect({ host: '127.0.0.1', port })
  return once(socket, 'connect')
    .then(() => true)
    .catch(() => false)
    .finally(() => socket.destroy())
}

export const programContender = ({ name, command, args, files, env, servingOf }: Program): Contender => ({
  name,
  async start() {
    const folder = mkdtempSync(join(tmpdir(), 'influencer-stats-peer-'))
    const port = await freePort()
    for (const [file, content] of Object.entries(files?.(folder, port) ?? {})) {
      mkdirSync(dirname(join(folder, file)), { recursive: true })
      writeFileSync(join(folder, file), content)
    }
    const child = spawnPinned(PINS.server, command, [...args(folder, port)], env)
    const exit = once(child, 'exit')
    let complaints = ''
    child.stdout!.resume()
    child.stderr!.on('data', (text) => (complaints += text))
    const serving = () => (servingOf ? servingOf(child.pid!) : child.pid)
    while (!(await listens(port)) || serving() === undefined) {
      if (child.exitCode !== null) throw new Error(`${name} did not start: ${complaints.trim()}`)
      await delay(20)
    }
    async function stop(): Promise<void> {
      child.kill('SIGTERM')
      await exit
      rmSync(folder, { recursive: true, force: true })
    }
    return { url: `http://127.0.0.1:${port}`, pid: serving()!, stop }
  },
})
