import { createAsk, jsonOf, type ClientOptions } from '@influencer-stats/runtime/client'
import type { Faults } from './core/faults.ts'
import type { Counts } from './meter.ts'

export type { Counts, Faults }

/** The time by which figures grow. */
export interface ClockReading {
  /** ms since 1970 */
  readonly now: number
  readonly frozen: boolean
}

/** Controls a running stand-in; what that refuses rejects with a `ServiceError`. Each promise resolves when the change holds on all of its threads. */
export interface Control {
  faults(): Promise<Faults>
  /** Sets these faults and no others. */
  setFaults(faults: Faults): Promise<void>
  clearFaults(): Promise<void>
  clock(): Promise<ClockReading>
  /** Stops the clock. @param at ms since 1970; now if absent */
  freezeClock(at?: number): Promise<void>
  releaseClock(): Promise<void>
  counts(): Promise<Counts>
  resetCounts(): Promise<void>
}

/** A client for the control routes of the stand-in at `url`, in a browser or in Node. */
export function createControl(url: string, options: ClientOptions = {}): Control {
  const ask = createAsk(url, options)
  const read = <T>(what: string) => jsonOf<T>(ask('GET', `/control/${what}`))
  async function change(method: string, what: string, json?: object): Promise<void> {
    await (await ask(method, `/control/${what}`, { json })).text()
  }

  return {
    faults: () => read('faults'),
    setFaults: (faults) => change('PUT', 'faults', faults),
    clearFaults: () => change('DELETE', 'faults'),
    clock: () => read('clock'),
    freezeClock: (at) => change('PUT', 'clock', { at }),
    releaseClock: () => change('DELETE', 'clock'),
    counts: () => read('counts'),
    resetCounts: () => change('DELETE', 'counts'),
  }
}
