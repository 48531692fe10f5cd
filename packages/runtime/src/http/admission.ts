import { performance } from 'node:perf_hooks'
import type { Access } from './guard.ts'

// How often the loop is looked at (ms). A turn that takes longer is looked at once, at its end.
const PERIOD = 20
// It is judged over so many times `maxWait`, and so many turns: a moment's crowd, or one dear request, is no overload.
const WINDOW = 5
/** Changes of a route that may wait while the loop rests: then it is for the disk, and a slow one takes them together. */
const FEW_CHANGES = 64
/** Requests that may be answered at a time, of a route, or looked at in a turn, however dear they are. */
const FEW = 16
// Below this share of idle time a loop has no rest.
const RESTS = 0.2

/** The requests of one route that are being answered for longer than a turn. */
export class Line {
  /** Whether it is for the disk that they wait, where the loop rests. */
  readonly #isChange: boolean
  #count = 0
  #ended = 0
  /** Fewest at any time of this window. */
  #least = 0
  /** Requests that end in a millisecond, of late. */
  #pace = 0
  /** As many as end within `maxWait`. */
  #most = FEW
  #isFull = false
  #refused = false

  constructor(isChange: boolean) {
    this.#isChange = isChange
  }

  /** Whether one more may wait. */
  hasRoom(): boolean {
    if (!this.#isFull || this.#count < this.#most) return true
    this.#refused = true
    return false
  }

  begun(): void {
    this.#count++
  }

  readonly ended = (): void => {
    this.#ended++
    if (--this.#count < this.#least) this.#least = this.#count
  }

  /** A window is over. @param took ms @param hasRest whether the loop had any @param counts whether too many are an overload */
  judge(took: number, maxWait: number, hasRest: boolean, counts: boolean): void {
    const pace = this.#ended / took
    this.#pace = Math.max(pace, (this.#pace + pace) / 2)
    this.#most = Math.max(hasRest && this.#isChange ? FEW_CHANGES : FEW, this.#pace * maxWait)
    this.#isFull = this.#refused || (counts && this.#least > this.#most)
    this.#least = this.#count
    this.#ended = 0
    this.#refused = false
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
 * Decides which requests a serving thread takes. It takes all but in two cases, which have to last for a window, five
 * times `maxWait`:
 *
 * - the loop has no rest: who is read when a turn has taken `maxWait` already is refused, and of the requests that
 *   Fastify answers no more are taken than end within `maxWait`;
 * - at no time of a window were fewer changes of a route waiting than end within `maxWait`: no more are taken then.
 *
 * What waits unread lies in the kernel's buffers; that a turn takes long is all that is seen of it. Where the loop has no
 * rest it is the processor's time that counts: what the machine has for others is no shorter with fewer requests.
 */
export class Admission {
  readonly #maxWait: number
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
  #hasRest = true

  constructor(maxWait: number, read: () => Reading) {
    this.#maxWait = maxWait
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
    if (this.#hasRest || ++this.#asked <= FEW || at - this.#turn.now <= this.#maxWait) return true
    return this.#read().processor - this.#turn.processor <= this.#maxWait
  }

  /** A turn begins: at least once each 20 ms where turns are shorter. */
  tick(): void {
    const turn = (this.#turn = this.#read())
    this.#asked = 0
    const took = turn.now - this.#window.now
    if (++this.#turns < WINDOW || took < WINDOW * this.#maxWait) return
    this.#turns = 0
    const hasRest = (this.#hasRest = turn.idle - this.#window.idle >= RESTS * took)
    // With less to do it would be no faster in the time that the machine has for others.
    const counted = hasRest ? took : Math.max(turn.processor - this.#window.processor, 1)
    this.#window = turn
    for (const line of this.#queues) line.judge(counted, this.#maxWait, hasRest, true)
    for (const line of this.#works) line.judge(counted, this.#maxWait, hasRest, !hasRest)
  }
}

function readThisThread(): Reading {
  const { user, system } = process.threadCpuUsage()
  const { idle } = performance.eventLoopUtilization()
  return { now: performance.now(), idle, processor: (user + system) / 1_000 }
}

/** An admission that looks at this thread's loop, until `stop`. @param maxWait ms; with 0 it takes everything */
export function watchLoop(maxWait: number): { admission: Admission; stop(): void } {
  const admission = new Admission(maxWait, readThisThread)
  // One that never looks has nothing against anybody.
  if (maxWait === 0) return { admission, stop: () => undefined }
  const timer = setInterval(() => admission.tick(), PERIOD).unref()
  return { admission, stop: () => clearInterval(timer) }
}
