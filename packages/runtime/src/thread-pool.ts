import type { Logger } from 'pino'
import { MessageChannel, Worker } from 'node:worker_threads'
import { backOff } from './back-off.ts'
import { createChannel, type Channel } from './channel.ts'
import { StartError } from './errors.ts'
import type { Config, FromThread, ThreadData, ToThread } from './messages.ts'
import type { MetricsJson } from './metrics.ts'

/** What a pool of serving threads is made of. */
export interface PoolOptions {
  readonly services: string
  readonly name: string
  readonly config: Config
  readonly size: number
  readonly reusePort: boolean
  readonly handlers: ReadonlyMap<string, (...args: any[]) => unknown>
  readonly log: Logger
  shared(): unknown
  scrape(): Promise<string>
}

/** The serving threads of one process. A thread that dies or hangs is replaced until the pool stops. */
export interface ThreadPool {
  readonly port: number
  /** Calls `name` on every thread; resolves once each has answered or is gone. */
  broadcast(name: string, ...args: unknown[]): Promise<void>
  /** The figures of every thread that answers within `timeout` ms. */
  collect(timeout: number): Promise<MetricsJson[]>
  /** How often a thread had to be replaced. */
  readonly respawned: number
  /** Drains all threads; resolves, after every thread is gone, with whether nothing had to be cut. Idempotent. */
  stop(timeout: number): Promise<boolean>
}

interface Thread {
  readonly index: number
  readonly worker: Worker
  readonly channel: Channel
  readonly gone: Promise<void>
  readonly collecting: Map<number, (metrics: MetricsJson) => void>
  drained: boolean | undefined
  beats: number
  missedBeats: number
}

const CHECKS_UNTIL_STUCK = 5
// A thread that has said it is drained only has to leave its event loop.
const EXIT_TIMEOUT = 1_000

/** Starts `size` threads that share one port. Rejects, with nothing left running, if the first ones cannot start. */
export async function startThreadPool(options: PoolOptions): Promise<ThreadPool> {
  const { config, log, size } = options
  const heartbeats = new Int32Array(new SharedArrayBuffer(4 * size))
  const threads = new Map<number, Thread>()
  const timers = new Set<NodeJS.Timeout>()
  let port = config.port
  let lastId = 0
  let respawned = 0
  let stopping: Promise<boolean> | undefined

  function spawn(index: number): Promise<Thread> {
    const line = new MessageChannel()
    const data: ThreadData = {
      services: options.services,
      name: options.name,
      config,
      index,
      port,
      reusePort: options.reusePort,
      shared: options.shared(),
      heartbeats,
      bus: line.port2,
    }
    const worker = new Worker(new URL('./thread.ts', import.meta.url), {
      workerData: data,
      transferList: [line.port2],
      name: `${options.name}-${index}`,
    })
    const gone = Promise.withResolvers<void>()
    const channel = createChannel(line.port1, options.handlers)
    const thread: Thread = {
      index, worker, channel, gone: gone.promise, collecting: new Map(), drained: undefined, beats: 0, missedBeats: 0,
    }
    threads.set(index, thread)
    return new Promise((resolve, reject) => {
      let fault: unknown
      let ready = false
      worker.on('message', (message: FromThread) => {
        if (message.kind === 'ready') {
          ready = true
          port = message.port
          resolve(thread)
        } else void onMessage(thread, message)
      })
      worker.on('error', (error) => (fault = error))
      worker.on('exit', (code) => {
        if (threads.get(index) === thread) threads.delete(index)
        channel.abandon(new Error(`thread ${index} is gone`))
        line.port1.close()
        gone.resolve()
        if (!ready) reject(fault ?? new StartError('THREAD_EXITED', `thread ${index} exited with ${code} before it was ready`))
        else if (!stopping) {
          log.error({ err: fault, thread: index, code }, 'serving thread died; starting another')
          respawn(index)
        }
      })
    })
  }

  const delays = Array.from({ length: size }, () => backOff())

  function respawn(index: number): void {
    const timer = setTimeout(async () => {
      timers.delete(timer)
      if (stopping) return
      respawned++
      try {
        await spawn(index)
        log.info({ thread: index }, 'serving thread is back')
      } catch (error) {
        log.error({ err: error, thread: index }, 'serving thread could not start')
        if (!stopping) respawn(index)
      }
    }, delays[index]!.next())
    timers.add(timer)
  }

  async function onMessage(thread: Thread, message: FromThread): Promise<void> {
    const send = (reply: ToThread) => thread.worker.postMessage(reply)
    if (message.kind === 'drained') thread.drained = message.clean
    if (message.kind === 'collected') thread.collecting.get(message.id)?.(message.metrics)
    if (message.kind === 'scrape') {
      const text = await options.scrape().catch((error: unknown) => void log.error({ err: error }, 'scrape failed'))
      send({ kind: 'scraped', id: message.id, text: text ?? undefined })
    }
  }

  // Counts checks without a beat rather than time, so that a machine that slept does not look like a stuck thread.
  const watch = setInterval(() => {
    for (const thread of threads.values()) {
      const beats = Atomics.load(heartbeats, thread.index)
      thread.missedBeats = beats === thread.beats ? thread.missedBeats + 1 : 0
      thread.beats = beats
      if (thread.missedBeats < CHECKS_UNTIL_STUCK) continue
      thread.missedBeats = -Infinity
      log.error({ thread: thread.index }, 'serving thread is stuck')
      void thread.worker.terminate()
    }
  }, config.stuckTimeout / CHECKS_UNTIL_STUCK)

  async function stop(timeout: number): Promise<boolean> {
    for (const timer of timers) clearTimeout(timer)
    const all = [...threads.values()]
    for (const { worker } of all) worker.postMessage({ kind: 'drain', timeout } satisfies ToThread)
    await Promise.all(all.map((thread) => exitWithin(thread, timeout + EXIT_TIMEOUT)))
    clearInterval(watch)
    return all.every((thread) => thread.drained)
  }

  async function exitWithin({ worker, gone }: Thread, timeout: number): Promise<void> {
    const timer = setTimeout(() => void worker.terminate(), timeout)
    await gone
    clearTimeout(timer)
  }

  const pool: ThreadPool = {
    get port() {
      return port
    },
    get respawned() {
      return respawned
    },
    async broadcast(name, ...args) {
      const replies = await Promise.allSettled([...threads.values()].map(({ channel }) => channel.call(name, ...args)))
      for (const reply of replies) if (reply.status === 'rejected') log.warn({ err: reply.reason, call: name }, 'broadcast not taken')
    },
    async collect(timeout) {
      const id = ++lastId
      const parts = [...threads.values()].map(async (thread) => {
        const answer = Promise.withResolvers<MetricsJson | undefined>()
        const timer = setTimeout(() => answer.resolve(undefined), timeout)
        thread.collecting.set(id, answer.resolve)
        thread.worker.postMessage({ kind: 'collect', id } satisfies ToThread)
        const metrics = await Promise.race([answer.promise, thread.gone])
        clearTimeout(timer)
        thread.collecting.delete(id)
        return metrics ?? undefined
      })
      return (await Promise.all(parts)).filter((part) => part !== undefined)
    },
    stop: (timeout) => (stopping ??= stop(timeout)),
  }

  try {
    // The first thread's port is everyone's.
    await spawn(0)
    await Promise.all(Array.from({ length: size - 1 }, (_, i) => spawn(i + 1)))
  } catch (error) {
    await pool.stop(0)
    throw error
  }
  return pool
}
