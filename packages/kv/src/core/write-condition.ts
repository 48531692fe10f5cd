import type { Preconditions as HttpCondition } from '@influencer-stats/runtime/conditions'

/** Condition on the present value, which a write needs to take effect. */
export interface WriteCondition extends HttpCondition {
  /**
   * Expiry time that the key must have, in the past (ms since 1970). For the removal of expired values; excludes the
   * others.
   */
  readonly due?: number
}
