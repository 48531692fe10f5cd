import type { StandInState } from './messages.ts'
import { World } from './world/world.ts'
import type { Meter } from './meter.ts'

/** The state that the routes of one thread use. */
export interface ThreadState {
  /** The state that all threads share; each message from the main thread replaces it as a whole. */
  state: StandInState
  /** Its videos, channels and playlists. Replaced with the state. */
  readonly world: World
  readonly meter: Meter
  /** Returns the stand-in's time (ms since 1970), which determines the counts. */
  now(): number
}

export function createThreadState(state: StandInState, meter: Meter): ThreadState {
  let world = new World(state)
  let worldState = state
  const thread: ThreadState = {
    state,
    get world() {
      if (worldState !== thread.state) [world, worldState] = [new World(thread.state), thread.state]
      return world
    },
    meter,
    now: () => thread.state.frozenAt ?? Date.now(),
  }
  return thread
}
