import { availableParallelism } from 'node:os'
import type { Logger } from 'pino'
import { Gauge } from 'prom-client'
import type { Calls, Bus } from './channel.ts'
import { StartError } from './errors.ts'
import { isLoopback } from './guard.ts'
import type { Config } from './messages.ts'
import { createProcessRegistry, createThreadRegistry, mergeMetrics } from './metrics.ts'
import { claimPort, REUSE_PORT } from './port.ts'
import { serve } from './serve.ts'
import type { AnyService } from './service.ts'
import { startThreadPool, type ThreadPool } from './thread-pool.ts'

/** A service that runs in this process. */
export interface RunningService {
  readonly url: string
  readonly threads: number
  /** What its user should know: why it has fewer threads than asked for, say. */
  readonly note: string | undefined
  /** Drains, closes what it opened, and resolves with whether nothing had to be cut. Idempotent. */
  stop(): Promise<boolean>
}

export interface HostOptions {
  /** The module that exports the table of services: threads find the definition there. */
  readonly services: string
  readonly definition: AnyService
  readonly config: Config
  readonly log: Logger
}

const SCRAPE_TIMEOUT = 1_000

/** Runs one service in this process: opens what is shared, spawns its threads, and closes in the opposite order. */
export async function startService({ services, definition, config, log }: HostOptions): Promise<RunningService> {
  checkExposure(definition, config)
  const { threads, note } = countThreads(definition, config)
  await claimPort(config.host, config.port, `${definition.name}.port`)

  const registry = createProcessRegistry()
  let front: Front | undefined
  const opened = await definition.open({
    config,
    log,
    registry,
    broadcast: async (name, ...args) => front?.broadcast(name, ...args),
  })
  const handlers = new Map<string, (...args: any[]) => unknown>(Object.entries(opened.handlers))
  const shared = () => opened.shared?.()

  try {
    front = threads === 0 ? await serveHere() : await serveOnThreads()
  } catch (error) {
    await opened.close()
    throw error
  }

  async function serveHere(): Promise<Front> {
    const threadRegistry = createThreadRegistry(0)
    const { bus, broadcast } = shortBus(handlers)
    const scrape = async () => mergeMetrics([await registry.getMetricsAsJSON(), await threadRegistry.getMetricsAsJSON()])
    const { port } = config
    const serving = await serve({
      definition, config, shared: shared(), bus, log, registry: threadRegistry, scrape, port, reusePort: false,
    })
    return { port: serving.port, broadcast, stop: serving.stop }
  }

  async function serveOnThreads(): Promise<Front> {
    let pool: ThreadPool | undefined
    // A thread that is ready may be asked for its figures while others still start.
    const scrape = async () => mergeMetrics([await registry.getMetricsAsJSON(), ...((await pool?.collect(SCRAPE_TIMEOUT)) ?? [])])
    const running = await startThreadPool({
      services, name: definition.name, config, size: threads, reusePort: REUSE_PORT, handlers, log, shared, scrape,
    })
    pool = running
    new Gauge({
      name: 'threads_respawned_total',
      help: 'Serving threads that had to be replaced.',
      registers: [registry],
      collect() {
        this.set(running.respawned)
      },
    })
    return { port: running.port, broadcast: running.broadcast, stop: running.stop }
  }

  let stopped: Promise<boolean> | undefined
  async function stop(): Promise<boolean> {
    const clean = await front!.stop(config.shutdownTimeout)
    await opened.close()
    return clean
  }
  return { url: urlOf(config.host, front.port), threads, note, stop: () => (stopped ??= stop()) }
}

interface Front {
  readonly port: number
  broadcast(name: string, ...args: unknown[]): Promise<void>
  stop(timeout: number): Promise<boolean>
}

/** A bus between main and itself. Arguments are cloned as between threads, so that both behave alike. */
function shortBus(main: ReadonlyMap<string, (...args: any[]) => unknown>) {
  const here = new Map<string, (...args: any[]) => unknown>()
  const bus: Bus<Calls, Calls> = {
    async call(name, ...args) {
      return structuredClone(await main.get(name)!(...structuredClone(args))) as never
    },
    on: (name, handler) => void here.set(name, handler),
  }
  const broadcast = async (name: string, ...args: unknown[]) => void (await here.get(name)?.(...structuredClone(args)))
  return { bus, broadcast }
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
  if (asked > 1 && single) throw new StartError('SINGLE_THREAD', `${definition.name}: one serving thread at most, because ${single}`)
  if (asked > 1 && !REUSE_PORT) return { threads: 1, note: `one thread: ${process.platform} cannot share a port between threads` }
  return { threads: asked }
}

const urlOf = (host: string, port: number) => {
  const name = host === '0.0.0.0' || host === '::' ? 'localhost' : host.includes(':') ? `[${host}]` : host
  return `http://${name}:${port}`
}
