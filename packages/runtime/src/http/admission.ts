import { performance } from 'node:perf_hooks'
import type { Access } from './guard.ts'

// How often the loop is looked at (ms). A turn that takes longer is looked at once, at its end.
const PERIOD = 20
// It is judged over so many times `maxQueueDelay`, and so many turns.
const WINDOW = 5
/**
 * A crowd of a moment is no overload, however long it takes: so many requests have to come while too many wait already.
 * However fast or slow the machine is, those of one crowd are never more.
 */
const CROWD = 1_024
/** Or it lasts for so long (ms): dear requests are few. */
const LASTING = 10_000
/** Changes of a route that may wait while the loop rests: then it is for the disk, and a slow one takes them together. */
const FEW_CHANGES = 64
/** Requests that may be answered at a time, of a route, or looked at in a turn, however dear they are. */
const FEW = 16
// Below this share of idle time a loop has no rest.
const RESTS = 0.2

/** Tells what stands from what comes and goes again. */
class Standing {
  #came = 0
  #time = 0
  /** Requests that came in this window. */
  came = 0

  /** A window is over. @param took ms @param isLong whether too many waited at every moment of it */
  judge(took: number, isLong: boolean): boolean {
    this.#came = isLong ? this.#came + this.came : 0
    this.#time = isLong ? this.#time + took : 0
    this.came = 0
    return this.#came > CROWD || this.#time > LASTING
  }
}

/** Goes on with a request that was held, or refuses it. */
type GoOn = (isTaken: boolean) => void

/**
 * The requests of one route that are being answered for longer than a turn. Of changes that Fastify answers no more are
 * begun, once too many wait, than end within `maxQueueDelay`: who is held behind them can still be refused.
 */
export class Line {
  /** Whether it is for the disk that they wait, where the loop rests. */
  readonly #isChange: boolean
  #count = 0
  #ended = 0
  /** Fewest at any time of this window. */
  #least = 0
  /** Requests that end in a millisecond, of late. */
  #pace = 0
  /** As many as end within `maxQueueDelay`. */
  #most = FEW
  #isFull = false
  /** Requests that there was no room for in this window. */
  #refused = 0
  /** Whether too many waited throughout the last window. */
  #isLong = false
  /** Those that were begun, and those that were not yet. */
  readonly #begun = new Set<unknown>()
  readonly #held = new Map<unknown, GoOn>()
  readonly #standing = new Standing()

  constructor(isChange: boolean) {
    this.#isChange = isChange
  }

