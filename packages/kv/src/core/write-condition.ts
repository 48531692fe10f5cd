import type { Preconditions as HttpCondition } from '@influencer-stats/runtime/conditions'

/** What must be true of the value that is there for a write to happen. */
export interface WriteCondition extends HttpCondition {
  /** It is to have expired at this time (ms since 1970): what takes away what has. Then there is nothing else. */
  readonly due?: number
}
