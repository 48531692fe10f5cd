import type { FastifyInstance } from 'fastify'
import type tls from 'node:tls'
import { threadId } from 'node:worker_threads'
import type { Logger } from 'pino'
import type { Bus, Calls } from '../channel/channel.ts'
import { beginBackup } from '../backup/backup-handlers.ts'
import { trackConnections } from '../http/request/connection-tracker.ts'
import { drain } from './drain.ts'
import { createBudget } from '../memory/budget.ts'
import { COLLECT_CALL, RENEW_CALL, SCRAPE_CALL, type DrainTimes, type ThreadData } from '../channel/process-messages.ts'
import { createThreadRegistry } from '../metrics/request-metrics.ts'
import type { ThreadMetrics } from '../metrics/thread-metrics.ts'
import type { AnyService, Lifecycle } from '../service.ts'
import { openTracer } from '../tracing/open-tracer.ts'
import type { KeyPair } from '../tls/certificate.ts'

/**
 * Connections that may wait to be accepted: the maximum that the system allows (Linux: `net.core.somaxconn`). If ten
 * thousand clients reconnect at once, Node's default of 511 would reject nearly all of them, and they would retry only
 * after seconds.
 */
const LISTEN_BACKLOG = 65_535

/** Parameters of one serving thread: a worker or main itself. */
export interface ServeContext extends Pick<ThreadData, 'config' | 'index' | 'reusePort' | 'budget' | 'limits'> {
  readonly definition: AnyService
  readonly shared: unknown
  readonly bus: Bus<Calls, Calls>
  readonly log: Logger
  readonly certificate: KeyPair | undefined
  /** The port that the threads share; 0 picks a free one. */
  readonly port: number
  /** Descriptor of the listening socket, if the supervisor holds it. */
  readonly listener: number | undefined
  /** Called after the app is built. The app listens when the promise resolves. */
  onBeforeListen(): Promise<void>
}

/** An app that listens. */
export interface ServingApp {
  readonly port: number
  /** Resolves with true if all requests in flight were completed in time. Idempotent. */
  stop(times: DrainTimes): Promise<boolean>
}

/** Builds the app of a service and starts to listen. */
export async function serve(context: ServeContext): Promise<ServingApp> {
  const { definition, config, bus } = context
  const draining = new AbortController()
  const lifecycle: Lifecycle = { phase: 'starting', drain: draining.signal }
  const registry = createThreadRegistry(context.index)
  bus.on(COLLECT_CALL, async (): Promise<ThreadMetrics> => {
    return { index: context.index, threadId, metrics: await registry.getMetricsAsJSON() }
  })
  const scrape = () => bus.call(SCRAPE_CALL) as Promise<string>
  const backup = () => beginBackup(bus)
  const budget = createBudget(context.budget, context.index, config.clientMemoryLimit)
  const tracer = await openTracer(definition.name, config, context.log, registry)
  const app = await definition.app({ ...context, lifecycle, budget, registry, tracer, scrape, backup })
  const connections = trackConnections(app.server)
  // Open connections continue with the certificate that they began with.
  bus.on(RENEW_CALL, async (pair: KeyPair) => (app.server as unknown as tls.Server).setSecureContext(pair))
  try {
    await context.onBeforeListen()
    await listen(app, context)
  } catch (error) {
    await app.close()
    throw error
  }
  lifecycle.phase = lifecycle.whenReadable ? 'empty' : 'ready'
  void lifecycle.whenReadable?.then(() => {
    if (lifecycle.phase === 'empty') lifecycle.phase = 'ready'
  })
  const { port } = app.server.address() as { port: number }

  function stop(times: DrainTimes): Promise<boolean> {
    lifecycle.phase = 'draining'
    return drain(app, connections, times, () => draining.abort()).finally(() => tracer?.close())
  }
  let stopped: Promise<boolean> | undefined
  return { port, stop: (times) => (stopped ??= stop(times)) }
}

async function listen(app: FastifyInstance, { config, port, listener, reusePort }: ServeContext): Promise<void> {
  const { host } = config
  if (listener === undefined) return void (await app.listen({ host, port, reusePort, backlog: LISTEN_BACKLOG }))
  const options = { host, port, fd: listener }
  await app.listen(options)
  // With a descriptor, Node ignores the option and uses 511.
  const { _handle: handle } = app.server as unknown as { _handle: { listen(backlog: number): number } }
  handle.listen(LISTEN_BACKLOG)
}
