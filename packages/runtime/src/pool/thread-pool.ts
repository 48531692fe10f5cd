import type { Logger } from 'pino'
import { MessageChannel, Worker } from 'node:worker_threads'
import { collectReplies, createCallBacklog, logNoticeFault, type CallBacklog } from '../channel/call-backlog.ts'
import { createBackOff } from '../async/retry.ts'
import { createChannel } from '../channel/channel.ts'
import { StartError } from '../errors/common-errors.ts'
import type { DrainTimes, ThreadReport, ThreadData, ThreadCommand } from '../channel/process-messages.ts'
import type { KeyPair } from '../tls/certificate.ts'
import { getSinkWords } from '../logging/line-sink.ts'
import { disableWasmCodeGc } from '../worker/v8/wasm-code.ts'
import { NO_DRAIN } from '../worker/drain.ts'
import { createWatchdog } from '../worker/watchdog.ts'

/** Parameters of a pool of serving threads. */
export interface ThreadPoolOptions extends Pick<
  ThreadData,
  'services' | 'name' | 'config' | 'reusePort' | 'budget' | 'limits'
> {
  readonly size: number
  /** Limit of V8's old space per thread (MB). Undefined: V8's own. */
  readonly heapLimit: number | undefined
  readonly handlers: ReadonlyMap<string, (...args: any[]) => unknown>
  readonly log: Logger
  /** Returns the certificate in use. */
  certificate(): KeyPair | undefined
  shared(): unknown
  /** Returns a descriptor of a thread's listening socket, which the thread closes. Undefined: the threads bind their own. */
  readonly getListener: ((index: number) => Promise<number>) | undefined
  onThreadExit(shared: unknown): void
}

/** The serving threads of one process. A thread that dies or hangs is replaced until the pool stops. */
export interface ThreadPool {
  /**
   * Starts threads, which load their code while main opens the data. Resolves when they have loaded it, or exited.
   * @param count number of threads, from the first
   */
  load(count: number): Promise<void>
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
  stop(times: DrainTimes): Promise<boolean>
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
  /** The threads that `load` created, until `start` uses them. */
  const preloaded: ReturnType<typeof launch>[] = []
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
      ...(options.heapLimit !== undefined && { resourceLimits: { maxOldGenerationSizeMb: options.heapLimit } }),
      name: `${name}-${index}`,
    })
    let fault: unknown
    worker.on('error', (error) => (fault = error))
    const exit = new Promise<{ code: number; fault: unknown }>((resolve) => {
      worker.once('exit', (code) => resolve({ code, fault }))
    })
    return { worker, ports, exit }
  }

  async function spawn(index: number): Promise<void> {
    const { worker, ports, exit } = preloaded[index] ?? launch(index)
    delete preloaded[index]
    const listener = await options.getListener?.(index)
    const shared = options.shared()
    const begin: ThreadCommand = { kind: 'begin', shared, port, listener, certificate: options.certificate() }
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

  async function stop(times: DrainTimes): Promise<boolean> {
    for (const timer of timers) clearTimeout(timer)
    await Promise.all(preloaded.map(({ worker }) => worker.terminate()))
    const clean = await Promise.all([...threads.values()].map((thread) => endThread(thread, times)))
    watchdog.stop()
    return clean.every(Boolean)
  }

  return {
    async load(count) {
      for (let index = 0; index < count; index++) preloaded.push(launch(index))
      await Promise.all(
        preloaded.map(({ worker, exit }) =>
          Promise.race([exit, new Promise((resolve) => worker.once('message', resolve))]),
        ),
      )
    },
    async start() {
      const spawnFrom = (first: number) => Promise.all(Array.from({ length: size - first }, (_, i) => spawn(first + i)))
      try {
        // Unless their code is loaded, the first thread serves before the others start. They use its port.
        if (preloaded.length === size) return void (await spawnFrom(0))
        await spawn(0)
        await spawnFrom(1)
      } catch (error) {
        await this.stop(NO_DRAIN)
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
    stop: (times) => (stopping ??= stop(times)),
  }
}

/** Drains a thread and waits for its end. Resolves with true if its requests in flight were completed. */
async function endThread({ worker, drained, exited }: PoolThread, times: DrainTimes): Promise<boolean> {
  worker.postMessage({ kind: 'drain', times } satisfies ThreadCommand)
  let timer = setTimeout(() => void worker.terminate(), times.timeout + EXIT_TIMEOUT_MS)
  const clean = (await Promise.race([drained.promise, exited])) ?? false
  clearTimeout(timer)
  // Other work may still hold its event loop: the handler of a request that was cut off, or a timer that a part forgot.
  timer = setTimeout(() => void worker.terminate(), clean ? EXIT_TIMEOUT_MS : 0)
  await exited
  clearTimeout(timer)
  return clean
}
