import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { spawnPinned, PINS } from '../processes.ts'
import { nameOf, type Spec } from '../spec.ts'
import type { Contender } from './contender.ts'

const START = fileURLToPath(new URL('../../../scripts/start.ts', import.meta.url))
const START_TIMEOUT = 30_000

interface ServiceOptions {
  readonly pin?: readonly number[] | undefined
  /** Beside this process's own. */
  readonly env?: Readonly<Record<string, string>>
}

/** A service as `pnpm start` runs it, on one serving thread and a data folder of its own. */
export function serviceContender(
  spec: Spec,
  settings: Readonly<Record<string, string>> = {},
  { pin = PINS.server, env = {} }: ServiceOptions = {},
): Contender {
  return {
    name: nameOf(spec),
    async start() {
      const data = mkdtempSync(join(tmpdir(), 'influencer-stats-bench-'))
      const { service, variant } = spec
      const all = { threads: '1', port: '0', data, ...(variant ? { variant } : {}), ...settings, ...spec.settings }
      const flags = Object.entries(all).flatMap(([name, value]) => [`--${service}.${name}`, value])
      const child = spawnPinned(pin, process.execPath, [START, service, ...flags], env)
      const exit = once(child, 'exit')
      let complaints = ''
      child.stderr!.on('data', (text) => (complaints += text))

      async function stop(): Promise<void> {
        if (child.exitCode === null && child.signalCode === null) child.kill('SIGTERM')
        await exit
        rmSync(data, { recursive: true, force: true })
      }

      const row = await readyRow(child.stdout!, service, exit)
      if (!row) {
        await stop()
        throw new Error(`${nameOf(spec)} did not start: ${complaints.trim()}`)
      }
      // Whatever it logs goes into a pipe that is drained, as under a supervisor that collects logs.
      child.stdout!.resume()
      return { ...row, stop }
    },
  }
}

/** The stand-in for YouTube. Beside what is measured it belongs on the generator's processor: its work is not the service's. */
export const standInContender = (pin = PINS.server): Contender =>
  serviceContender({ service: 'youtube', variant: '', settings: {} }, {}, { pin })

/** Waits for the service's line in the table that `pnpm start` ends with. */
async function readyRow(stdout: NodeJS.ReadableStream, service: string, exit: Promise<unknown>) {
  const lines = createInterface({ input: stdout })
  const found = Promise.withResolvers<{ url: string; pid: number } | undefined>()
  const timer = setTimeout(() => found.resolve(undefined), START_TIMEOUT)
  void exit.then(() => found.resolve(undefined))
  lines.on('line', (line) => {
    const [name, url, pid] = line.split(/\s+/)
    if (name === service && url?.startsWith('http')) found.resolve({ url, pid: Number(pid) })
  })
  const row = await found.promise
  clearTimeout(timer)
  lines.close()
  return row
}
