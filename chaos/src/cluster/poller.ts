import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import type { ServiceProcess } from '../service-process.ts'

/** True if a node of stats polls YouTube. False also if it does not respond. */
export async function isPolling({ url }: ServiceProcess): Promise<boolean> {
  try {
    const reply = await fetch(`${url}/node`, { signal: AbortSignal.timeout(500) })
    return ((await reply.json()) as { polling?: boolean }).polling === true
  } catch {
    return false
  }
}

/** Waits until a node of stats is the poller, and returns it. */
export const findPoller = (nodes: readonly ServiceProcess[]): Promise<ServiceProcess> =>
  waitUntil(async () => {
    // A killed node does not answer, and would delay the question to the next one.
    const polling = await Promise.all(nodes.map(isPolling))
    return nodes.find((_, i) => polling[i])
  })
