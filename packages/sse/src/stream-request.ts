import type { ReadScope } from './core/read-scope.ts'
import type { Selectors } from './core/selectors.ts'
import type { Encoder } from './encoder/encoder.ts'

/** What a stream is to be. */
export interface StreamRequest {
  readonly encoder: Encoder
  readonly selectors: Selectors
  readonly reader: ReadScope
  /** Begin with each topic's current value. */
  readonly last: boolean
  /** Where the client was when it lost its stream; `NaN` if that is not known here. */
  readonly resumeAfter: number | undefined
  /** The client was told otherwise that what came up to here may be lost. */
  readonly lostUpTo?: number
  /** Its token holds until then (ms since 1970). */
  readonly expiresAt?: number
}
