import { setTimeout as delay } from 'node:timers/promises'
import { readWrites, type NodeWrites } from './running-node.ts'

const POLL_INTERVAL_MS = 250

/** Node that took no writes in time. */
export interface UnreadyNode {
  readonly url: string
  /** Undefined if it did not respond. */
  readonly writes: NodeWrites | undefined
}

/**
 * Waits until nodes take writes. Resolves with those that do not in time.
 * @param timeout maximum time (ms)
 * @param onReady called with each node that takes writes
 */
export async function waitForNodes(
  urls: readonly string[],
  timeout: number,
  onReady: (url: string) => void,
): Promise<UnreadyNode[]> {
  const deadline = performance.now() + timeout
  const results = urls.map(async (url): Promise<UnreadyNode[]> => {
    for (;;) {
      const writes = await readWrites({ url })
      if (writes?.ready) {
        onReady(url)
        return []
      }
      if (performance.now() > deadline) return [{ url, writes }]
      await delay(POLL_INTERVAL_MS)
    }
  })
  return (await Promise.all(results)).flat()
}
