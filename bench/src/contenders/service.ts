import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { spawnPinned, PINS } from '../processes.ts'
import { nameOf, specOf, type Spec } from '../spec.ts'
import type { Contender, Launch, Running } from './contender.ts'

const START = fileURLToPath(new URL('../../../scripts/start.ts', import.meta.url))
const START_TIMEOUT = 120_000

interface ServiceOptions {
  readonly pin?: readonly number[] | undefined
  /** Beside this process's own. */
  readonly env?: Readonly<Record<string, string>>
  /** Settings that depend on what runs beside. */
  readonly beside?: Launch['settings']
  readonly fill?: Launch['fill']
}

/** Variants that have run once: at the very first start Node compiles TypeScript and is 30 MB larger than ever after. */
const compiled = new Set<string>()

/** A service as `pnpm start` runs it, on one serving thread unless told and a data folder of its own. */
export function serviceContender(
  spec: Spec,
  settings: Readonly<Record<string, string>> = {},
  { pin = PINS.server, env = {}, beside, fill = async () => {} }: ServiceOptions = {},
): Contender {
  const launch: Launch = { spec, fill, settings: async () => ({ ...settings, ...(await beside?.()) }) }
  return {
    name: nameOf(spec),
    service: launch,
    async start() {
      if (!compiled.has(nameOf(spec))) {
        compiled.add(nameOf(spec))
        await (await startService(launch, pin, env)).stop()
      }
      return startService(launch, pin, env)
    },
  }
}

async function startService({ spec, fill, settings }: Launch, pin: ServiceOptions['pin'], env = {}): Promise<Running> {
  const data = mkdtempSync(join(tmpdir(), 'influencer-stats-bench-'))
  const remove = () => rmSync(data, { recursive: true, force: true })
  try {
    await fill(data)
    const { service, variant } = spec
    const own = { threads: '1', port: '0', data, ...(variant ? { variant } : {}) }
    const all = { ...own, ...(await settings()), ...spec.settings }
    const flags = Object.entries(all).flatMap(([name, value]) => [`--${service}.${name}`, value])
    const began = performance.now()
    const child = spawnPinned(pin, process.execPath, [START, service, ...flags], env)
    const exit = once(child, 'exit')
    let complaints = ''
    child.stderr!.on('data', (text) => (complaints += text))

    async function stop(): Promise<void> {
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGTERM')
      await exit
      remove()
    }

    const row = await readyRow(child.stdout!, service, exit)
    if (!row) {
      await stop()
      throw new Error(`${nameOf(spec)} did not start: ${complaints.trim()}`)
    }
    // Whatever it logs goes into a pipe that is drained, as under a supervisor that collects logs.
    child.stdout!.resume()
    return { ...row, readyIn: performance.now() - began, stop }
  } catch (error) {
    remove()
    throw error
  }
}

/** The stand-in for YouTube. Beside what is measured it belongs on the generator's processor: its work is not the service's. */
export const standInContender = (pin = PINS.server): Contender => serviceContender(specOf('youtube'), {}, { pin })

let standIn: Promise<Running> | undefined

/** Where a stand-in for YouTube is that runs beside all that is measured, on the generator's processor. */
export async function standInBeside(): Promise<string> {
  standIn ??= standInContender(PINS.client).start()
  return (await standIn).url
}

/** Ends what runs beside. */
export async function stopBeside(): Promise<void> {
  const running = await standIn?.catch(() => undefined)
  standIn = undefined
  await running?.stop()
}

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
