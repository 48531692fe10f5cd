/** How a node of many stands to the others. */
export interface NodeState {
  /** Whether it is the one that asks YouTube. */
  readonly polling: boolean
  /** Origin of the cluster's numbers. Absent until a node has recorded it. */
  readonly source?: string
  /** Present if this node's own source differs from the cluster's: the node never polls. */
  readonly sourceMismatch?: { readonly node: string; readonly log: string }
  /** The place in the log up to which it has applied it. */
  readonly applied: number
  /** Places that are known to exist and are not applied yet. */
  readonly lag: number
  /** For how long it has not had all of the log, as far as it can tell (s). */
  readonly silence: number
}
