import type { StandInState } from './messages.ts'
import type { Meter } from './meter.ts'

/** The state that the routes of one thread use. */
export interface ThreadState {
  /** The state that all threads share; each message from the main thread replaces it as a whole. */
  state: StandInState
  readonly meter: Meter
  /** Returns the stand-in's time (ms since 1970), which determines the counts. */
  now(): number
}

export function createThreadState(state: StandInState, meter: Meter): ThreadState {
  const thread: ThreadState = { state, meter, now: () => thread.state.frozenAt ?? Date.now() }
  return thread
}
