/** State of a node in its cluster. */
export interface NodeState {
  /** True if this node calls YouTube. */
  readonly polling: boolean
  /** Origin of the cluster's numbers. Absent until a node has recorded it. */
  readonly source?: string
  /** Present if this node's own source differs from the cluster's: the node never polls. */
  readonly sourceMismatch?: { readonly node: string; readonly log: string }
  /** Sequence of the last entry that it applied. */
  readonly applied: number
  /** Difference between the last known sequence of the log and `applied`. */
  readonly lag: number
  /** Time since the node last knew that it had applied every entry. */
  readonly stalenessSeconds: number
}
