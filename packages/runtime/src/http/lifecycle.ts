/** Phase of a serving thread. Only the runtime changes it. */
export interface Lifecycle {
  phase: 'starting' | 'ready' | 'draining'
  /**
   * Aborted when the drain begins. Code that holds replies open must end them then; otherwise the drain waits for them.
   */
  readonly drain: AbortSignal
}
