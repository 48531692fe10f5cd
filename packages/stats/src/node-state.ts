/** How a node of many stands to the others. */
export interface NodeState {
  /** Whether it is the one that asks YouTube. */
  readonly polling: boolean
  /** Where the numbers of the cluster come from; absent until a node has said so. */
  readonly source?: string
  /** There if this node's own source is another: it never asks YouTube. */
  readonly sourceMismatch?: { readonly node: string; readonly log: string }
  /** The place in the log up to which it has applied it. */
  readonly applied: number
  /** Places that are known to exist and are not applied yet. */
  readonly lag: number
  /** For how long it has not had all of the log, as far as it can tell (s). */
  readonly silence: number
}
