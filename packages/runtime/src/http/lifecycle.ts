/** Phase of a serving thread. Only the runtime changes it. */
export interface Lifecycle {
  /** From `draining` on, the last reply of each connection ends it. */
  phase: 'starting' | 'empty' | 'ready' | 'draining'
  /**
   * Set by an app that has nothing to read yet: the phase after `starting` is `empty` until it resolves. All requests
   * are refused meanwhile, except those for the state of the service.
   */
  whenReadable?: Promise<void>
  /**
   * Aborted when a draining thread stops listening. Code that holds replies open must end them then; otherwise the drain
   * waits for them. Clients that reconnect then reach another process.
   */
  readonly drain: AbortSignal
}
