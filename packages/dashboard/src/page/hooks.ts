import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { ServiceError } from '@influencer-stats/runtime/service-error'
import { describeError } from './api.ts'
import { notifySignInNeeded } from './page-state.ts'

export interface LoadState<T> {
  readonly value?: T
  readonly fault?: string
  /** Of what went wrong, where a service said so. */
  readonly code?: string
  /** Whether it is on its way. */
  readonly isLoading: boolean
  reload(): void
}

/** A read that takes longer is lost: the next one does not wait for its end (ms). */
const MAX_READ_MS = 30_000

/** A read in progress. */
interface CurrentRead {
  readonly startedAt: number
  /** Whether another read has to follow, since a change may be newer than this one. */
  isOutdated: boolean
}

/**
 * Reads something whenever `keys` change, and when told to. What was read stays until there is something newer. A reload does
 * not discard a read in progress but follows it: otherwise nothing would arrive where reloads come faster than replies.
 */
export function useLoaded<T>(read: () => Promise<T>, keys: readonly unknown[]): LoadState<T> {
  const [state, setState] = useState<Omit<LoadState<T>, 'reload'>>({ isLoading: true })
  const current = useRef<CurrentRead>(undefined)
  const load = useCallback(() => {
    if (current.current && performance.now() - current.current.startedAt < MAX_READ_MS) {
      current.current.isOutdated = true
      return
    }
    const own: CurrentRead = { startedAt: performance.now(), isOutdated: false }
    current.current = own
    setState((before) => ({ ...before, isLoading: true }))
    function end(change: (before: Omit<LoadState<T>, 'reload'>) => Omit<LoadState<T>, 'reload'>): void {
      if (own !== current.current) return
      current.current = undefined
      setState(change)
      if (own.isOutdated) load()
    }
    read().then(
      (value) => end(() => ({ value, isLoading: false })),
      (error) => {
        if (own === current.current && isSignInNeeded(error)) notifySignInNeeded()
        end(({ value }) => ({ value, fault: describeError(error), ...getCode(error), isLoading: false }))
      },
    )
  }, keys)
  useEffect(() => {
    load()
    return () => void (current.current = undefined)
  }, [load])
  return { ...state, reload: load }
}

const getCode = (error: unknown) => (error instanceof ServiceError ? { code: error.code } : {})
const isSignInNeeded = (error: unknown) => error instanceof ServiceError && error.code === 'SIGN_IN_NEEDED'

/** A change under way: what it says went wrong, and whether it is still to be waited for. */
export function useChange(): {
  readonly fault: string | undefined
  readonly isBusy: boolean
  run(change: () => Promise<unknown>): Promise<boolean>
} {
  const [state, setState] = useState<{ fault?: string; isBusy: boolean }>({ isBusy: false })
  async function run(change: () => Promise<unknown>): Promise<boolean> {
    setState({ isBusy: true })
    try {
      await change()
      setState({ isBusy: false })
      return true
    } catch (error) {
      if (isSignInNeeded(error)) notifySignInNeeded()
      setState({ fault: describeError(error), isBusy: false })
      return false
    }
  }
  return { fault: state.fault, isBusy: state.isBusy, run }
}

const CLOCK_INTERVAL_MS = 5_000
const clocks = new Set<(now: number) => void>()
setInterval(() => {
  const now = Date.now()
  for (const tell of clocks) tell(now)
}, CLOCK_INTERVAL_MS)

/** The time, told again every 5 s: to all who ask at once, so that hundreds are one piece of work. */
export function useNow(): number {
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    clocks.add(setNow)
    return () => void clocks.delete(setNow)
  }, [])
  return now
}

/** The page's title while a screen is shown. */
export function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · Influencer Stats`
  }, [title])
}
