import { createRequester, readJson, type ClientOptions } from '@influencer-stats/runtime/service-client'
import type { Faults } from './core/faults.ts'
import type { Addition, Additions, ChannelFlags } from './world/world-changes.ts'
import type { CallCounts } from './meter.ts'

export type { Addition, Additions, CallCounts, ChannelFlags, Faults }

/** The stand-in's time, which determines the counts of videos. */
export interface ClockReading {
  /** ms since 1970 */
  readonly now: number
  readonly frozen: boolean
}

/**
 * Controls a running stand-in. A refusal rejects with a `ServiceError`. The promise of a change resolves when the change
 * is in effect on all threads.
 */
export interface StandInControl {
  /** Returns the active faults. `quotaLeft` is the remaining quota, even if it was not set as a fault. */
  getFaults(): Promise<Faults>
  /** Sets these faults and removes all others. */
  setFaults(faults: Faults): Promise<void>
  clearFaults(): Promise<void>
  getClock(): Promise<ClockReading>
  /**
   * Stops the clock.
   * @param at ms since 1970; now if absent
   */
  freezeClock(at?: number): Promise<void>
  releaseClock(): Promise<void>
  getCounts(): Promise<CallCounts>
  resetCounts(): Promise<void>
  getUploads(): Promise<Additions>
  /** Publishes videos on a channel, or adds videos to a playlist. A video with a future `at` appears at that time. */
  addUploads(addition: Addition): Promise<void>
  /** Removes all added videos. */
  clearUploads(): Promise<void>
  getChannels(): Promise<ChannelFlags>
  /** Replaces the lists of channels that hide their subscribers or are removed. */
  setChannels(flags: ChannelFlags): Promise<void>
  clearChannels(): Promise<void>
}

/** Creates a client for the control routes of the stand-in at `url`, in a browser or in Node. */
export function createControl(url: string, options: ClientOptions = {}): StandInControl {
  const request = createRequester(url, options)
  const read = <T>(resource: string) => readJson<T>(request('GET', `/control/${resource}`))
  async function sendChange(method: string, resource: string, json?: object): Promise<void> {
    await (await request(method, `/control/${resource}`, { json })).text()
  }

  return {
    getFaults: () => read('faults'),
    setFaults: (faults) => sendChange('PUT', 'faults', faults),
    clearFaults: () => sendChange('DELETE', 'faults'),
    getClock: () => read('clock'),
    freezeClock: (at) => sendChange('PUT', 'clock', { at }),
    releaseClock: () => sendChange('DELETE', 'clock'),
    getCounts: () => read('counts'),
    resetCounts: () => sendChange('DELETE', 'counts'),
    getUploads: () => read('uploads'),
    addUploads: (addition) => sendChange('PUT', 'uploads', addition),
    clearUploads: () => sendChange('DELETE', 'uploads'),
    getChannels: () => read('channels'),
    setChannels: (flags) => sendChange('PUT', 'channels', flags),
    clearChannels: () => sendChange('DELETE', 'channels'),
  }
}
