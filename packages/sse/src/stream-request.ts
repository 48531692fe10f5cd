import type { ReadScope } from './core/read-scope.ts'
import type { Selectors } from './core/selectors.ts'
import type { Encoder } from './encoder/encoder.ts'

/** Options of a stream. */
export interface StreamRequest {
  readonly encoder: Encoder
  readonly selectors: Selectors
  readonly reader: ReadScope
  /** Begins with each topic's current value. */
  readonly last: boolean
  /** Position of the client when it lost its stream; `NaN` if this broadcaster does not know it. */
  readonly resumeAfter: number | undefined
  /** The client has learned by other means that events up to this sequence number may be lost. */
  readonly lostUpTo?: number
  /** Expiry of the client's token (ms since 1970). */
  readonly expiresAt?: number
}
