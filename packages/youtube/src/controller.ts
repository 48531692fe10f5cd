import type { CallHandlers } from '@influencer-stats/runtime/channel'
import { toPacificDay } from '@influencer-stats/runtime/pacific-time'
import type { StandInState, YoutubeMainMessage } from './messages.ts'
import { mergeAddition } from './world/world-changes.ts'
import type { Meter } from './meter.ts'

export interface ControllerOptions {
  readonly meter: Meter
  /** Calls per day; 0 for no limit. */
  readonly quota: number
  /** Sends the state to all threads. Resolves when every thread has it. */
  broadcast(state: StandInState): Promise<unknown>
}

const DAY_CHECK_INTERVAL_MS = 60_000

/** Creates the main thread's controller: it owns the state that all threads share, and resets the quota every day. */
export function createController({ meter, quota, broadcast }: ControllerOptions) {
  let state: StandInState = { faults: {}, uploads: [], items: [], channels: {} }
  let day = toPacificDay(Date.now())

  const fillQuota = () => meter.setQuota(state.faults.quotaLeft ?? (quota || undefined))

  async function updateState(next: Partial<StandInState>): Promise<void> {
    state = { ...state, ...next }
    await broadcast(state)
  }

  const timer = setInterval(() => {
    const today = toPacificDay(Date.now())
    if (today === day) return
    day = today
    // A quota that was set as a fault is not reset: the test that set it relies on it.
    if (state.faults.quotaLeft === undefined) fillQuota()
  }, DAY_CHECK_INTERVAL_MS).unref()
  fillQuota()

  const handlers: CallHandlers<YoutubeMainMessage> = {
    setFaults(faults) {
      const done = updateState({ faults })
      meter.resetFaultIndex()
      fillQuota()
      return done
    },
    setClock: (frozenAt) => updateState({ frozenAt }),
    addVideos: (addition, now) => updateState(mergeAddition(state, addition, now)),
    clearAdditions: () => updateState({ uploads: [], items: [] }),
    setChannels: (channels) => updateState({ channels }),
  }
  return { getState: () => state, handlers, close: () => clearInterval(timer) }
}
