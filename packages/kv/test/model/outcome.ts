import type { WriteIdentity } from './history.ts'
import type { Expiry, Space } from './space.ts'

/** A change that a stream of changes must show. */
export interface VisibleChange {
  readonly op: 'put' | 'delete' | 'expire'
  readonly key: string
  readonly value?: Buffer
  readonly expiry?: Expiry
  /** Whether it is shown depends on when the value there expired. */
  readonly isOptional?: boolean
  /** Changes of one request take effect together. */
  readonly request: WriteIdentity
}

/** What the contract allows a request to do: the reply, and the state after it. */
export interface Outcome {
  readonly status: number
  /** Of the problem, where the reply is one. */
  readonly code?: string
  /** Of the reply, where it is not a problem. */
  readonly body?: Buffer
  /** The write whose ETag the reply has. */
  readonly tagged?: WriteIdentity
  readonly contentLength?: number
  /** What the body tells of when the value expires; null: never. */
  readonly expiry?: Expiry | null
  readonly space: Space
  readonly changes: readonly VisibleChange[]
  /** Called where the reply has this outcome. */
  readonly onMatch?: () => void
}
