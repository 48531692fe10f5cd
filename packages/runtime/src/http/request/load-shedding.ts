import { performance } from 'node:perf_hooks'
import type { Access } from '../../net/request.ts'

// Interval between samples of the event loop (ms). A longer turn is sampled once, at its end.
const TICK_INTERVAL_MS = 20
// The load shedder measures in windows. A window has at least this many turns of the event loop, and lasts at least
// this many times `maxQueueDelay`.
const WINDOW_TURNS = 5
/**
 * Maximum number of requests in a short burst. A burst is no overload, even if a slow machine needs a long time for it.
 * If more requests than this arrive while too many already wait, that is an overload.
 */
const BURST_SIZE = 1_024
/** A backlog that lasts longer than this (ms) is an overload too, even if it consists of a few expensive requests. */
const SUSTAINED_MS = 10_000
/**
 * Minimum capacity (requests) of a route that changes state, while the event loop has idle time. The changes then wait
 * for the disk, and one disk write contains several of them.
 */
const MIN_WAITING_CHANGES = 64
/**
 * Minimum capacity (requests) of any route, even if each request is expensive. In each turn of the event loop, the
 * first requests up to this number, of all routes together, are not refused for their queue delay.
 */
const MIN_RUNNING_REQUESTS = 16
// An event loop with less idle time than this share is busy.
const MIN_IDLE_SHARE = 0.2

/** Distinguishes a sustained overload from a short burst. */
class SustainedOverload {
  /** Requests that arrived since the overload began. */
  #overloadRequests = 0
  /** Duration of the overload (ms). */
  #time = 0
  /** Requests that arrived in this window. */
  windowRequests = 0

  /**
   * Adds a finished window.
   * @param took duration of the window (ms)
   * @param isOverloaded true if too many requests waited throughout the window
   * @returns true if the overload is sustained
   */
  addWindow(took: number, isOverloaded: boolean): boolean {
    this.#overloadRequests = isOverloaded ? this.#overloadRequests + this.windowRequests : 0
    this.#time = isOverloaded ? this.#time + took : 0
    this.windowRequests = 0
    return this.#overloadRequests > BURST_SIZE || this.#time > SUSTAINED_MS
  }
}

/** Starts a held request, or refuses it if `isAccepted` is false. */
type Continuation = (isAccepted: boolean) => void

/**
 * The requests of one route that take longer than one turn of the event loop. While too many wait, changes on Fastify
 * run concurrently only up to the number that finishes within `maxQueueDelay`. Further changes are held, and can still
 * be refused.
 */
export class RouteQueue {
  /** True for changes: while the event loop has idle time, they wait for the disk. */
  readonly #isChange: boolean
  /** Requests that have begun and not finished, held ones included. */
  #count = 0
  /** Requests that finished in this window. */
  #finishedCount = 0
  /** Lowest `#count` in this window. */
  #minCount = 0
  /** Recent rate of finished requests (per ms). */
  #throughput = 0
  /** Number of requests that finish within `maxQueueDelay`. */
  #capacity = MIN_RUNNING_REQUESTS
  #isFull = false
  /** Requests refused for lack of capacity in this window. */
  #refused = 0
  /** True if too many requests waited throughout the last window. */
  #isBacklogged = false
  readonly #running = new Set<unknown>()
  /** Requests that have not started yet. */
  readonly #held = new Map<unknown, Continuation>()
  readonly #overload = new SustainedOverload()

  constructor(isChange: boolean) {
    this.#isChange = isChange
  }

