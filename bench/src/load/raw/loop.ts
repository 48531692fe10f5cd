import type { RawConnection } from './connection.ts'
import type { ReadyRequest } from '../requests/request-bytes.ts'
import type { Tally } from '../common/tally.ts'

/** What decides when requests are sent. Times are milliseconds of `performance.now()`. */
export interface Loop {
  /** From here on requests are sent. */
  start(connections: readonly RawConnection[], counts: Tally, now: number): void
  /** A connection can take a request. */
  idle(connection: RawConnection, now: number): void
  /** The request that began then has its reply. */
  answered(begin: number, now: number, right: boolean): void
  /** The request that began then was cut or answered with nonsense. */
  lost(begin: number): void
  /** Nobody took a connection, or bytes came on it that nobody had asked for. */
  failed(now: number): void
  /** Requests that are due or under way and have no reply yet. */
  outstanding(): number
  /** The end: gives up what is outstanding. */
  abandon(connections: readonly RawConnection[], now: number): void
}

/** Takes requests in turn. */
export function inTurn(requests: readonly ReadyRequest[]): () => ReadyRequest {
  let next = -1
  return () => {
    next = next + 1 === requests.length ? 0 : next + 1
    return requests[next]!
  }
}
