import type { Handlers } from '@influencer-stats/runtime/channel'
import { pacificDay } from '@influencer-stats/runtime/pacific-time'
import type { State, ToMain } from './messages.ts'
import type { Meter } from './meter.ts'

export interface ControllerOptions {
  readonly meter: Meter
  /** Calls a day; 0 for no limit. */
  readonly quota: number
  /** Resolves once every thread has the state. */
  broadcast(state: State): Promise<unknown>
}

/** Main's side: owns the state that all threads share, and gives out the day's quota. */
export interface Controller {
  readonly state: State
  readonly handlers: Handlers<ToMain>
  close(): void
}

const LOOK_FOR_A_NEW_DAY_EVERY = 60_000

export function createController({ meter, quota, broadcast }: ControllerOptions): Controller {
  let state: State = { faults: {} }
  let day = pacificDay(Date.now())

  const fillQuota = () => meter.setQuota(state.faults.quotaLeft ?? (quota || undefined))

  async function change(next: Partial<State>): Promise<void> {
    state = { ...state, ...next }
    await broadcast(state)
  }

  const timer = setInterval(() => {
    const today = pacificDay(Date.now())
    if (today === day) return
    day = today
    // A quota that was set as a fault stays used up: whoever set it counts on it.
    if (state.faults.quotaLeft === undefined) fillQuota()
  }, LOOK_FOR_A_NEW_DAY_EVERY)
  timer.unref()
  fillQuota()

  return {
    get state() {
      return state
    },
    handlers: {
      setFaults(faults) {
        const done = change({ faults })
        meter.restartDraws()
        fillQuota()
        return done
      },
      setClock: (frozenAt) => change({ frozenAt }),
    },
    close: () => clearInterval(timer),
  }
}