  /** True if one more request may begin. Counts a refusal otherwise. */
  hasCapacity(): boolean {
    if (!this.#isFull || this.#count < this.#capacity) return true
    this.#refused++
    return false
  }

  /** Counts a request that has begun. */
  add(): void {
    this.#count++
    this.#overload.windowRequests++
  }

  /** Starts a request, or holds it until there is capacity. @param request the key that `finish` gets for it */
  start(request: unknown, proceed: Continuation): void {
    if (!this.#isChange) return proceed(true)
    this.#held.set(request, proceed)
    this.#startHeld()
  }

  /** Counts the end of a request. @param isDone false if the request was refused, or if its client has disconnected */
  finish(isDone = true, request?: unknown): void {
    this.#held.delete(request)
    this.#running.delete(request)
    if (isDone) this.#finishedCount++
    if (--this.#count < this.#minCount) this.#minCount = this.#count
    this.#startHeld()
  }

  #startHeld(): void {
    for (const [request, proceed] of this.#held) {
      if (this.#isBacklogged && this.#running.size >= this.#capacity) return
      this.#held.delete(request)
      this.#running.add(request)
      proceed(true)
    }
  }

  /**
   * Ends a window.
   * @param took duration of the window (ms)
   * @param hasIdleTime true if the event loop was not busy
   * @param countsBacklog true if a backlog counts as an overload
   */
  closeWindow(took: number, maxQueueDelay: number, hasIdleTime: boolean, countsBacklog: boolean): void {
    const throughput = this.#finishedCount / took
    this.#throughput = Math.max(throughput, (this.#throughput + throughput) / 2)
    this.#capacity = Math.max(
      hasIdleTime && this.#isChange ? MIN_WAITING_CHANGES : MIN_RUNNING_REQUESTS,
      this.#throughput * maxQueueDelay,
    )
    this.#isBacklogged = countsBacklog && this.#minCount > this.#capacity
    const isSustained = this.#overload.addWindow(took, this.#isBacklogged)
    this.#isFull = this.#refused > 0 || isSustained
    this.#minCount = this.#count
    const isFlood = this.#refused > this.#finishedCount
    this.#finishedCount = this.#refused = 0
    if (isFlood) this.#refuseHeld()
    this.#startHeld()
  }

  /**
   * Refuses the held requests, because more requests are refused than finish. The held requests would be late, and so
   * would all requests behind them.
   */
  #refuseHeld(): void {
    const held = [...this.#held.values()]
    this.#held.clear()
    for (const proceed of held) proceed(false)
  }
}

/** State of an event loop and its thread at one moment (ms). */
export interface LoopReading {
  /** Time of a clock that is never adjusted. */
  readonly now: number
  /** Total idle time of the loop. */
  readonly idle: number
  /** Total processor time of the thread. */
  readonly processor: number
}

/**
 * Decides which requests a serving thread accepts. It measures in windows of at least five times `maxQueueDelay`. It
 * refuses requests only in two cases. The case must hold in consecutive windows, until more than `BURST_SIZE` requests
 * have arrived or 10 s have passed. Refusals end with the case; those of a route end only after a window in which the
 * route refused no request.
 *
 * - The event loop is busy. A request that is read more than `maxQueueDelay` after the start of a turn is refused,
 *   except the first 16 of the turn. The number of accepted requests that Fastify answers is limited to the number that
 *   finishes within `maxQueueDelay`.
 * - The requests of a route wait for the main thread or the disk, and their number never fell below the number that
 *   finishes within `maxQueueDelay`. Then the route accepts a request only while fewer than that number wait.
 *
 * Unread requests are in the kernel's buffers, and a long turn is their only sign. While the loop is busy, the thread's
 * processor time counts instead of the elapsed time. The rest of the elapsed time goes to other programs, and fewer
 * requests do not shorten it.
 */
export class LoadShedder {
  readonly #maxQueueDelay: number
  readonly #read: () => LoopReading
  readonly #waitingQueues: RouteQueue[] = []
  readonly #computeQueues: RouteQueue[] = []
  /** State at the start of this turn, or a little earlier. */
  #turn: LoopReading
  /** State at the start of this window. */
  #window: LoopReading
  /** Requests that were checked in this turn, while the loop is busy. */
  #requestsInTurn = 0
  #turns = 0
  /** True if the loop has had too little idle time for longer than a burst explains. */
  #isBusy = false
  readonly #overload = new SustainedOverload()

  constructor(maxQueueDelay: number, read: () => LoopReading) {
    this.#maxQueueDelay = maxQueueDelay
    this.#read = read
    this.#turn = this.#window = read()
  }

  /** Creates a queue for requests that wait for the main thread. Changes may wait for the disk as well. */
  createQueue(isChange: boolean): RouteQueue {
    const queue = new RouteQueue(isChange)
    this.#waitingQueues.push(queue)
    return queue
  }

  /**
   * Creates a queue for a route that Fastify answers. A backlog of reads counts only while the event loop is busy:
   * otherwise they wait for another component.
   */
  createFastifyQueue(access: Access): RouteQueue {
    if (access === 'change') return this.createQueue(true)
    const queue = new RouteQueue(false)
    this.#computeQueues.push(queue)
    return queue
  }

  /** True if a request that was read at this time (ms, `performance.now()`) is accepted. */
  canAccept(at: number): boolean {
    this.#overload.windowRequests++
    if (!this.#isBusy || ++this.#requestsInTurn <= MIN_RUNNING_REQUESTS || at - this.#turn.now <= this.#maxQueueDelay)
      return true
    return this.#read().processor - this.#turn.processor <= this.#maxQueueDelay
  }

  /** Begins the next turn. Called every 20 ms, or at the end of a longer turn. */
  tick(): void {
    const turn = (this.#turn = this.#read())
    this.#requestsInTurn = 0
    const took = turn.now - this.#window.now
    if (++this.#turns < WINDOW_TURNS || took < WINDOW_TURNS * this.#maxQueueDelay) return
    this.#turns = 0
    const hasIdleTime = turn.idle - this.#window.idle >= MIN_IDLE_SHARE * took
    // The time that the machine gives to other programs does not count: less work would not shorten it.
    const counted = hasIdleTime ? took : Math.max(turn.processor - this.#window.processor, 1)
    this.#window = turn
    this.#isBusy = this.#overload.addWindow(counted, !hasIdleTime)
    for (const queue of this.#waitingQueues) queue.closeWindow(counted, this.#maxQueueDelay, hasIdleTime, true)
    for (const queue of this.#computeQueues) queue.closeWindow(counted, this.#maxQueueDelay, hasIdleTime, !hasIdleTime)
  }
}

function readLoop(): LoopReading {
  const { user, system } = process.threadCpuUsage()
  const { idle } = performance.eventLoopUtilization()
  return { now: performance.now(), idle, processor: (user + system) / 1_000 }
}

/**
 * Starts a load shedder for the event loop of this thread.
 * @param maxQueueDelay ms; with 0 it accepts every request
 */
export function startLoadShedding(maxQueueDelay: number): { loadShedder: LoadShedder; stop(): void } {
  const loadShedder = new LoadShedder(maxQueueDelay, readLoop)
  // A load shedder without ticks accepts every request.
  if (maxQueueDelay === 0) return { loadShedder, stop: () => undefined }
  const timer = setInterval(() => loadShedder.tick(), TICK_INTERVAL_MS).unref()
  return { loadShedder, stop: () => clearInterval(timer) }
}
