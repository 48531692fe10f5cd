import { useEffect } from 'preact/hooks'
import { usePageState } from './page-state.ts'

/** Interval of the refresh (ms): growth windows move with the clock, and unchanged values are confirmed. */
const REFRESH_INTERVAL_MS = 60_000

/** Reads values again once a minute, and after the stream or a service missed some. */
export function useRefresh(reload: () => void): void {
  const { live } = usePageState()
  useEffect(() => {
    const timer = setInterval(() => document.hidden || reload(), REFRESH_INTERVAL_MS)
    const end = live.listen({ gap: reload })
    return () => {
      clearInterval(timer)
      end()
    }
  }, [live, reload])
}
