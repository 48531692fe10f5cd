import { performance } from 'node:perf_hooks'
import type { Access } from './request-guard.ts'

// Interval between samples of the loop (ms). A longer turn is sampled once, at its end.
const TICK_INTERVAL_MS = 20
// A window has at least this many turns, and lasts at least this many times `maxQueueDelay`.
const WINDOW_TURNS = 5
/**
 * A short burst is no overload, however long it takes. An overload needs more than this many requests that arrive while
 * too many already wait. On any machine, one burst never has more requests.
 */
const BURST_SIZE = 1_024
/** Duration after which a backlog is an overload too (ms): expensive requests are few. */
const SUSTAINED_MS = 10_000
/** Changes of a route that may wait while the loop rests: then it is for the disk, and a slow one takes them together. */
const MIN_WAITING_CHANGES = 64
/** Minimum of requests of a route that may run at once, or be accepted in a turn, at any cost per request. */
const MIN_RUNNING_REQUESTS = 16
// Below this share of idle time a loop has no rest.
const MIN_IDLE_SHARE = 0.2

/** Distinguishes a sustained overload from a short burst. */
class SustainedOverload {
  #overloadRequests = 0
  #time = 0
  /** Requests that came in this window. */
  windowRequests = 0

  /** Adds a finished window. @param took ms @param isLong true if too many requests waited throughout it */
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
 * The requests of one route that take longer than a turn. Once too many wait, at most as many changes on Fastify run
 * concurrently as finish within `maxQueueDelay`. The held ones can still be refused.
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

  /** @param isDone whether it was answered; not that it was refused, or that its client left */
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

  /** A window is over. @param took ms @param hasRest whether the loop had any @param counts whether too many are an overload */
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
  /** Of a steady clock. */
  readonly now: number
  /** Total idle time of the loop. */
  readonly idle: number
  /** Total processor time of the thread. */
  readonly processor: number
}

/**
 * Decides which requests a serving thread takes. It takes all but in two cases, which have to stand: while they did, window
 * after window of five times `maxQueueDelay`, more requests came than a crowd has, or 10 s went by.
 *
 * - The loop has no rest: who is read when a turn has taken `maxQueueDelay` already is refused, and of the requests that
 *   Fastify answers no more are taken than end within `maxQueueDelay`.
 * - At no time were fewer changes of a route waiting than end within `maxQueueDelay`: no more are taken then.
 *
 * What waits unread lies in the kernel's buffers; that a turn takes long is all that is seen of it. Where the loop has no
 * rest it is the processor's time that counts: what the machine has for others is no shorter with fewer requests.
 */
export class LoadShedder {
  readonly #maxQueueDelay: number
  readonly #read: () => LoopReading
  readonly #waitingQueues: RouteQueue[] = []
  readonly #computeQueues: RouteQueue[] = []
  /** When this turn began, or a little before. */
  #turn: LoopReading
  /** When this window began. */
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

  /** For what waits for main, and for changes, which may wait for the disk as well. */
  createQueue(isChange: boolean): RouteQueue {
    const queue = new RouteQueue(isChange)
    this.#waitingQueues.push(queue)
    return queue
  }

  /** For what Fastify answers: changes as ever; the rest waits for this thread, unless it waits for somebody else. */
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

  /** A turn begins: at least once each 20 ms where turns are shorter. */
  tick(): void {
    const turn = (this.#turn = this.#read())
    this.#requestsInTurn = 0
    const took = turn.now - this.#window.now
    if (++this.#turns < WINDOW_TURNS || took < WINDOW_TURNS * this.#maxQueueDelay) return
    this.#turns = 0
    const hasRest = turn.idle - this.#window.idle >= MIN_IDLE_SHARE * took
    // With less to do it would be no faster in the time that the machine has for others.
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

/** An admission that looks at this thread's loop, until `stop`. @param maxQueueDelay ms; with 0 it takes everything */
export function startLoadShedding(maxQueueDelay: number): { loadShedder: LoadShedder; stop(): void } {
  const loadShedder = new LoadShedder(maxQueueDelay, readLoop)
  // Without ticks the shedder accepts every request.
  if (maxQueueDelay === 0) return { loadShedder, stop: () => undefined }
  const timer = setInterval(() => loadShedder.tick(), TICK_INTERVAL_MS).unref()
  return { loadShedder, stop: () => clearInterval(timer) }
}
