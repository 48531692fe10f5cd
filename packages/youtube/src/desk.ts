import type { State } from './messages.ts'
import type { Meter } from './meter.ts'

/** What one thread's routes work with. */
export interface Desk {
  /** What all threads agree on; replaced as a whole when main says so. */
  state: State
  readonly meter: Meter
  /** The stand-in's time (ms since 1970), by which figures grow. */
  now(): number
}

export function createDesk(state: State, meter: Meter): Desk {
  const desk: Desk = { state, meter, now: () => desk.state.frozenAt ?? Date.now() }
  return desk
}
