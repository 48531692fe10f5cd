import { availableParallelism } from 'node:os'
import type { Logger } from 'pino'
import { backupHandlers } from '../backup/source.ts'
import { StartError } from '../http/errors.ts'
import { isLoopback } from '../http/hosts.ts'
import type { Broadcast, Calls } from './channel.ts'
import { fewDescriptors } from './descriptors.ts'
import { createMainPool } from './main-pool.ts'
import { COLLECT, RENEW, SCRAPE, type Config } from './messages.ts'
import { limitMemory } from '../limits/limits.ts'
import { budgetMemory, heldBytes } from '../memory/budget.ts'
import { gauge } from '../metrics/gauge.ts'
import { counter } from '../metrics/counter.ts'
import { createProcessRegistry, mergeMetrics } from '../metrics/process-metrics.ts'
import { createFigures, type ThreadFigures } from '../metrics/thread-figures.ts'
import { claimPort, REUSE_PORT } from './port.ts'
import type { AnyService, Opened } from '../service.ts'
import { openCertificate } from '../tls/certificate.ts'
import { openTracer } from '../tracing/open-tracer.ts'
import { createThreadPool, type PoolOptions } from './thread-pool.ts'
import { urlOf } from './url-of.ts'
import { STARVED_PATIENCE } from './watchdog.ts'

/** A service that runs in this process. */
export interface RunningService {
  readonly url: string
  readonly threads: number
  /** What its user should know: why it has fewer threads than asked for, say. */
  readonly notes: readonly string[]
  /** Drains, closes what it opened, and resolves with whether nothing had to be cut. Idempotent. */
  stop(): Promise<boolean>
}

export interface HostOptions {
  /** The module that exports the table of services: threads find the definition there. */
  readonly services: string
  readonly definition: AnyService
  readonly config: Config
  readonly log: Logger
  /** The service must not go on: by default nothing is done about it. */
  readonly onFail?: () => void
}

// A thread that is blocked must not hold up the figures of the others.
const COLLECT_TIMEOUT = 1_000
// A thread that hangs has been replaced by then.
const BROADCAST_TIMEOUT = 5_000

/** Runs one service in this process: opens what is shared, spawns its threads, and closes in the opposite order. */
export async function startService({
  services,
  definition,
  config,
  log,
  onFail: fail = () => {},
}: HostOptions): Promise<RunningService> {
  checkExposure(definition, config)
  const { threads, note } = countThreads(definition, config)
  await claimPort(config.host, config.port, `${definition.name}.port`)

  const registry = createProcessRegistry(definition.name)
  const budget = budgetMemory(threads)
  gauge(
    registry,
    'client_memory_bytes',
    'Bytes held for clients: bodies that come, large replies, unread streams.',
    () => heldBytes(budget),
  )
  let opened: Opened<any> | undefined
  const broadcastWithin = (timeout: number): Broadcast<Calls> => {
    // What is broadcast while threads start must reach them, too; before that there is nobody to tell.
    const broadcast = async (name: string, ...args: unknown[]) => {
      return opened ? running.broadcast(name, args, timeout) : []
    }
    return Object.assign(broadcast as Broadcast<Calls>, { within: broadcastWithin })
  }
  const broadcast = broadcastWithin(STARVED_PATIENCE * config.watchdogTimeout + BROADCAST_TIMEOUT)
  const certificate = openCertificate(definition.name, config, registry)
  const tracer = await openTracer(definition.name, config, log, registry)
  const figures = createFigures()
  async function collect(): Promise<string> {
    const answers = (await running.broadcast(COLLECT, [], COLLECT_TIMEOUT)) as ThreadFigures[]
    return mergeMetrics([await registry.getMetricsAsJSON(), ...(await figures.take(answers))])
  }
  /** Whoever asks while the figures are being collected gets the same. */
  let scraping: Promise<string> | undefined
  const scrape = () => (scraping ??= collect().finally(() => (scraping = undefined)))
  const handlers: Map<string, (...args: any[]) => unknown> = new Map([[SCRAPE, scrape]])
  const options: PoolOptions = {
    services,
    name: definition.name,
    config,
    size: threads,
    reusePort: REUSE_PORT,
    handlers,
    log,
    budget,
    limits: limitMemory(config),
    certificate: () => certificate?.pair,
    shared: () => opened!.shared?.(),
    threadGone: (shared) => opened!.threadGone?.(shared),
  }
  const running = threads === 0 ? createMainPool(definition, options) : createThreadPool(options)
  running.load()
  try {
    opened = await definition.open({ config, log, registry, tracer, broadcast, fail })
  } catch (error) {
    await running.stop(0)
    throw error
  }
  const own = { ...opened.handlers, ...backupHandlers(opened.kept, definition.keptElsewhere?.(config)) }
  for (const [name, handler] of Object.entries(own)) handlers.set(name, handler)
  counter(registry, 'threads_respawned_total', 'Serving threads that had to be replaced.', () => running.respawned)
  try {
    await running.start()
  } catch (error) {
    await opened.close()
    throw error
  }
  certificate?.watch(log, (pair) => void running.broadcast(RENEW, [pair], BROADCAST_TIMEOUT))

  async function stop(): Promise<boolean> {
    certificate?.close()
    try {
      return await running.stop(config.shutdownTimeout)
    } finally {
      await opened!.close()
      await tracer?.close()
    }
  }
  let stopped: Promise<boolean> | undefined
  const notes = [note, opened.note, fewDescriptors(config, threads)].filter((one) => one !== undefined)
  const url = urlOf({ ...config, port: running.port })
  return { url, threads, notes, stop: () => (stopped ??= stop()) }
}

function checkExposure({ name }: AnyService, config: Config): void {
  if (isLoopback(config.host) || config.apiToken) return
  throw new StartError(
    'TOKEN_NEEDED',
    `${name}: ${config.host} can be reached from other machines, so a token is needed: set API_TOKEN or API_TOKEN_FILE`,
  )
}

function countThreads(definition: AnyService, config: Config): { threads: number; note?: string } {
  const single = definition.singleThreadBecause?.(config)
  const asked = config.threads === 'auto' ? (single ? 1 : availableParallelism()) : Number(config.threads)
  if (asked > 1 && single)
    throw new StartError('SINGLE_THREAD', `${definition.name}: one serving thread at most, because ${single}`)
  if (asked > 1 && !REUSE_PORT)
    return { threads: 1, note: `one thread: ${process.platform} cannot share a port between threads` }
  return { threads: asked }
}
