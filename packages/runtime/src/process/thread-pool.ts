import type { Logger } from 'pino'
import { MessageChannel, Worker } from 'node:worker_threads'
import { answersOf, createBacklog, type Backlog } from './backlog.ts'
import { backOff } from './back-off.ts'
import { createChannel } from './channel.ts'
import { StartError } from '../http/errors.ts'
import type { BucketMemory } from '../limits/buckets.ts'
import type { Config, FromThread, ThreadData, ToThread } from './messages.ts'
import type { KeyPair } from '../tls/certificate.ts'
import { sinkWords } from './sink.ts'
import { keepWasmCode } from './wasm-code.ts'
import { createWatchdog } from './watchdog.ts'

/** What a pool of serving threads is made of. */
export interface PoolOptions {
  readonly services: string
  readonly name: string
  readonly config: Config
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
  threadGone(shared: unknown): void
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

interface Thread {
  readonly worker: Worker
  readonly backlog: Backlog
  readonly gone: Promise<void>
  readonly drained: PromiseWithResolvers<boolean>
  serving: boolean
}

// A thread that has said it is drained only has to leave its event loop.
const EXIT_TIMEOUT = 1_000

export function createThreadPool(options: PoolOptions): ThreadPool {
  const { config, log, size } = options
  keepWasmCode()
  const watchdog = createWatchdog(size, config.watchdogTimeout)
  const threads = new Map<number, Thread>()
  const timers = new Set<NodeJS.Timeout>()
  const delays = Array.from({ length: size }, () => backOff())
  /** The first thread, until it is given what it needs. */
  let early: ReturnType<typeof launch> | undefined
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
      sinkWords: sinkWords(),
      bus: line.port2,
    }
    const worker = new Worker(new URL('./thread.ts', import.meta.url), {
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
    const { worker, line, exit } = early ?? launch(index)
    early = undefined
    const shared = options.shared()
    const begin: ToThread = { kind: 'begin', shared, port, certificate: options.certificate() }
    worker.postMessage(begin)
    const channel = createChannel(line.port1, options.handlers)
    const gone = Promise.withResolvers<void>()
    const thread: Thread = {
      worker,
      backlog: createBacklog(channel),
      gone: gone.promise,
      drained: Promise.withResolvers(),
      serving: false,
    }
    threads.set(index, thread)
    const pulse = watchdog.watch(index, () => {
      log.error({ thread: index }, 'serving thread is stuck')
      void worker.terminate()
    })
    return new Promise((resolve, reject) => {
      worker.on('message', (message: FromThread) => {
        if (message.kind !== 'ready') return void onMessage(thread, message)
        thread.serving = true
        pulse.started(message.task)
        port = message.port
        resolve()
      })
      void exit.then(({ code, fault }) => {
        if (threads.get(index) === thread) threads.delete(index)
        pulse.end()
        // What it held is gone with it.
        Atomics.store(options.budget, index, 0)
        options.threadGone(shared)
        channel.abandon(new Error(`thread ${index} is gone`))
        line.port1.close()
        gone.resolve()
        if (!thread.serving)
          reject(fault ?? new StartError('THREAD_EXITED', `thread ${index} exited with ${code} before it was ready`))
        else if (!stopping) {
          log.error({ err: fault, thread: index, code }, 'serving thread died; starting another')
          respawn(index)
        }
      })
    })
  }

  function respawn(index: number): void {
    const timer = setTimeout(async () => {
      timers.delete(timer)
      respawned++
      try {
        await spawn(index)
        log.info({ thread: index }, 'serving thread is back')
      } catch (error) {
        if (stopping) return
        log.error({ err: error, thread: index }, 'serving thread could not start')
        respawn(index)
      }
    }, delays[index]!.next())
    timers.add(timer)
  }

  async function onMessage(thread: Thread, message: FromThread): Promise<void> {
    if (message.kind === 'built') {
      await answersOf(thread.backlog.release(), log)
      thread.worker.postMessage({ kind: 'listen' } satisfies ToThread)
    }
    if (message.kind === 'drained') thread.drained.resolve(message.clean)
  }

  async function stop(timeout: number): Promise<boolean> {
    for (const timer of timers) clearTimeout(timer)
    await early?.worker.terminate()
    const clean = await Promise.all([...threads.values()].map((thread) => endThread(thread, timeout)))
    watchdog.stop()
    return clean.every(Boolean)
  }

  return {
    load: () => void (early = launch(0)),
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
      return answersOf(calls, log, call[0])
    },
    stop: (timeout) => (stopping ??= stop(timeout)),
  }
}

/** Drains a thread and waits until it is gone. Resolves with whether it could finish what was in flight. */
async function endThread({ worker, drained, gone }: Thread, timeout: number): Promise<boolean> {
  worker.postMessage({ kind: 'drain', timeout } satisfies ToThread)
  let timer = setTimeout(() => void worker.terminate(), timeout + EXIT_TIMEOUT)
  const clean = (await Promise.race([drained.promise, gone])) ?? false
  clearTimeout(timer)
  // Something may hold its event loop still: the handler of a request that was cut, or a timer that a part forgot.
  timer = setTimeout(() => void worker.terminate(), clean ? EXIT_TIMEOUT : 0)
  await gone
  clearTimeout(timer)
  return clean
}
