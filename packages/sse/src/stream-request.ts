import type { Encoder } from './encoder/encoder.ts'

/** What a stream is to be. */
export interface StreamRequest {
  readonly encoder: Encoder
  /** Without doubles. */
  readonly topics: readonly string[]
  /** Begin with each topic's current value. */
  readonly last: boolean
  /** Where the client was when it lost its stream; `NaN` if that is not known here. */
  readonly resumeAfter: number | undefined
}
