import type { Logger } from 'pino'
import { MessageChannel, Worker } from 'node:worker_threads'
import { collectReplies, createCallBacklog, logNoticeFault, type CallBacklog } from '../channel/call-backlog.ts'
import { createBackOff } from '../async/retry.ts'
import { createChannel } from '../channel/channel.ts'
import { StartError } from '../errors/common-errors.ts'
import type { ThreadReport, ThreadData, ThreadCommand } from '../channel/process-messages.ts'
import type { KeyPair } from '../tls/certificate.ts'
import { getSinkWords } from '../logging/line-sink.ts'
import { disableWasmCodeGc } from '../worker/v8/wasm-code.ts'
import { createWatchdog } from '../worker/watchdog.ts'

/** Parameters of a pool of serving threads. */
export interface ThreadPoolOptions extends Pick<
  ThreadData,
  'services' | 'name' | 'config' | 'reusePort' | 'budget' | 'limits'
> {
  readonly size: number
  readonly handlers: ReadonlyMap<string, (...args: any[]) => unknown>
  readonly log: Logger
  /** Returns the certificate in use. */
  certificate(): KeyPair | undefined
  shared(): unknown
  onThreadExit(shared: unknown): void
}

/** The serving threads of one process. A thread that dies or hangs is replaced until the pool stops. */
export interface ThreadPool {
  /** Starts the first thread, which loads its code while main opens the data. */
  load(): void
  /** Starts the threads, all on one port. If one of them cannot start, it ends all threads and rejects. */
  start(): Promise<void>
  readonly port: number
  /**
   * Calls `name` on every thread. Resolves with the replies of the threads that serve and reply within `timeout` ms.
   * @param noticed `threadId` of a thread that does not reply
   */
  broadcast(name: string, args: readonly unknown[], timeout: number, noticed?: number): Promise<unknown[]>
  /** Number of attempts to replace a thread, including those that could not start one. */
  readonly respawned: number
  /** Drains all threads. When all have ended, resolves with true if no request had to be cut off. Idempotent. */
  stop(timeout: number): Promise<boolean>
}

interface PoolThread {
  readonly worker: Worker
  readonly backlog: CallBacklog
  readonly exited: Promise<void>
  readonly drained: PromiseWithResolvers<boolean>
  serving: boolean
}

// Time in which a thread that has drained must exit (ms).
const EXIT_TIMEOUT_MS = 1_000

