import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { ServiceError } from '@influencer-stats/runtime/service-error'
import { describeError, signInNeeded } from './api.ts'
import { toDayTime } from './core/prices/price-time.ts'
import { Listeners } from './listeners.ts'
import { Loader } from './loader.ts'

export interface LoadState<T> {
  readonly value: T | undefined
  /** Reason why the newest read failed. */
  readonly fault: string | undefined
  /** True while a read is in progress. */
  readonly isLoading: boolean
  reload(): void
}

/**
 * Reads a value when the component appears, when one of `keys` or `versions` changes, and on `reload()`. While the value of
 * changed keys is read, the result is undefined. During any other read the previous value remains.
 * @param keys identify the value, such as the id of a campaign
 * @param versions their changes mean that the value may have changed. `read` must not use them, because only a change of
 * `keys` replaces `read`
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
        checkSignIn(error)
        render({})
      }),
    [loader],
  )
  useEffect(loader.reload, [loader, ...versions])
  const { value, error, isLoading } = loader.state
  return { value, fault: error === undefined ? undefined : describeError(error), isLoading, reload: loader.reload }
}

/** The last defined value. With `useLoaded`, the old value thereby remains while the value of changed keys is read. */
export function useLast<T>(value: T | undefined): T | undefined {
  const last = useRef<T>(undefined)
  if (value !== undefined) last.current = value
  return last.current
}

function checkSignIn(error: unknown): void {
  if (error instanceof ServiceError && error.code === 'SIGN_IN_NEEDED') signInNeeded.notify()
}

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
      checkSignIn(error)
      setState({ fault: describeError(error), isBusy: false })
      return false
    }
  }
  return { fault: state.fault, isBusy: state.isBusy, run }
}

const CLOCK_INTERVAL_MS = 5_000
const clocks = new Listeners<[now: number]>()
setInterval(() => clocks.notify(Date.now()), CLOCK_INTERVAL_MS)

/** The time, updated every 5 s. All users of this hook update together, so that hundreds of them render once. */
export function useNow(): number {
  const [now, setNow] = useState(Date.now)
  useEffect(() => clocks.add(setNow), [])
  return now
}

/** The reader's date (YYYY-MM-DD). */
export function useToday(): string {
  const [today, setToday] = useState(() => toDayTime(Date.now()).date)
  useEffect(() => clocks.add((now) => setToday(toDayTime(now).date)), [])
  return today
}

/** Sets the title of the page while a screen is shown. */
export function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · Influencer Stats`
  }, [title])
}
