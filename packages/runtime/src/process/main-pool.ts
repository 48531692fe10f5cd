import { EventEmitter } from 'node:events'
import { answersOf, createBacklog } from './backlog.ts'
import { createBus, createChannel, type Port } from './channel.ts'
import { serve, type Serving } from './serve.ts'
import type { AnyService } from '../service.ts'
import type { PoolOptions, ThreadPool } from './thread-pool.ts'

/** The pool of `--threads 0`: main itself serves. Its calls take a line as those of threads do, so both behave alike. */
export function createMainPool(definition: AnyService, options: PoolOptions): ThreadPool {
  const { config, log } = options
  const [main, thread] = createLine()
  const backlog = createBacklog(createChannel(main, options.handlers))
  let serving: Serving | undefined

  return {
    load() {},
    async start() {
      serving = await serve({
        definition,
        config,
        shared: structuredClone(options.shared()),
        bus: createBus(thread),
        log,
        budgetMemory: options.budget,
        limits: options.limits,
        certificate: options.certificate(),
        index: 0,
        port: config.port,
        reusePort: false,
        beforeListen: async () => void (await answersOf(backlog.release(), log)),
      })
    },
    get port() {
      return serving?.port ?? config.port
    },
    respawned: 0,
    broadcast: (...call) => answersOf([backlog.call(...call)], log, call[0]),
    stop: async (timeout) => (await serving?.stop(timeout)) ?? true,
  }
}

/** Both ends of a line within a thread: a message is cloned as between threads, and arrives at once, not 50 us later. */
function createLine(): [Port, Port] {
  const [one, other] = [new EventEmitter(), new EventEmitter()]
  const end = (near: EventEmitter, far: EventEmitter): Port => ({
    postMessage: (message) => void far.emit('message', structuredClone(message)),
    on: (event, listener) => near.on(event, listener),
  })
  return [end(one, other), end(other, one)]
}
