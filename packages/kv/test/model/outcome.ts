import type { WriteIdentity } from './history.ts'
import type { Expiry, Space } from './space.ts'

/** Change that a watch stream must show. */
export interface VisibleChange {
  readonly op: 'put' | 'delete' | 'expire'
  readonly key: string
  readonly value?: Buffer
  readonly expiry?: Expiry
  /** True if the stream may omit the change, depending on when the previous value expired. */
  readonly isOptional?: boolean
  /** Request of the change. Changes of one request take effect together. */
  readonly request: WriteIdentity
}

/** Outcome that the contract allows for a request: the reply and the state after it. */
export interface Outcome {
  readonly status: number
  /** Code of the problem, if the reply is a problem. */
  readonly code?: string
  /** Body of the reply, if it is not a problem. */
  readonly body?: Buffer
  /** Write whose ETag the reply has. */
  readonly tagged?: WriteIdentity
  readonly contentLength?: number
  /** Expiry in the body; null if the value never expires. */
  readonly expiry?: Expiry | null
  readonly space: Space
  readonly changes: readonly VisibleChange[]
  /** Called if the reply has this outcome. */
  readonly onMatch?: () => void
}
