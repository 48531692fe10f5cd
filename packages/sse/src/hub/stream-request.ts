import type { ReadScope } from '../core/read-scope.ts'
import type { Selectors } from '../core/selectors.ts'
import type { Encoder } from '../encoder/encoder.ts'

/** Options of one stream, from its request. */
export interface StreamRequest {
  readonly encoder: Encoder
  /** True if the client is the EventSource of a browser. See `Encoder.encodePosition`. */
  readonly isEventSource?: boolean
  readonly selectors: Selectors
  readonly reader: ReadScope
  /** True if the stream begins with each topic's current value. It has no effect on a stream that resumes. */
  readonly last: boolean
  /**
   * Sequence number of the last event that the client received before it lost its stream. `NaN` if this broadcaster
   * does not know the client's event id; undefined for a new stream.
   */
  readonly resumeAfter: number | undefined
  /** The head of the reply reports that events up to this sequence number may be lost. */
  readonly lostUpTo?: number
  /** Expiry of the client's token (ms since 1970). */
  readonly expiresAt?: number
  /** The client for which the patterns of the selectors count. */
  readonly client?: string
}
