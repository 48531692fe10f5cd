import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { PINS, spawnServer } from '../processes.ts'
import { nameOf, specOf, type Spec } from '../spec.ts'
import { temporaryFolder } from '../temporary.ts'
import { beside } from './beside.ts'
import { asOne, type Contender, type Launch, type Running } from './contender.ts'

const START = fileURLToPath(new URL('../../../scripts/start.mjs', import.meta.url))
const START_TIMEOUT = 120_000

interface ServiceOptions {
  readonly pin?: readonly number[] | undefined
  /** Beside this process's own. */
  readonly env?: Readonly<Record<string, string>>
  /** Settings that depend on what runs beside. */
  readonly more?: Launch['settings']
  readonly fill?: Launch['fill']
}

/** Variants that have run once: at the very first start Node compiles TypeScript and is 30 MB larger than ever after. */
const compiled = new Set<string>()

/** A service as `pnpm start` runs it, on one serving thread unless told and a data folder of its own. */
export function serviceContender(
  spec: Spec,
  settings: Readonly<Record<string, string>> = {},
  { pin = PINS.server, env = {}, more, fill = async () => {} }: ServiceOptions = {},
): Contender {
  const launch: Launch = { spec, fill, settings: async () => ({ ...settings, ...(await more?.()) }) }
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
  const { path: data, remove } = temporaryFolder()
  try {
    await fill(data)
    const { service, variant } = spec
    const own = { threads: '1', port: '0', data, ...(variant ? { variant } : {}) }
    const all = { ...own, ...(await settings()), ...spec.settings }
    const flags = Object.entries(all).flatMap(([name, value]) => [`--${service}.${name}`, value])
    const began = performance.now()
    const { child, exit, failure, stop } = spawnServer(pin, process.execPath, [START, service, ...flags], env)
    const [row] = (await readyRows(child.stdout!, [service], exit)) ?? []
    if (!row) {
      await stop()
      throw failure(nameOf(spec))
    }
    return { ...row, readyIn: performance.now() - began, stop: () => stop().finally(remove) }
  } catch (error) {
    remove()
    throw error
  }
}

/** The stand-in for YouTube. Beside what is measured it belongs on the generator's processor: its work is not the service's. */
export const standInContender = (pin = PINS.server): Contender => serviceContender(specOf('youtube'), {}, { pin })

const startStandIn = () => standInContender(PINS.client).start()

/** Where a stand-in for YouTube is that runs beside all that is measured, on the generator's processor. */
export const standInBeside = async (): Promise<string> => (await beside(startStandIn)).url

/** All services as `pnpm start` runs them, on folders below one; the supervisor's process counts as theirs. */
export async function startAll(names: readonly string[], folder: string): Promise<Running> {
  const flags = names.flatMap((name) => [`--${name}.port`, '0', `--${name}.data`, join(folder, name)])
  const began = performance.now()
  const { child, exit, failure, stop } = spawnServer([], process.execPath, [START, ...names, ...flags])
  const rows = await readyRows(child.stdout!, names, exit)
  if (rows) return { ...asOne(rows, stop), below: [child.pid!], readyIn: performance.now() - began }
  await stop()
  throw failure('a service')
}

/** Waits for the lines of services in the table that `pnpm start` ends with. */
async function readyRows(stdout: NodeJS.ReadableStream, names: readonly string[], exit: Promise<unknown>) {
  const lines = createInterface({ input: stdout })
  const rows: { url: string; pid: number }[] = []
  const found = Promise.withResolvers<typeof rows | undefined>()
  const timer = setTimeout(() => found.resolve(undefined), START_TIMEOUT)
  void exit.then(() => found.resolve(undefined))
  lines.on('line', (line) => {
    const [name, url, pid] = line.split(/\s+/)
    if (names.includes(name!) && url?.startsWith('http')) rows.push({ url, pid: Number(pid) })
    if (rows.length === names.length) found.resolve(rows)
  })
  const all = await found.promise
  clearTimeout(timer)
  lines.close()
  // Whatever it logs goes into a pipe that is drained, as under a supervisor that collects logs.
  stdout.resume()
  return all
}
