import { createBacklog } from './backlog.ts'
import type { Bus, Calls } from './channel.ts'
import { createThreadRegistry } from '../metrics/metrics.ts'
import { serve, type Serving } from './serve.ts'
import type { AnyService } from '../service.ts'
import type { PoolOptions, ThreadPool } from './thread-pool.ts'

/** The pool of `--threads 0`: main itself serves. Arguments are cloned as between threads, so that both behave alike. */
export function createMainPool(definition: AnyService, options: PoolOptions): ThreadPool {
  const { config, log, handlers } = options
  const registry = createThreadRegistry(0)
  const here = new Map<string, (...args: any[]) => unknown>()
  const backlog = createBacklog((name, ...args) => here.get(name)?.(...structuredClone(args)))
  const bus: Bus<Calls, Calls> = {
    async call(name, ...args) {
      return structuredClone(await handlers.get(name)!(...structuredClone(args))) as never
    },
    on: (name, handler) => void here.set(name, handler),
  }
  let serving: Serving | undefined

  return {
    async start() {
      serving = await serve({
        definition,
        config,
        shared: structuredClone(options.shared()),
        bus,
        log,
        registry,
        port: config.port,
        reusePort: false,
        beforeListen: async () => void (await backlog.release()),
        scrape: options.scrape,
      })
    },
    get port() {
      return serving?.port ?? config.port
    },
    respawned: 0,
    async broadcast(name, ...args) {
      await backlog.call(name, args)
    },
    collect: async () => [await registry.getMetricsAsJSON()],
    stop: async (timeout) => (await serving?.stop(timeout)) ?? true,
  }
}
