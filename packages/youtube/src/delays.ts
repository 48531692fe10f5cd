import type { ServerResponse } from 'node:http'
import type { Lifecycle } from '@influencer-stats/runtime/service'

/** Waits for a number of milliseconds, which may be infinite, or until the client of `response` disconnects. */
export type Delay = (ms: number, response?: ServerResponse) => Promise<void>

/**
 * Creates delays that a drain ends at once: the service waits for every request in progress, and a request without an
 * end would delay the exit until the process is killed.
 */
export function createDelays({ drain }: Lifecycle): Delay {
  const ends = new Set<() => void>()
  drain.addEventListener('abort', () => {
    for (const end of ends) end()
  })

  return (ms, response) =>
    new Promise((resolve) => {
      const timer = ms === Infinity ? undefined : setTimeout(end, ms)
      function end(): void {
        clearTimeout(timer)
        ends.delete(end)
        response?.off('close', end)
        resolve()
      }
      ends.add(end)
      response?.once('close', end)
    })
}
