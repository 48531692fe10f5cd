import type { Logger } from 'pino'
import { MessageChannel, Worker } from 'node:worker_threads'
import { collectReplies, createCallBacklog, type CallBacklog } from './call-backlog.ts'
import { createBackOff } from './back-off.ts'
import { createChannel } from './channel.ts'
import { StartError } from '../http/common-errors.ts'
import type { BucketMemory } from '../limits/token-buckets.ts'
import type { ServiceConfig, ThreadReport, ThreadData, ThreadCommand } from './process-messages.ts'
import type { KeyPair } from '../tls/certificate.ts'
import { getSinkWords } from './line-sink.ts'
import { disableWasmCodeGc } from '../v8/wasm-code.ts'
import { createWatchdog } from './watchdog.ts'

/** What a pool of serving threads is made of. */
export interface ThreadPoolOptions {
  readonly services: string
  readonly name: string
  readonly config: ServiceConfig
  readonly size: number
  readonly reusePort: boolean
  readonly handlers: ReadonlyMap<string, (...args: any[]) => unknown>
  readonly log: Logger
  /** What the threads count in that they hold for clients. */
  readonly budget: Int32Array
  /** What the threads count requests in, where these are limited. */
  readonly limits: BucketMemory | undefined
  /** The certificate that is used now. */
  certificate(): KeyPair | undefined
  shared(): unknown
  onThreadExit(shared: unknown): void
}

/** The serving threads of one process. A thread that dies or hangs is replaced until the pool stops. */
export interface ThreadPool {
  /** Has the first thread load its code, while what it is to be given is opened. */
  load(): void
  /** Starts the threads, all on one port. Rejects, with nothing left running, if the first ones cannot start. */
  start(): Promise<void>
  readonly port: number
  /** Calls `name` on every thread; gives the answers of those that serve and answer within `timeout` ms. */
  broadcast(name: string, args: readonly unknown[], timeout: number): Promise<unknown[]>
  /** How often a thread had to be replaced. */
  readonly respawned: number
  /** Drains all threads; resolves, after every thread is gone, with whether nothing had to be cut. Idempotent. */
  stop(timeout: number): Promise<boolean>
}

interface PoolThread {
  readonly worker: Worker
  readonly backlog: CallBacklog
  readonly exited: Promise<void>
  readonly drained: PromiseWithResolvers<boolean>
  serving: boolean
}

// A thread that has said it is drained only has to leave its event loop.
const EXIT_TIMEOUT_MS = 1_000

export function createThreadPool(options: ThreadPoolOptions): ThreadPool {
  const { config, log, size } = options
  disableWasmCodeGc()
  const watchdog = createWatchdog(size, config.watchdogTimeout)
  const threads = new Map<number, PoolThread>()
  const timers = new Set<NodeJS.Timeout>()
  const delays = Array.from({ length: size }, () => createBackOff())
  /** The first thread, until it is given what it needs. */
  let preloaded: ReturnType<typeof launch> | undefined
  let port = config.port
  let respawned = 0
  let stopping: Promise<boolean> | undefined

  /** A worker that loads its code, and waits for what it is to begin with. */
  function launch(index: number) {
    const line = new MessageChannel()
    const data: ThreadData = {
      services: options.services,
      name: options.name,
      config,
      index,
      reusePort: options.reusePort,
      heartbeats: watchdog.heartbeats,
      budget: options.budget,
      limits: options.limits,
      sinkWords: getSinkWords(),
      bus: line.port2,
    }
    const worker = new Worker(new URL('./serving-thread.ts', import.meta.url), {
      workerData: data,
      transferList: [line.port2],
      name: `${options.name}-${index}`,
    })
    let fault: unknown
    worker.on('error', (error) => (fault = error))
    const exit = new Promise<{ code: number; fault: unknown }>((resolve) => {
      worker.once('exit', (code) => resolve({ code, fault }))
    })
    return { worker, line, exit }
  }

  function spawn(index: number): Promise<void> {
    const { worker, line, exit } = preloaded ?? launch(index)
    preloaded = undefined
    const shared = options.shared()
    const begin: ThreadCommand = { kind: 'begin', shared, port, certificate: options.certificate() }
    worker.postMessage(begin)
    const channel = createChannel(line.port1, options.handlers)
    const exited = Promise.withResolvers<void>()
    const thread: PoolThread = {
      worker,
      backlog: createCallBacklog(channel),
      exited: exited.promise,
      drained: Promise.withResolvers(),
      serving: false,
    }
    threads.set(index, thread)
    const pulse = watchdog.watch(index, () => {
      log.error({ thread: index }, 'serving thread is stuck')
      void worker.terminate()
    })
    return new Promise((resolve, reject) => {
      worker.on('message', (message: ThreadReport) => {
        if (message.kind !== 'ready') return void onMessage(thread, message)
        thread.serving = true
        pulse.start(message.task)
        port = message.port
        resolve()
      })
      void exit.then(({ code, fault }) => {
        if (threads.get(index) === thread) threads.delete(index)
        pulse.end()
        // What it held is gone with it.
        Atomics.store(options.budget, index, 0)
        options.onThreadExit(shared)
        channel.rejectAll(new Error(`thread ${index} is gone`))
        line.port1.close()
        exited.resolve()
        if (!thread.serving)
          reject(fault ?? new StartError('THREAD_EXITED', `thread ${index} exited with ${code} before it was ready`))
        else if (!stopping) {
          log.error({ err: fault, thread: index, code }, 'serving thread died; starting another')
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
        log.info({ thread: index }, 'serving thread is back')
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
        // The first thread's port is everyone's.
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
    broadcast(...call) {
      const calls = Array.from(threads.values(), ({ backlog }) => backlog.call(...call))
      return collectReplies(calls, log, call[0])
    },
    stop: (timeout) => (stopping ??= stop(timeout)),
  }
}

/** Drains a thread and waits until it is gone. Resolves with whether it could finish what was in flight. */
async function endThread({ worker, drained, exited }: PoolThread, timeout: number): Promise<boolean> {
  worker.postMessage({ kind: 'drain', timeout } satisfies ThreadCommand)
  let timer = setTimeout(() => void worker.terminate(), timeout + EXIT_TIMEOUT_MS)
  const clean = (await Promise.race([drained.promise, exited])) ?? false
  clearTimeout(timer)
  // Something may hold its event loop still: the handler of a request that was cut, or a timer that a part forgot.
  timer = setTimeout(() => void worker.terminate(), clean ? EXIT_TIMEOUT_MS : 0)
  await exited
  clearTimeout(timer)
  return clean
}
