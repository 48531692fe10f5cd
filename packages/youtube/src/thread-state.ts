import type { StandInState } from './messages.ts'
import type { Meter } from './meter.ts'

/** What the routes of one thread work with. */
export interface ThreadState {
  /** What all threads agree on; replaced as a whole when main says so. */
  state: StandInState
  readonly meter: Meter
  /** The stand-in's time (ms since 1970), by which figures grow. */
  now(): number
}

export function createThreadState(state: StandInState, meter: Meter): ThreadState {
  const thread: ThreadState = { state, meter, now: () => thread.state.frozenAt ?? Date.now() }
  return thread
}
