import { useEffect } from 'preact/hooks'
import { usePageState } from './page-state.ts'

/** Growth windows move with the clock, and what did not change is confirmed: values are read again this often (ms). */
const REFRESH_INTERVAL_MS = 60_000

/** Reads values again once a minute, and where the stream or a service missed some. */
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
