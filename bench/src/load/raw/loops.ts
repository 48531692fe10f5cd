import { runAtPace } from '../common/pace.ts'
import { LatencyHistogram, type LoadTally } from '../common/tally.ts'
import type { ReadyRequest } from '../requests/request-bytes.ts'
import type { LoadLoop, RawConnection } from './raw-connection.ts'

/** Returns the next request of a connection. @param begin time from which its latency counts (ms) */
export type NextRequest = (connection: RawConnection, begin: number) => ReadyRequest

/** Creates a source that returns requests in turn. */
export function createRoundRobin(requests: readonly ReadyRequest[]): NextRequest {
  let next = -1
  return () => {
    next = next + 1 === requests.length ? 0 : next + 1
    return requests[next]!
  }
}

/** Base class of the loops, which counts the results of requests. */
abstract class CountingLoop implements LoadLoop {
  protected readonly next: NextRequest
  protected counts: LoadTally | undefined
  protected sent = 0
  protected ended = 0
  #lastReplyAt = 0

  constructor(next: NextRequest) {
    this.next = next
  }

  abstract onIdle(connection: RawConnection, now: number): void

  /** Time of the last reply (ms of `performance.now()`). */
  get lastReplyAt(): number {
    return this.#lastReplyAt
  }

  onReply(begin: number, now: number, right: boolean): void {
    this.ended++
    this.#lastReplyAt = now
    this.counts!.recordReply(begin, now, right)
  }

  onLost(begin: number): void {
    this.ended++
    this.counts!.recordLost(begin)
  }

  /** Counts a failed connection as an error. No request was lost with it. */
  onFailed(now: number): void {
    this.counts?.recordLost(now)
  }

  /** Ends the run. Outstanding requests count as unanswered. */
  abandon(connections: readonly RawConnection[], now: number): void {
    for (const { waitingSince, outstanding } of connections) {
      for (let i = 0; i < outstanding; i++) this.counts!.recordUnanswered(waitingSince!, now)
    }
  }
}

/** Each connection sends a request (or `pipeline` requests) as soon as it has all replies, until the window ends. */
export class ClosedLoop extends CountingLoop {
  readonly #pipeline: number

  constructor(next: NextRequest, pipeline = 1) {
    super(next)
    this.#pipeline = pipeline
  }

  /** Starts sending. */
  start(connections: readonly RawConnection[], counts: LoadTally, now: number): void {
    this.counts = counts
    for (const connection of connections) if (connection.idle) this.onIdle(connection, now)
  }

  onIdle(connection: RawConnection, now: number): void {
    if (this.counts === undefined || now >= this.counts.until) return
    this.sent += this.#pipeline
    const request = this.next(connection, now)
    if (this.#pipeline === 1) return connection.send(request, now)
    connection.send(
      request,
      now,
      Array.from({ length: this.#pipeline - 1 }, () => this.next(connection, now)),
    )
  }

  /** Number of outstanding requests. */
  countOutstanding(): number {
    return this.sent - this.ended
  }
}

/** Options of an open loop. */
interface OpenLoopOptions {
  /** The connection that is used, if several are idle. */
  readonly first?: 'idle longest' | 'freed last'
  /** True to use no processor time until a request is due. */
  readonly sleeps?: boolean
}

/**
 * Request `i` is due at `start + i / rate`, regardless of earlier requests. By default it uses the connection that has
 * been idle for the longest time, or waits for a connection. So all connections stay alive, and all threads of the
 * server get an equal load.
 */
export class OpenLoop extends CountingLoop {
  /** Delay with which the loop noticed due requests, which is part of their latency. */
  readonly lateness = new LatencyHistogram()
  /** Times within the measured window: the sleep of timers, and the turns of the event loop without an event (ms). */
  #sleptTime = 0
  #emptyTime = 0
  /** Interval between requests (ms). */
  readonly #gap: number
  readonly #dequeueMethod: 'shift' | 'pop'
  readonly #sleeps: boolean
  readonly #idle: RawConnection[] = []
  #start = Infinity
  #total = 0
  /** Number of requests that have become due. Requests are sent in order, so the difference to `sent` is the queue. */
  #due = 0
  /** End of the last turn of `runAtPace`, and the number of requests sent and replies received until then. */
  #turnEnd = Infinity
  #turnEvents = 0

  /** @param rate requests per second */
  constructor(next: NextRequest, rate: number, { first = 'idle longest', sleeps = false }: OpenLoopOptions = {}) {
    super(next)
    this.#sleeps = sleeps
    this.#gap = 1000 / rate
    this.#dequeueMethod = first === 'freed last' ? 'pop' : 'shift'
  }

  start(_connections: readonly RawConnection[], counts: LoadTally, now: number): void {
    this.counts = counts
    // The first request is half an interval after the start of the window. So rounding cannot move a request out of the
    // window.
    this.#start = now + this.#gap / 2
    this.#total = Math.round((counts.until - now) / this.#gap)
    void runAtPace(
      this.#total,
      this.#gap,
      this.#start,
      (index, due) => {
        this.#due = index + 1
        if (due >= counts.from) this.lateness.record(performance.now() - due)
        this.#sendDue()
      },
      this.#sleeps,
      (at, until) => this.#countTurn(at, until),
    )
  }

  onIdle(connection: RawConnection): void {
    if (this.sent < this.#due) this.#send(connection)
    else if (!connection.queued) {
      connection.queued = true
      this.#idle.push(connection)
    }
  }

  /** Number of requests without a reply, including those that are not due. */
  countOutstanding(): number {
    return this.#total - this.ended
  }

  /**
   * Returns the share of the measured window in which the loop was idle; undefined with `sleeps`.
   * @param cpu processor share of the generator; time in which other programs used the processor is not idle time
   */
  getIdleShare(cpu: number): number | undefined {
    if (this.#sleeps) return undefined
    const window = this.counts!.until - this.counts!.from
    const taken = Math.max(0, window - this.#sleptTime - cpu * window)
    return (this.#sleptTime + Math.max(0, this.#emptyTime - taken)) / window
  }

  override abandon(connections: readonly RawConnection[], now: number): void {
    super.abandon(connections, now)
    for (; this.sent < this.#total; this.sent++) this.counts!.recordUnanswered(this.#getDueTime(this.sent), now)
  }

  /**
   * Counts the time of one turn of the event loop. The turn is empty if nothing was sent or received. It takes about
   * 1.2 us, or longer if the processor has other work.
   */
  #countTurn(now: number, until: number): void {
    const events = this.sent + this.ended
    if (now >= this.counts!.from) {
      if (events === this.#turnEvents) this.#emptyTime += Math.max(0, now - this.#turnEnd)
      this.#sleptTime += until - now
    }
    this.#turnEnd = until
    this.#turnEvents = events
  }

  #sendDue(): void {
    while (this.sent < this.#due) {
      const connection = this.#idle[this.#dequeueMethod]()
      if (!connection) return
      connection.queued = false
      // A connection that was cut while it was idle is queued again after it reconnects.
      if (connection.idle) this.#send(connection)
    }
  }

  #send(connection: RawConnection): void {
    const due = this.#getDueTime(this.sent++)
    connection.send(this.next(connection, due), due)
  }

  #getDueTime(index: number): number {
    return this.#start + index * this.#gap
  }
}
