import { EventEmitter } from 'node:events'
import { threadId } from 'node:worker_threads'
import { collectReplies, createCallBacklog, logNoticeFault } from '../channel/call-backlog.ts'
import { createBus, createChannel, type Port } from '../channel/channel.ts'
import { serve, type ServingApp } from '../worker/serve.ts'
import type { AnyService } from '../service.ts'
import type { ThreadPoolOptions, ThreadPool } from './thread-pool.ts'

/**
 * Creates the pool of `--threads 0`: the main thread itself serves. It calls main over a channel, as a serving thread
 * does, so that both modes behave alike.
 */
export function createMainPool(definition: AnyService, options: ThreadPoolOptions): ThreadPool {
  const { config, log, getListener } = options
  const [main, thread] = createPortPair()
  const backlog = createCallBacklog(createChannel(main, options.handlers, (error) => logNoticeFault(log, error)))
  let serving: ServingApp | undefined

  return {
    load: async () => {},
    async start() {
      serving = await serve({
        ...options,
        definition,
        shared: structuredClone(options.shared()),
        bus: createBus(thread),
        certificate: options.certificate(),
        index: 0,
        port: config.port,
        listener: await getListener?.(0),
        reusePort: false,
        onBeforeListen: async () => void (await collectReplies(backlog.release(), log)),
      })
    },
    get port() {
      return serving?.port ?? config.port
    },
    respawned: 0,
    broadcast: (name, args, timeout, noticed) =>
      collectReplies(
        [noticed === threadId ? backlog.notify(name, args) : backlog.call(name, args, timeout)],
        log,
        name,
      ),
    stop: async (times) => (await serving?.stop(times)) ?? true,
  }
}

/**
 * Creates both ends of a connection within one thread. A message is cloned as between threads, but arrives at once
 * instead of 50 us later.
 */
function createPortPair(): [Port, Port] {
  const [one, other] = [new EventEmitter(), new EventEmitter()]
  const createEnd = (near: EventEmitter, far: EventEmitter): Port => ({
    postMessage: (message) => void far.emit('message', structuredClone(message)),
    on: (event, listener) => near.on(event, listener),
  })
  return [createEnd(one, other), createEnd(other, one)]
}
