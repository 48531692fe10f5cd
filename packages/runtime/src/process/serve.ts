import type tls from 'node:tls'
import { threadId } from 'node:worker_threads'
import type { Logger } from 'pino'
import type { Bus, Calls } from './channel.ts'
import { beginBackup } from '../backup/source.ts'
import { trackConnections } from '../http/connections.ts'
import { drain } from './drain.ts'
import type { BucketMemory } from '../limits/buckets.ts'
import { createBudget } from '../memory/budget.ts'
import { COLLECT, RENEW, SCRAPE } from './messages.ts'
import { createThreadRegistry } from '../metrics/metrics.ts'
import type { ThreadFigures } from '../metrics/thread-figures.ts'
import type { AnyService, Lifecycle } from '../service.ts'
import { openTracer } from '../tracing/open-tracer.ts'
import type { CommonSettings } from '../settings/settings.ts'
import type { KeyPair } from '../tls/certificate.ts'

/**
 * Connections that may wait to be accepted: as many as the system lets (Linux: `net.core.somaxconn`). Of ten thousand that
 * come back at once Node's 511 would send most away, to try again after seconds.
 */
const MOST_TO_ACCEPT = 65_535

/** What one serving thread needs, whether it is a worker or main itself. */
export interface ServeContext {
  readonly definition: AnyService
  readonly config: CommonSettings & Record<string, unknown>
  readonly shared: unknown
  readonly bus: Bus<Calls, Calls>
  readonly log: Logger
  /** What all threads count in. */
  readonly budgetMemory: Int32Array
  /** What all threads count requests in, where these are limited. */
  readonly limits: BucketMemory | undefined
  readonly certificate: KeyPair | undefined
  /** Which of the serving threads this is. */
  readonly index: number
  /** The port to share with other threads; 0 picks a free one. */
  readonly port: number
  readonly reusePort: boolean
  /** Awaited between building the app and letting it listen. */
  beforeListen(): Promise<void>
}

/** An app that listens. */
export interface Serving {
  readonly port: number
  /** Resolves with whether everything in flight could be finished within `timeout` ms. Idempotent. */
  stop(timeout: number): Promise<boolean>
}

/** Builds a service's app and lets it listen. */
export async function serve(context: ServeContext): Promise<Serving> {
  const { definition, config, reusePort, bus } = context
  const draining = new AbortController()
  const lifecycle: Lifecycle = { phase: 'starting', drain: draining.signal }
  const registry = createThreadRegistry(context.index)
  bus.on(COLLECT, async (): Promise<ThreadFigures> => {
    return { index: context.index, life: threadId, metrics: await registry.getMetricsAsJSON() }
  })
  const scrape = () => bus.call(SCRAPE) as Promise<string>
  const backup = () => beginBackup(bus)
  const budget = createBudget(context.budgetMemory, context.index, config.clientMemoryLimit)
  const tracer = await openTracer(definition.name, config, context.log, registry)
  const app = await definition.app({ ...context, lifecycle, budget, registry, tracer, scrape, backup })
  const connections = trackConnections(app.server)
  // Connections that stand go on with what they began with.
  bus.on(RENEW, async (pair: KeyPair) => (app.server as unknown as tls.Server).setSecureContext(pair))
  try {
    await context.beforeListen()
    await app.listen({ host: config.host, port: context.port, reusePort, backlog: MOST_TO_ACCEPT })
  } catch (error) {
    await app.close()
    throw error
  }
  lifecycle.phase = 'ready'
  const { port } = app.server.address() as { port: number }

  function stop(timeout: number): Promise<boolean> {
    lifecycle.phase = 'draining'
    draining.abort()
    return drain(app, connections, timeout).finally(() => tracer?.close())
  }
  let stopped: Promise<boolean> | undefined
  return { port, stop: (timeout) => (stopped ??= stop(timeout)) }
}
