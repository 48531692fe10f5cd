/** How a node of many stands to the others. */
export interface NodeState {
  /** Whether it is the one that asks YouTube. */
  readonly polling: boolean
  /** The place in the log up to which it has applied it. */
  readonly applied: number
  /** Places that are known to exist and are not applied yet. */
  readonly lag: number
  /** For how long it has not had all of the log, as far as it can tell (s). */
  readonly silence: number
}
