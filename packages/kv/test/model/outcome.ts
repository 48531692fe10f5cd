import type { WriteIdentity } from './history.ts'
import type { ExpiryInterval, KeySpace } from './key-space.ts'

/** Change that a watch stream must show. */
export interface VisibleChange {
  readonly op: 'put' | 'delete' | 'expire'
  readonly key: string
  readonly value?: Buffer
  readonly expiry?: ExpiryInterval
  /** True if the stream may omit the change, depending on when the previous value expired. */
  readonly isOptional?: boolean
  /** Request of the change. Changes of one request take effect together. */
  readonly request: WriteIdentity
}

/** State after a reply that matches it. */
export interface ModelMatch {
  readonly space: KeySpace
  /** Notes which entries the reply shows to be present or absent. Called if no other state and outcome match the reply. */
  readonly onMatch?: () => void
}

/** Outcome that the contract allows for a request: the reply and the state after it. */
export interface ModelOutcome extends ModelMatch {
  readonly status: number
  /** Code of the problem, if the reply is a problem. */
  readonly code?: string
  /** Body of the reply, if it is not a problem. */
  readonly body?: Buffer
  /** Write whose ETag the reply has. */
  readonly tagged?: WriteIdentity
  readonly contentLength?: number
  /** Expiry in the body; null if the value never expires. */
  readonly expiry?: ExpiryInterval | null
  readonly changes: readonly VisibleChange[]
}
