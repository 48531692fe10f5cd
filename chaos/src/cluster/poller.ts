import { until } from '@influencer-stats/runtime/testing/until'
import type { Running } from '../running.ts'

export async function isPolling({ url }: Running): Promise<boolean> {
  try {
    const reply = await fetch(`${url}/node`, { signal: AbortSignal.timeout(500) })
    return ((await reply.json()) as { polling?: boolean }).polling === true
  } catch {
    return false
  }
}

/** The node of stats that asks YouTube, once there is one. */
export const pollerAmong = (nodes: readonly Running[]): Promise<Running> =>
  until(async () => {
    for (const node of nodes) if (await isPolling(node)) return node
    return undefined
  })
