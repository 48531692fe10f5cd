import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { ServiceError } from '@influencer-stats/runtime/service-error'
import { describeError } from './api.ts'
import { notifySignInNeeded } from './page-state.ts'

export interface LoadState<T> {
  readonly value?: T
  readonly fault?: string
  /** Error code, if a service returned one. */
  readonly code?: string
  /** True while a read is in progress. */
  readonly isLoading: boolean
  reload(): void
}

/** A read that takes longer counts as lost (ms): the next read does not wait for it. */
const MAX_READ_MS = 30_000

/** A read in progress. */
interface CurrentRead {
  readonly startedAt: number
  /** True if another read must follow, because a change may be newer than this read. */
  isOutdated: boolean
}

/**
 * Reads a value when `keys` change, and on `reload()`. The value remains until a newer one arrives. A reload does not
 * discard a read in progress but follows it: otherwise no value would arrive if reloads were more frequent than replies.
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

/** A change that the user requested, with its fault and its progress. */
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
  for (const update of clocks) update(now)
}, CLOCK_INTERVAL_MS)

/** The time, updated every 5 s. All users of this hook update together, so that hundreds of them render once. */
export function useNow(): number {
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    clocks.add(setNow)
    return () => void clocks.delete(setNow)
  }, [])
  return now
}

/** Sets the title of the page while a screen is shown. */
export function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · Influencer Stats`
  }, [title])
}
