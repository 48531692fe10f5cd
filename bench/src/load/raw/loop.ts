import type { ReadyRequest } from '../requests/request-bytes.ts'
import type { Tally } from '../common/tally.ts'

/** What a loop sends requests on: it carries one, or one pipeline, at a time. */
export interface Connection {
  readonly idle: boolean
  /** Set by a loop that queues idle connections. */
  queued: boolean
  /** Since when (ms) its request has been under way, if there is one. */
  readonly waitingSince: number | undefined
  /** Requests under way. */
  readonly outstanding: number
  /** Sends a request, and others at once. @param begin what its latency is counted from (ms) */
  send(request: ReadyRequest, begin: number, others?: readonly ReadyRequest[]): void
}

/** What decides when requests are sent. Times are milliseconds of `performance.now()`. */
export interface Loop {
  /** From here on requests are sent. */
  start(connections: readonly Connection[], counts: Tally, now: number): void
  /** A connection can take a request. */
  idle(connection: Connection, now: number): void
  /** The request that began then has its reply. */
  answered(begin: number, now: number, right: boolean): void
  /** The request that began then was cut or answered with nonsense. */
  lost(begin: number): void
  /** Nobody took a connection, or bytes came on it that nobody had asked for. */
  failed(now: number): void
  /** Requests that are due or under way and have no reply yet. */
  outstanding(): number
  /** The end: gives up what is outstanding. */
  abandon(connections: readonly Connection[], now: number): void
}

/** Takes requests in turn. */
export function inTurn(requests: readonly ReadyRequest[]): () => ReadyRequest {
  let next = -1
  return () => {
    next = next + 1 === requests.length ? 0 : next + 1
    return requests[next]!
  }
}
