import type { Faults } from './core/faults.ts'

/** What every thread must agree on. Main owns it. */
export interface StandInState {
  readonly faults: Faults
  /** The time at which the clock stands still (ms since 1970); nothing while it runs. */
  readonly frozenAt?: number
}

/** What threads ask of main. The call returns once every thread has the new state. */
export type YoutubeMainMessage = {
  setFaults(faults: Faults): void
  setClock(frozenAt: number | undefined): void
}

/** What main tells all threads. */
export type YoutubeThreadMessage = {
  changed(state: StandInState): void
}

/** What a thread is started with. */
export interface YoutubeSharedState {
  /** Counts and quota of all threads: see `createMeter`. */
  readonly meter: SharedArrayBuffer
  readonly state: StandInState
}
