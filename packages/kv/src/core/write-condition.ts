import type { Preconditions as HttpCondition } from '@influencer-stats/runtime/conditions'

/** Condition on the present value. If it does not hold, the write has no effect. */
export interface WriteCondition extends HttpCondition {
  /**
   * For the removal of an expired value, without other conditions: the key must have this expiry time (ms since 1970),
   * and the time must have passed.
   */
  readonly due?: number
}
