import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { PINS, pinProcess, spawnServer } from '../processes.ts'
import { formatSpec, createSpec, type Spec } from '../spec.ts'
import { createTemporaryFolder } from '../temporary-folder.ts'
import { getBackgroundProcess } from './background-processes.ts'
import { combineProcesses, type BenchTarget, type Launch, type TargetProcess } from './target.ts'

/** The folder of this checkout. */
export const OWN_CHECKOUT = fileURLToPath(new URL('../../..', import.meta.url))
const START_TIMEOUT_MS = 120_000

interface ServiceTargetOptions {
  /** Processors of the service. */
  readonly pin?: readonly number[] | undefined
  /** Environment variables in addition to those of this process. */
  readonly env?: Readonly<Record<string, string>>
  /** Settings that depend on background processes. */
  readonly getSettings?: Launch['settings']
  readonly fill?: Launch['fill']
}

/** Returns the start script of a checkout. Old commits have no `start.mjs`. */
function getStartScript(checkout: string): string {
  const script = join(checkout, 'scripts/start.mjs')
  return existsSync(script) ? script : join(checkout, 'scripts/start.ts')
}

/**
 * Variants that have run once, by their checkout: at the very first start Node compiles TypeScript, and needs 30 MB
 * more than later.
 */
const compiled = new Set<string>()

/** A service as `pnpm start` runs it, with its own data folder and by default one serving thread. */
export function createServiceTarget(
  spec: Spec,
  settings: Readonly<Record<string, string>> = {},
  { pin = PINS.server, env = {}, getSettings, fill = async () => {} }: ServiceTargetOptions = {},
): BenchTarget {
  const launch: Launch = { spec, fill, settings: async () => ({ ...settings, ...(await getSettings?.()) }) }
  return {
    name: formatSpec(spec),
    service: launch,
    async start(checkout = OWN_CHECKOUT, envOfStart) {
      const key = `${checkout} ${formatSpec(spec)}`
      if (!compiled.has(key)) {
        compiled.add(key)
        await (await startService(checkout, launch, pin, env)).stop()
      }
      return startService(checkout, launch, pin, { ...env, ...envOfStart })
    },
  }
}

/**
 * Runs `pnpm start` on all processors, until all services are ready. On one, two services that start together take half of
 * the time of the guard.
 * @param label name of the services for errors
 */
async function runStart(checkout: string, names: string[], flags: string[], label: string, env = {}) {
  const began = performance.now()
  const command = [getStartScript(checkout), ...names, ...flags]
  const { child, exit, failure, stop } = spawnServer([], process.execPath, command, env)
  const rows = await waitForRows(child.stdout!, names, exit)
  if (rows) return { rows, supervisor: child.pid!, readyAfterMs: performance.now() - began, stop }
  await stop()
  throw failure(label)
}

async function startService(
  checkout: string,
  { spec, fill, settings }: Launch,
  pin: ServiceTargetOptions['pin'],
  env = {},
): Promise<TargetProcess> {
  const { path: data, remove } = createTemporaryFolder()
  try {
    await fill(data, checkout)
    const { service, variant } = spec
    const own = { threads: '1', port: '0', data, ...(variant ? { variant } : {}) }
    const all = { ...own, ...(await settings()), ...spec.settings }
    const flags = Object.entries(all).flatMap(([name, value]) => [`--${service}.${name}`, value])
    const { rows, supervisor, readyAfterMs, stop } = await runStart(checkout, [service], flags, formatSpec(spec), env)
    const [row] = rows
    for (const pid of [supervisor, row!.pid]) pinProcess(pid, pin)
    return { ...row!, readyAfterMs, stop: () => stop().finally(remove) }
  } catch (error) {
    remove()
    throw error
  }
}

/** Creates the target of the stand-in for YouTube. In the background it uses the processor of the generator. */
export const createStandInTarget = (pin = PINS.server): BenchTarget =>
  createServiceTarget(createSpec('youtube'), {}, { pin })

const startStandIn = () => createStandInTarget(PINS.client).start()

/** URL of a stand-in for YouTube that runs in the background, on the generator's processor. */
export const getStandInUrl = async (): Promise<string> => (await getBackgroundProcess(startStandIn)).url

/** Starts all services with one `pnpm start`, whose supervisor counts. Data folders are below `folder`. */
export async function startAllServices(
  names: string[],
  folder: string,
  checkout = OWN_CHECKOUT,
): Promise<TargetProcess> {
  const flags = names.flatMap((name) => [`--${name}.port`, '0', `--${name}.data`, join(folder, name)])
  const { rows, supervisor, readyAfterMs, stop } = await runStart(checkout, names, flags, 'a service')
  return { ...combineProcesses(rows, stop), below: [supervisor], readyAfterMs }
}

/** Waits for the lines of the services in the table that `pnpm start` prints when they are ready. */
async function waitForRows(stdout: NodeJS.ReadableStream, names: readonly string[], exit: Promise<unknown>) {
  const lines = createInterface({ input: stdout })
  const rows: { url: string; pid: number }[] = []
  const found = Promise.withResolvers<typeof rows | undefined>()
  const timer = setTimeout(() => found.resolve(undefined), START_TIMEOUT_MS)
  void exit.then(() => found.resolve(undefined))
  lines.on('line', (line) => {
    const [name, url, pid] = line.split(/\s+/)
    if (names.includes(name!) && url?.startsWith('http')) rows.push({ url, pid: Number(pid) })
    if (rows.length === names.length) found.resolve(rows)
  })
  const all = await found.promise
  clearTimeout(timer)
  lines.close()
  // Reads and drops the log, because a full pipe would block the service.
  stdout.resume()
  return all
}
