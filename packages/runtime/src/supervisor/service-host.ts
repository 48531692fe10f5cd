import type { Logger } from 'pino'
import { createSingleFlight } from '../async/single-flight.ts'
import { createBackupHandlers } from '../backup/backup-handlers.ts'
import { StartError } from '../errors/common-errors.ts'
import { isLoopback } from '../net/served-hosts.ts'
import type { Broadcast, Calls } from '../channel/channel.ts'
import { checkFdLimit } from './fd-limit.ts'
import { createMainPool } from '../pool/main-pool.ts'
import { COLLECT_CALL, RENEW_CALL, SCRAPE_CALL } from '../channel/process-messages.ts'
import type { ServiceConfig } from '../settings/settings.ts'
import { createLimitMemory } from '../limits/rate-limits.ts'
import { createBudgetMemory, sumHeldBytes } from '../memory/budget.ts'
import { registerGauge } from '../metrics/gauge.ts'
import { registerCounter } from '../metrics/counter.ts'
import { createProcessRegistry, mergeMetrics } from '../metrics/process-metrics.ts'
import { createThreadMetricsMerger, type ThreadMetrics } from '../metrics/thread-metrics.ts'
import { readContainerLimits } from './container-limits.ts'
import { computeHeapLimits } from './memory-plan.ts'
import { checkPortFree, CAN_REUSE_PORT } from './check-port.ts'
import type { AnyService, ServiceMain } from '../service.ts'
import { openCertificate } from '../tls/certificate.ts'
import { openTracer } from '../tracing/open-tracer.ts'
import { createThreadPool, type ThreadPoolOptions } from '../pool/thread-pool.ts'
import { getServiceUrl } from './service-url.ts'
import { countThreads } from './thread-count.ts'
import { NO_DRAIN, SHUTDOWN_GRACE_MS } from '../worker/drain.ts'
import { STARVED_TIMEOUT_FACTOR } from '../worker/watchdog.ts'

/** A service that runs in this process. */
export interface RunningService {
  readonly url: string
  readonly threads: number
  /** Notes for the user, for example why the service has fewer threads than requested. */
  readonly notes: readonly string[]
  /**
   * Drains and closes the service. Resolves with true if no request had to be cut off. Idempotent.
   * @param grace time in which the service still accepts connections (ms)
   */
  stop(grace?: number): Promise<boolean>
}

export interface ServiceHostOptions {
  /** URL of the module that exports the table of services. Threads find the definition in that table. */
  readonly services: string
  readonly definition: AnyService
  readonly config: ServiceConfig
  readonly log: Logger
  /** Called if the service must not continue. Default: no action. */
  readonly onFail?: () => void
  /** Returns a descriptor of a thread's listening socket. Default: the service binds its port. */
  readonly getListener?: ((index: number) => Promise<number>) | undefined
  /** Called when the code is loaded. The service opens its data when the promise resolves. Default: it opens at once. */
  readonly onLoaded?: (() => Promise<void>) | undefined
}

// Time to wait for the metrics of a thread (ms). A blocked thread must not delay the metrics of the other
// threads.
const COLLECT_TIMEOUT_MS = 1_000
// Time that a broadcast waits in addition to the time after which the watchdog ends a stuck thread (ms).
const BROADCAST_TIMEOUT_MS = 5_000

/**
 * Runs one service in this process: opens its data on the main thread, then starts the serving threads. `stop` closes
 * both in the opposite order.
 */