export function createThreadPool(options: ThreadPoolOptions): ThreadPool {
  const { config, log, size } = options
  disableWasmCodeGc()
  const watchdog = createWatchdog(size, config.watchdogTimeout)
  const threads = new Map<number, PoolThread>()
  const timers = new Set<NodeJS.Timeout>()
  const delays = Array.from({ length: size }, () => createBackOff())
  /** The first thread that `load` created, until `start` uses it. */
  let preloaded: ReturnType<typeof launch> | undefined
  let port = config.port
  let respawned = 0
  let stopping: Promise<boolean> | undefined

  /** Creates a worker that loads its code and waits for its `begin` message. */
  function launch(index: number) {
    const ports = new MessageChannel()
    const { services, name, reusePort, budget, limits } = options
    const { heartbeats } = watchdog
    const shared = { heartbeats, budget, limits, sinkWords: getSinkWords(), bus: ports.port2 }
    const data: ThreadData = { services, name, config, index, reusePort, ...shared }
    const worker = new Worker(new URL('../worker/serving-thread.ts', import.meta.url), {
      workerData: data,
      transferList: [ports.port2],
      name: `${name}-${index}`,
    })
    let fault: unknown
    worker.on('error', (error) => (fault = error))
    const exit = new Promise<{ code: number; fault: unknown }>((resolve) => {
      worker.once('exit', (code) => resolve({ code, fault }))
    })
    return { worker, ports, exit }
  }

  function spawn(index: number): Promise<void> {
    const { worker, ports, exit } = preloaded ?? launch(index)
    preloaded = undefined
    const shared = options.shared()
    const begin: ThreadCommand = { kind: 'begin', shared, port, certificate: options.certificate() }
    worker.postMessage(begin)
    const channel = createChannel(ports.port1, options.handlers, (error) => logNoticeFault(log, error))
    const exited = Promise.withResolvers<void>()
    const thread: PoolThread = {
      worker,
      backlog: createCallBacklog(channel),
      exited: exited.promise,
      drained: Promise.withResolvers(),
      serving: false,
    }
    threads.set(index, thread)
    const watch = watchdog.watch(index, () => {
      log.error({ thread: index }, 'serving thread does not respond')
      void worker.terminate()
    })
    return new Promise((resolve, reject) => {
      worker.on('message', (message: ThreadReport) => {
        if (message.kind !== 'ready') return void onMessage(thread, message)
        thread.serving = true
        watch.markStarted(message.task)
        port = message.port
        resolve()
      })
      void exit.then(({ code, fault }) => {
        if (threads.get(index) === thread) threads.delete(index)
        watch.end()
        // A thread that has ended holds no bytes for clients.
        Atomics.store(options.budget, index, 0)
        options.onThreadExit(shared)
        channel.rejectAll(new Error(`thread ${index} exited`))
        ports.port1.close()
        exited.resolve()
        if (!thread.serving)
          reject(fault ?? new StartError('THREAD_EXITED', `thread ${index} exited with ${code} before it was ready`))
        else if (!stopping) {
          log.error({ err: fault, thread: index, code }, 'serving thread exited; starting another')
          replaceThread(index)
        }
      })
    })
  }

  function replaceThread(index: number): void {
    const timer = setTimeout(async () => {
      timers.delete(timer)
      respawned++
      try {
        await spawn(index)
        log.info({ thread: index }, 'serving thread restarted')
      } catch (error) {
        if (stopping) return
        log.error({ err: error, thread: index }, 'serving thread could not start')
        replaceThread(index)
      }
    }, delays[index]!.next())
    timers.add(timer)
  }

  async function onMessage(thread: PoolThread, message: ThreadReport): Promise<void> {
    if (message.kind === 'built') {
      await collectReplies(thread.backlog.release(), log)
      thread.worker.postMessage({ kind: 'listen' } satisfies ThreadCommand)
    }
    if (message.kind === 'drained') thread.drained.resolve(message.clean)
  }

  async function stop(timeout: number): Promise<boolean> {
    for (const timer of timers) clearTimeout(timer)
    await preloaded?.worker.terminate()
    const clean = await Promise.all([...threads.values()].map((thread) => endThread(thread, timeout)))
    watchdog.stop()
    return clean.every(Boolean)
  }

  return {
    load: () => void (preloaded = launch(0)),
    async start() {
      try {
        // All threads use the port of the first one.
        await spawn(0)
        await Promise.all(Array.from({ length: size - 1 }, (_, i) => spawn(i + 1)))
      } catch (error) {
        await this.stop(0)
        throw error
      }
    },
    get port() {
      return port
    },
    get respawned() {
      return respawned
    },
    broadcast(name, args, timeout, noticed) {
      const calls = Array.from(threads.values(), ({ backlog, worker }) =>
        worker.threadId === noticed ? backlog.notify(name, args) : backlog.call(name, args, timeout),
      )
      return collectReplies(calls, log, name)
    },
    stop: (timeout) => (stopping ??= stop(timeout)),
  }
}

/** Drains a thread and waits for its end. Resolves with true if its requests in flight were completed. */
async function endThread({ worker, drained, exited }: PoolThread, timeout: number): Promise<boolean> {
  worker.postMessage({ kind: 'drain', timeout } satisfies ThreadCommand)
  let timer = setTimeout(() => void worker.terminate(), timeout + EXIT_TIMEOUT_MS)
  const clean = (await Promise.race([drained.promise, exited])) ?? false
  clearTimeout(timer)
  // Other work may still hold its event loop: the handler of a request that was cut off, or a timer that a part forgot.
  timer = setTimeout(() => void worker.terminate(), clean ? EXIT_TIMEOUT_MS : 0)
  await exited
  clearTimeout(timer)
  return clean
}
