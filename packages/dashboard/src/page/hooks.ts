import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { ServiceError } from '@influencer-stats/runtime/service-error'
import { wordsFor } from './api.ts'
import { signInNeeded } from './session.ts'

export interface Loaded<T> {
  readonly value?: T
  readonly fault?: string
  /** Of what went wrong, where a service said so. */
  readonly code?: string
  /** Whether it is on its way. */
  readonly isLoading: boolean
  reload(): void
}

/** Reads something whenever `keys` change, and when told to. What was read stays until there is something newer. */
export function useLoaded<T>(read: () => Promise<T>, keys: readonly unknown[]): Loaded<T> {
  const [state, setState] = useState<Omit<Loaded<T>, 'reload'>>({ isLoading: true })
  const turn = useRef(0)
  const load = useCallback(() => {
    const own = ++turn.current
    setState((before) => ({ ...before, isLoading: true }))
    read().then(
      (value) => own === turn.current && setState({ value, isLoading: false }),
      (error) => {
        if (own !== turn.current) return
        if (isSignInNeeded(error)) signInNeeded()
        setState(({ value }) => ({ value, fault: wordsFor(error), ...codeOf(error), isLoading: false }))
      },
    )
  }, keys)
  useEffect(() => {
    load()
    return () => void turn.current++
  }, [load])
  return { ...state, reload: load }
}

const codeOf = (error: unknown) => (error instanceof ServiceError ? { code: error.code } : {})
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
      if (isSignInNeeded(error)) signInNeeded()
      setState({ fault: wordsFor(error), isBusy: false })
      return false
    }
  }
  return { fault: state.fault, isBusy: state.isBusy, run }
}

const NOW_EVERY = 5_000
const clocks = new Set<(now: number) => void>()
setInterval(() => {
  const now = Date.now()
  for (const tell of clocks) tell(now)
}, NOW_EVERY)

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
