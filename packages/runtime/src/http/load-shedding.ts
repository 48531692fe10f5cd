import { performance } from 'node:perf_hooks'
import type { Access } from './request-guard.ts'

// Interval between samples of the loop (ms). A longer turn is sampled once, at its end.
const TICK_INTERVAL_MS = 20
// A window has at least this many turns, and lasts at least this many times `maxQueueDelay`.
const WINDOW_TURNS = 5
/**
 * A short burst is no overload, however long it takes. An overload needs more than this many requests that arrive while
 * too many already wait. One burst has at most this number, even on a slow machine.
 */
const BURST_SIZE = 1_024
/** A backlog that lasts longer than this is an overload too (ms), because expensive requests are few. */
const SUSTAINED_MS = 10_000
/**
 * Minimum capacity of a change route while the loop has idle time: its changes wait for the disk then, and a slow disk
 * writes them together.
 */
const MIN_WAITING_CHANGES = 64
/**
 * Minimum of requests of a route that may run at once, or be accepted in one turn of the loop, at any cost per request.
 */
const MIN_RUNNING_REQUESTS = 16
// A loop with less idle time than this share has no rest.
const MIN_IDLE_SHARE = 0.2

/** Distinguishes a sustained overload from a short burst. */
class SustainedOverload {
  #overloadRequests = 0
  #time = 0
  /** Requests that arrived in this window. */
  windowRequests = 0

  /**
   * Adds a finished window.
   * @param took ms
   * @param isLong true if too many requests waited throughout the window
   * @returns true if the overload is sustained
   */
  addWindow(took: number, isLong: boolean): boolean {
    this.#overloadRequests = isLong ? this.#overloadRequests + this.windowRequests : 0
    this.#time = isLong ? this.#time + took : 0
    this.windowRequests = 0
    return this.#overloadRequests > BURST_SIZE || this.#time > SUSTAINED_MS
  }
}

/** Starts a held request, or refuses it. */
type Continuation = (isTaken: boolean) => void

/**
 * The requests of one route that take longer than one turn of the loop. While too many wait, changes on Fastify run
 * concurrently only up to the number that finishes within `maxQueueDelay`. The held ones can still be refused.
 */
export class RouteQueue {
  /** True for changes: while the loop has idle time, they wait for the disk. */
  readonly #isChange: boolean
  #count = 0
  #finishedCount = 0
  /** Lowest count in this window. */
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
  /** Requests that have started; `#held` has those that have not. */
  readonly #running = new Set<unknown>()
  readonly #held = new Map<unknown, Continuation>()
  readonly #overload = new SustainedOverload()

  constructor(isChange: boolean) {
    this.#isChange = isChange
  }

  /** True if one more request may wait. */
  hasCapacity(): boolean {
    if (!this.#isFull || this.#count < this.#capacity) return true
    this.#refused++
    return false
  }

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

  /** @param isDone false if the request was refused, or if its client left */
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
   * @param took ms
   * @param hasRest true if the loop had idle time
   * @param counts true if a backlog counts as an overload
   */
  closeWindow(took: number, maxQueueDelay: number, hasRest: boolean, counts: boolean): void {
    const throughput = this.#finishedCount / took
    this.#throughput = Math.max(throughput, (this.#throughput + throughput) / 2)
    this.#capacity = Math.max(
      hasRest && this.#isChange ? MIN_WAITING_CHANGES : MIN_RUNNING_REQUESTS,
      this.#throughput * maxQueueDelay,
    )
    this.#isBacklogged = counts && this.#minCount > this.#capacity
    const isSustained = this.#overload.addWindow(took, this.#isBacklogged)
    this.#isFull = this.#refused > 0 || isSustained
    this.#minCount = this.#count
    const isFlood = this.#refused > this.#finishedCount
    this.#finishedCount = this.#refused = 0
    if (isFlood) this.#refuseHeld()
    this.#startHeld()
  }

  /** More requests are refused than finish: the held ones would be late, and so would all later ones. */
  #refuseHeld(): void {
    const held = [...this.#held.values()]
    this.#held.clear()
    for (const proceed of held) proceed(false)
  }
}

/** State of an event loop and its thread at one moment (ms). */
export interface LoopReading {
  /** Time of a steady clock. */
  readonly now: number
  /** Total idle time of the loop. */
  readonly idle: number
  /** Total processor time of the thread. */
  readonly processor: number
}

/**
 * Decides which requests a serving thread accepts. It refuses requests in two cases only, and only while the case
 * lasts: window after window of at least five times `maxQueueDelay`, until more than `BURST_SIZE` requests have arrived
 * or 10 s have passed.
 *
 * - The loop has no rest. A request that is read after one turn has taken `maxQueueDelay` is refused. Of the requests
 *   that Fastify answers, only the number that finishes within `maxQueueDelay` is accepted.
 * - The waiting changes of a route never fell below the number that finishes within `maxQueueDelay`. No more of them
 *   are accepted then.
 *
 * Unread requests are in the kernel's buffers; a long turn is their only sign. If the loop has no rest, the thread's
 * processor time counts: fewer requests do not shorten the time that the machine gives to other programs.
 */
export class LoadShedder {
  readonly #maxQueueDelay: number
  readonly #read: () => LoopReading
  readonly #waitingQueues: RouteQueue[] = []
  readonly #computeQueues: RouteQueue[] = []
  /** Start of this turn, or a little earlier. */
  #turn: LoopReading
  /** Start of this window. */
  #window: LoopReading
  /** Requests checked in this turn while the loop is busy. */
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
   * Creates a queue for a route that Fastify answers. A backlog of reads counts only if the loop has no rest: otherwise
   * they wait for another component.
   */
  createFastifyQueue(access: Access): RouteQueue {
    if (access === 'change') return this.createQueue(true)
    const queue = new RouteQueue(false)
    this.#computeQueues.push(queue)
    return queue
  }

  /** True if a request read at this time (ms, steady clock) is accepted. */
  canAccept(at: number): boolean {
    this.#overload.windowRequests++
    if (!this.#isBusy || ++this.#requestsInTurn <= MIN_RUNNING_REQUESTS || at - this.#turn.now <= this.#maxQueueDelay)
      return true
    return this.#read().processor - this.#turn.processor <= this.#maxQueueDelay
  }

  /** Begins the next turn. Called every 20 ms, or after each longer turn. */
  tick(): void {
    const turn = (this.#turn = this.#read())
    this.#requestsInTurn = 0
    const took = turn.now - this.#window.now
    if (++this.#turns < WINDOW_TURNS || took < WINDOW_TURNS * this.#maxQueueDelay) return
    this.#turns = 0
    const hasRest = turn.idle - this.#window.idle >= MIN_IDLE_SHARE * took
    // With less work, the loop would not be faster in the time that the machine gives to other programs.
    const counted = hasRest ? took : Math.max(turn.processor - this.#window.processor, 1)
    this.#window = turn
    this.#isBusy = this.#overload.addWindow(counted, !hasRest)
    for (const queue of this.#waitingQueues) queue.closeWindow(counted, this.#maxQueueDelay, hasRest, true)
    for (const queue of this.#computeQueues) queue.closeWindow(counted, this.#maxQueueDelay, hasRest, !hasRest)
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
  // Without ticks the shedder accepts every request.
  if (maxQueueDelay === 0) return { loadShedder, stop: () => undefined }
  const timer = setInterval(() => loadShedder.tick(), TICK_INTERVAL_MS).unref()
  return { loadShedder, stop: () => clearInterval(timer) }
}
