import type { Faults } from './core/faults.ts'
import type { WorldState } from './world/world.ts'
import type { Addition, ChannelFlags } from './world/world-changes.ts'

/** The state that all threads share. The main thread owns it. */
export interface StandInState extends WorldState {
  /** The time of a frozen clock (ms since 1970); undefined while it runs. */
  readonly frozenAt?: number
}

/** Messages from threads to the main thread. A call returns when every thread has the new state. */
export type YoutubeMainMessage = {
  setFaults(faults: Faults): void
  setClock(frozenAt: number | undefined): void
  /** @param now time of the videos that state none (ms since 1970) */
  addVideos(addition: Addition, now: number): void
  clearAdditions(): void
  setChannels(channels: ChannelFlags): void
}

/** Messages from the main thread to all threads. */
export type YoutubeThreadMessage = {
  changed(state: StandInState): void
}

/** The data with which a thread starts. */
export interface YoutubeSharedState {
  /** Counts and quota of all threads: see `Meter`. */
  readonly meter: SharedArrayBuffer
  readonly state: StandInState
}
