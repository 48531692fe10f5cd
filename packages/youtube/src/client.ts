import { toServiceError } from '@influencer-stats/runtime/service-error'
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

/**
 * A client for the control routes of the stand-in at `url`.
 * @param options.token needed for changes where the stand-in was started with an `API_TOKEN`
 */
export function createControl(url: string, options: { readonly token?: string } = {}): Control {
  const authorization = options.token ? { authorization: `Bearer ${options.token}` } : undefined

  async function ask<Answer>(method: string, path: string, body?: object): Promise<Answer> {
    const reply = await fetch(new URL(`/control/${path}`, url), {
      method,
      headers: { ...authorization, ...(body && { 'content-type': 'application/json' }) },
      body: body && JSON.stringify(body),
    })
    const text = await reply.text()
    if (!reply.ok) throw toServiceError(reply.status, text)
    return text === '' ? (undefined as Answer) : JSON.parse(text)
  }

  return {
    faults: () => ask('GET', 'faults'),
    setFaults: (faults) => ask('PUT', 'faults', faults),
    clearFaults: () => ask('DELETE', 'faults'),
    clock: () => ask('GET', 'clock'),
    freezeClock: (at) => ask('PUT', 'clock', { at }),
    releaseClock: () => ask('DELETE', 'clock'),
    counts: () => ask('GET', 'counts'),
    resetCounts: () => ask('DELETE', 'counts'),
  }
}
