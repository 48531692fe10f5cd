import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { ServiceError } from '@influencer-stats/runtime/service-error'
import { describeError } from './api.ts'
import { Loader } from './core/loader.ts'
import { notifySignInNeeded } from './page-state.ts'

export interface LoadState<T> {
  readonly value: T | undefined
  /** Reason why the newest read failed. */
  readonly fault: string | undefined
  /** True while a read is in progress. */
  readonly isLoading: boolean
  reload(): void
}

/**
 * Reads the value of `keys`, again when one of `versions` changes, and on `reload()`. Other keys have another value: that
 * of the keys before is not returned. Otherwise the value remains until a newer one arrives.
 * @param versions the read must not depend on them
 */
export function useLoaded<T>(
  read: () => Promise<T>,
  keys: readonly unknown[],
  versions: readonly unknown[] = [],
): LoadState<T> {
  const loader = useMemo(() => new Loader(read), keys)
  const [, render] = useState({})
  useEffect(
    () =>
      loader.start((error) => {
        if (isSignInNeeded(error)) notifySignInNeeded()
        render({})
      }),
    [loader],
  )
  useEffect(loader.reload, [loader, ...versions])
  const { value, error, isLoading } = loader.state
  return { value, fault: error === undefined ? undefined : describeError(error), isLoading, reload: loader.reload }
}

/** The last defined value: it remains while the value of other keys is read. */
export function useLast<T>(value: T | undefined): T | undefined {
  const last = useRef<T>(undefined)
  if (value !== undefined) last.current = value
  return last.current
}

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
