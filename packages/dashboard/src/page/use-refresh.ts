import { useEffect } from 'preact/hooks'
import { usePageState } from './page-state.ts'

/** Interval between two reads (ms): growth windows move with the clock, and the time of unchanged numbers advances. */
const REFRESH_INTERVAL_MS = 60_000

/**
 * Reads values again once a minute while the page is visible, and after values of the stream were lost or a service was
 * unavailable.
 */
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