export async function startService({
  services,
  definition,
  config,
  log,
  onFail: fail = () => {},
  getListener,
  onLoaded,
}: ServiceHostOptions): Promise<RunningService> {
  checkExposure(definition, config)
  const { threads, note } = countThreads(definition, config)
  if (!getListener) await checkPortFree(config.host, config.port, `${definition.name}.port`)

  const registry = createProcessRegistry(definition.name)
  const budget = createBudgetMemory(threads)
  registerGauge(
    registry,
    'client_memory_bytes',
    'Bytes held for clients: request bodies, large replies and unread streams.',
    () => sumHeldBytes(budget),
  )
  let serviceMain: ServiceMain<any> | undefined
  const createBroadcast = (timeout: number, noticed?: number): Broadcast<Calls> => {
    // A broadcast during the start of threads must reach them too. Before `open` returns, no thread builds its app, so
    // a broadcast has no receiver.
    const broadcast = async (name: string, ...args: unknown[]) => {
      return serviceMain ? running.broadcast(name, args, timeout, noticed) : []
    }
    return Object.assign(broadcast as Broadcast<Calls>, {
      withTimeout: (other: number) => createBroadcast(other, noticed),
      withoutReplyOf: (thread: number) => createBroadcast(timeout, thread),
    })
  }
  const broadcast = createBroadcast(STARVED_TIMEOUT_FACTOR * config.watchdogTimeout + BROADCAST_TIMEOUT_MS)
  const certificate = openCertificate(definition.name, config, registry)
  const tracer = await openTracer(definition.name, config, log, registry)
  const mergeThreads = createThreadMetricsMerger()
  async function collect(): Promise<string> {
    const replies = (await running.broadcast(COLLECT_CALL, [], COLLECT_TIMEOUT_MS)) as ThreadMetrics[]
    return mergeMetrics([await registry.getMetricsAsJSON(), ...(await mergeThreads(replies))])
  }
  const handlers = new Map<string, (...args: any[]) => unknown>([[SCRAPE_CALL, createSingleFlight(collect)]])
  const options: ThreadPoolOptions = {
    services,
    name: definition.name,
    config,
    size: threads,
    heapLimit: computeHeapLimits(readContainerLimits().memory, config, threads).thread,
    reusePort: CAN_REUSE_PORT,
    getListener,
    handlers,
    log,
    budget,
    limits: createLimitMemory(config),
    certificate: () => certificate?.pair,
    shared: () => serviceMain!.shared?.(),
    onThreadExit: (shared) => serviceMain!.onThreadExit?.(shared),
  }
  const running = threads === 0 ? createMainPool(definition, options) : createThreadPool(options)
  // All threads of a successor load their code in advance. In a first start they would only compete for the processors.
  const loaded = running.load(onLoaded ? threads : Math.min(threads, 1))
  try {
    if (onLoaded) {
      await Promise.all([loaded, definition.loadMain?.(config)])
      await onLoaded()
    }
    serviceMain = await definition.open({ config, log, registry, tracer, broadcast, fail })
  } catch (error) {
    await running.stop(NO_DRAIN)
    throw error
  }
  const serviceHandlers = {
    ...serviceMain.handlers,
    ...createBackupHandlers(serviceMain.backupSource),
  }
  for (const [name, handler] of Object.entries(serviceHandlers)) handlers.set(name, handler)
  registerCounter(
    registry,
    'threads_respawned_total',
    'Attempts to replace a serving thread that exited, failed attempts included.',
    () => running.respawned,
  )
  try {
    await running.start()
  } catch (error) {
    await serviceMain.close()
    throw error
  }
  certificate?.watch(log, (pair) => void running.broadcast(RENEW_CALL, [pair], BROADCAST_TIMEOUT_MS))

  async function stop(grace: number): Promise<boolean> {
    certificate?.close()
    try {
      return await running.stop({ grace, timeout: config.shutdownTimeout + grace - SHUTDOWN_GRACE_MS })
    } finally {
      await serviceMain!.close()
      await tracer?.close()
    }
  }
  let stopped: Promise<boolean> | undefined
  const notes = [note, serviceMain.note, checkFdLimit(config, threads)].filter((one) => one !== undefined)
  const url = getServiceUrl({ ...config, port: running.port })
  return { url, threads, notes, stop: (grace = SHUTDOWN_GRACE_MS) => (stopped ??= stop(grace)) }
}

function checkExposure({ name }: AnyService, config: ServiceConfig): void {
  if (isLoopback(config.host) || config.apiToken) return
  throw new StartError(
    'TOKEN_NEEDED',
    `${name}: ${config.host} is reachable from other machines and requires a token: set API_TOKEN or API_TOKEN_FILE`,
  )
}
