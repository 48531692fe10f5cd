import type { RawConnection, Loop } from './raw-connection.ts'
import type { ReadyRequest } from './request-bytes.ts'
import { Microseconds, type Tally } from './tally.ts'

/** A loop that a run starts and ends. Times are milliseconds of `performance.now()`. */
export interface DrivenLoop extends Loop {
  /** From here on requests are sent. */
  start(connections: readonly RawConnection[], counts: Tally, now: number): void
  /** Requests that are due or under way and have no reply yet. */
  outstanding(): number
  /** The end: gives up what is outstanding. */
  abandon(connections: readonly RawConnection[], now: number): void
}

/** Takes requests in turn. */
function inTurn(requests: readonly ReadyRequest[]): () => ReadyRequest {
  let next = -1
  return () => {
    next = next + 1 === requests.length ? 0 : next + 1
    return requests[next]!
  }
}

/** Each connection sends when it has its reply, until the window ends. */
export function createClosedLoop(requests: readonly ReadyRequest[]): DrivenLoop {
  const next = inTurn(requests)
  let counts: Tally | undefined
  let under = 0

  function send(connection: RawConnection, now: number): void {
    if (counts === undefined || now >= counts.until) return
    under++
    connection.send(next(), now)
  }

  return {
    idle: send,
    answered(begin, now, right) {
      under--
      counts!.answered(begin, now, right)
    },
    lost(begin) {
      under--
      counts!.lost(begin)
    },
    // A request that could not even be begun.
    refused: (now) => counts?.lost(now),
    start(connections, tally, now) {
      counts = tally
      for (const connection of connections) if (connection.idle) send(connection, now)
    },
    outstanding: () => under,
    abandon(connections, now) {
      for (const { waitingSince } of connections) {
        if (waitingSince !== undefined) counts!.unanswered(waitingSince, now)
      }
    },
  }
}

/**
 * A timer comes up to 1.1 ms late, so it is set for this long (ms) before a request is due; the rest is spent in turns
 * of the event loop, which look at the clock and at the sockets every 2 us.
 */
const TIMER_SLACK = 1.2

/**
 * Request `i` is due at `start + i / rate`, whatever became of those before it. It goes to the connection that has been
 * idle longest (so all of them are kept alive, and all threads of the server are asked alike), or waits for one.
 */
export class OpenLoop implements DrivenLoop {
  /** How late requests were sent although a connection was idle: the generator's own fault. */
  readonly lateness = new Microseconds()
  readonly #next: () => ReadyRequest
  /** Milliseconds from one request to the next. */
  readonly #gap: number
  #counts!: Tally
  readonly #idle: RawConnection[] = []
  #start = Infinity
  #total = 0
  /** Requests that have come due; they are sent in order, so the rest of the queue is only a number. */
  #due = 0
  #sent = 0
  #ended = 0

  constructor(requests: readonly ReadyRequest[], rate: number) {
    this.#next = inTurn(requests)
    this.#gap = 1000 / rate
  }

  idle(connection: RawConnection): void {
    if (this.#sent < this.#due) this.#send(connection)
    else if (!connection.queued) {
      connection.queued = true
      this.#idle.push(connection)
    }
  }

  answered(begin: number, now: number, right: boolean): void {
    this.#ended++
    this.#counts.answered(begin, now, right)
  }

  lost(begin: number): void {
    this.#ended++
    this.#counts.lost(begin)
  }

  /** What is due waits for a connection, so nothing is lost yet. */
  refused(): void {}

  start(_connections: readonly RawConnection[], counts: Tally, now: number): void {
    this.#counts = counts
    // Half a gap from the window's edges, so that rounding cannot move a request across one.
    this.#start = now + this.#gap / 2
    this.#total = Math.round((counts.until - now) / this.#gap)
    this.#pace()
  }

  outstanding(): number {
    return this.#total - this.#ended
  }

  abandon(connections: readonly RawConnection[], now: number): void {
    for (const { waitingSince } of connections) {
      if (waitingSince !== undefined) this.#counts.unanswered(waitingSince, now)
    }
    for (; this.#sent < this.#total; this.#sent++) this.#counts.unanswered(this.#dueAt(this.#sent), now)
  }

  readonly #pace = (): void => {
    const now = performance.now()
    this.#due = Math.min(this.#total, Math.max(0, Math.floor((now - this.#start) / this.#gap) + 1))
    while (this.#sent < this.#due) {
      const connection = this.#idle.shift()
      if (!connection) break
      connection.queued = false
      // It was cut while it waited, and queues again when it is back.
      if (!connection.idle) continue
      const begin = this.#dueAt(this.#sent)
      if (begin >= this.#counts.from) this.lateness.record(now - begin)
      this.#send(connection)
    }
    if (this.#due === this.#total) return
    const wait = this.#dueAt(this.#due) - now - TIMER_SLACK
    if (wait >= 1) setTimeout(this.#pace, wait)
    else setImmediate(this.#pace)
  }

  #send(connection: RawConnection): void {
    connection.send(this.#next(), this.#dueAt(this.#sent++))
  }

  #dueAt(index: number): number {
    return this.#start + index * this.#gap
  }
}
