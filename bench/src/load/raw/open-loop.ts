import type { Connection, Loop } from './loop.ts'
import type { ReadyRequest } from '../requests/request-bytes.ts'
import { Microseconds, type Tally } from '../common/tally.ts'

/**
 * A timer comes up to 1.1 ms late, so it is set for this long (ms) before a request is due; the rest is spent in turns
 * of the event loop, which look at the clock and at the sockets every 1.2 us. On two
 * shared cores requests were seen to be due 1 us late (p50) and 50-140 us (p99), 600 us while others used them.
 */
export const TIMER_SLACK = 1.2

/**
 * Request `i` is due at `start + i / rate`, whatever became of those before it. It goes to the connection that has been
 * idle longest (so all of them are kept alive, and all threads of the server are asked alike), or waits for one.
 */
export class OpenLoop implements Loop {
  /** How late it saw that requests were due: its own part of their latency, whatever the server did. */
  readonly lateness = new Microseconds()
  readonly #next: () => ReadyRequest
  /** Milliseconds from one request to the next. */
  readonly #gap: number
  #counts: Tally | undefined
  readonly #idle: Connection[] = []
  #start = Infinity
  #total = 0
  /** Requests that have come due; they are sent in order, so the rest of the queue is only a number. */
  #due = 0
  #sent = 0
  #ended = 0

  constructor(next: () => ReadyRequest, rate: number) {
    this.#next = next
    this.#gap = 1000 / rate
  }

  idle(connection: Connection): void {
    if (this.#sent < this.#due) this.#send(connection)
    else if (!connection.queued) {
      connection.queued = true
      this.#idle.push(connection)
    }
  }

  answered(begin: number, now: number, right: boolean): void {
    this.#ended++
    this.#counts!.answered(begin, now, right)
  }

  lost(begin: number): void {
    this.#ended++
    this.#counts!.lost(begin)
  }

  /** What is due waits for another connection; that one failed is an error all the same. */
  failed(now: number): void {
    this.#counts?.lost(now)
  }

  start(_connections: readonly Connection[], counts: Tally, now: number): void {
    this.#counts = counts
    // Half a gap from the window's edges, so that rounding cannot move a request across one.
    this.#start = now + this.#gap / 2
    this.#total = Math.round((counts.until - now) / this.#gap)
    this.#pace()
  }

  outstanding(): number {
    return this.#total - this.#ended
  }

  abandon(connections: readonly Connection[], now: number): void {
    for (const { waitingSince } of connections) {
      if (waitingSince !== undefined) this.#counts!.unanswered(waitingSince, now)
    }
    for (; this.#sent < this.#total; this.#sent++) this.#counts!.unanswered(this.#dueAt(this.#sent), now)
  }

  readonly #pace = (): void => {
    const now = performance.now()
    const due = Math.min(this.#total, Math.floor((now - this.#start) / this.#gap) + 1)
    for (; this.#due < due; this.#due++) {
      const begin = this.#dueAt(this.#due)
      if (begin >= this.#counts!.from) this.lateness.record(now - begin)
    }
    while (this.#sent < this.#due) {
      const connection = this.#idle.shift()
      if (!connection) break
      connection.queued = false
      // It was cut while it waited, and queues again when it is back.
      if (!connection.idle) continue
      this.#send(connection)
    }
    if (this.#due === this.#total) return
    const wait = this.#dueAt(this.#due) - now - TIMER_SLACK
    if (wait >= 1) setTimeout(this.#pace, wait)
    else setImmediate(this.#pace)
  }

  #send(connection: Connection): void {
    connection.send(this.#next(), this.#dueAt(this.#sent++))
  }

  #dueAt(index: number): number {
    return this.#start + index * this.#gap
  }
}