  /** Whether one more may wait. */
  hasRoom(): boolean {
    if (!this.#isFull || this.#count < this.#most) return true
    this.#refused++
    return false
  }

  begun(): void {
    this.#count++
    this.#standing.came++
  }

  /** Begins with a request, or holds it until there is room. @param request whatever `ended` is told of it */
  enter(request: unknown, goOn: GoOn): void {
    if (!this.#isChange) return goOn(true)
    this.#held.set(request, goOn)
    this.#letIn()
  }

  /** @param isDone whether it was answered; not that it was refused, or that its client left */
  ended(isDone = true, request?: unknown): void {
    this.#held.delete(request)
    this.#begun.delete(request)
    if (isDone) this.#ended++
    if (--this.#count < this.#least) this.#least = this.#count
    this.#letIn()
  }

  #letIn(): void {
    for (const [request, goOn] of this.#held) {
      if (this.#isLong && this.#begun.size >= this.#most) return
      this.#held.delete(request)
      this.#begun.add(request)
      goOn(true)
    }
  }

  /** A window is over. @param took ms @param hasRest whether the loop had any @param counts whether too many are an overload */
  judge(took: number, maxQueueDelay: number, hasRest: boolean, counts: boolean): void {
    const pace = this.#ended / took
    this.#pace = Math.max(pace, (this.#pace + pace) / 2)
    this.#most = Math.max(hasRest && this.#isChange ? FEW_CHANGES : FEW, this.#pace * maxQueueDelay)
    this.#isLong = counts && this.#least > this.#most
    const stands = this.#standing.judge(took, this.#isLong)
    this.#isFull = this.#refused > 0 || stands
    this.#least = this.#count
    const isFlood = this.#refused > this.#ended
    this.#ended = this.#refused = 0
    if (isFlood) this.#refuseHeld()
    this.#letIn()
  }

  /** More come behind them than are answered: they would be late, and so would all that come. */
  #refuseHeld(): void {
    const held = [...this.#held.values()]
    this.#held.clear()
    for (const goOn of held) goOn(false)
  }
}

/** What is known of an event loop and its thread at a time (ms). */
export interface Reading {
  /** Of a steady clock. */
  readonly now: number
  /** How long the loop has rested so far. */
  readonly idle: number
  /** How long the thread has had a processor so far. */
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
export class Admission {
  readonly #maxQueueDelay: number
  readonly #read: () => Reading
  readonly #queues: Line[] = []
  readonly #works: Line[] = []
  /** When this turn began, or a little before. */
  #turn: Reading
  /** When this window began. */
  #window: Reading
  /** Requests that were looked at in this turn. */
  #asked = 0
  #turns = 0
  /** Whether the loop has had no rest for so long that it is not for a crowd. */
  #isBusy = false
  readonly #standing = new Standing()

  constructor(maxQueueDelay: number, read: () => Reading) {
    this.#maxQueueDelay = maxQueueDelay
    this.#read = read
    this.#turn = this.#window = read()
  }

  /** For what waits for main, and for changes, which may wait for the disk as well. */
  queue(isChange: boolean): Line {
    const line = new Line(isChange)
    this.#queues.push(line)
    return line
  }

  /** For what Fastify answers: changes as ever; the rest waits for this thread, unless it waits for somebody else. */
  lineFor(access: Access): Line {
    if (access === 'change') return this.queue(true)
    const line = new Line(false)
    this.#works.push(line)
    return line
  }

  /** Whether a request that was read at this time (ms, the steady clock's) is taken. */
  takes(at: number): boolean {
    this.#standing.came++
    if (!this.#isBusy || ++this.#asked <= FEW || at - this.#turn.now <= this.#maxQueueDelay) return true
    return this.#read().processor - this.#turn.processor <= this.#maxQueueDelay
  }

  /** A turn begins: at least once each 20 ms where turns are shorter. */
  tick(): void {
    const turn = (this.#turn = this.#read())
    this.#asked = 0
    const took = turn.now - this.#window.now
    if (++this.#turns < WINDOW || took < WINDOW * this.#maxQueueDelay) return
    this.#turns = 0
    const hasRest = turn.idle - this.#window.idle >= RESTS * took
    // With less to do it would be no faster in the time that the machine has for others.
    const counted = hasRest ? took : Math.max(turn.processor - this.#window.processor, 1)
    this.#window = turn
    this.#isBusy = this.#standing.judge(counted, !hasRest)
    for (const line of this.#queues) line.judge(counted, this.#maxQueueDelay, hasRest, true)
    for (const line of this.#works) line.judge(counted, this.#maxQueueDelay, hasRest, !hasRest)
  }
}

function readThisThread(): Reading {
  const { user, system } = process.threadCpuUsage()
  const { idle } = performance.eventLoopUtilization()
  return { now: performance.now(), idle, processor: (user + system) / 1_000 }
}

/** An admission that looks at this thread's loop, until `stop`. @param maxQueueDelay ms; with 0 it takes everything */
export function watchLoop(maxQueueDelay: number): { admission: Admission; stop(): void } {
  const admission = new Admission(maxQueueDelay, readThisThread)
  // One that never looks has nothing against anybody.
  if (maxQueueDelay === 0) return { admission, stop: () => undefined }
  const timer = setInterval(() => admission.tick(), PERIOD).unref()
  return { admission, stop: () => clearInterval(timer) }
}
