import { setTimeout as delay } from 'node:timers/promises'

const INTERVAL_MS = 20

/** Polls a URL, and measures the longest time between two successful reads. */
export interface ReadPoller {
  /** Ends the polling. Resolves with the longest time without a successful read (ms). */
  stop(): Promise<number>
}

/** @param expected the text that every reply must have; a different text counts as a failed read */
export function startReadPoller(url: string, expected: string): ReadPoller {
  const closing = new AbortController()
  let lastReadAt = performance.now()
  let longestGap = 0

  async function poll(): Promise<void> {
    while (!closing.signal.aborted) {
      const text = await fetch(url, { signal: closing.signal })
        .then((reply) => (reply.ok ? reply.text() : undefined))
        .catch(() => undefined)
      if (text?.includes(expected)) {
        const now = performance.now()
        longestGap = Math.max(longestGap, now - lastReadAt)
        lastReadAt = now
      }
      await delay(INTERVAL_MS)
    }
  }
  const polling = poll()
  return {
    async stop() {
      closing.abort()
      await polling
      return Math.max(longestGap, performance.now() - lastReadAt)
    },
  }
}
