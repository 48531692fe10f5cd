import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import type { ServiceProcess } from '../service-process.ts'

export async function isPolling({ url }: ServiceProcess): Promise<boolean> {
  try {
    const reply = await fetch(`${url}/node`, { signal: AbortSignal.timeout(500) })
    return ((await reply.json()) as { polling?: boolean }).polling === true
  } catch {
    return false
  }
}

/** The poller of stats, as soon as there is one. */
export const findPoller = (nodes: readonly ServiceProcess[]): Promise<ServiceProcess> =>
  waitUntil(async () => {
    for (const node of nodes) if (await isPolling(node)) return node
    return undefined
  })
