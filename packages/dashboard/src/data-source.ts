import type { ServiceProxy } from './service-proxy.ts'
import { readText } from './upstream-node.ts'

/** What is known is not asked for again so soon (ms). */
const MAX_AGE_MS = 30_000
const MAX_REPLY_BYTES = 65_536

/** Where the numbers come from: YouTube, or what stands in for it. */
export type DataSource = 'youtube' | 'stand-in'

/** @param version the reply of `GET /version` of stats; `source` is an origin, or `stand-in` */
export const toDataSource = ({ source }: { readonly source?: string }): DataSource | undefined => {
  if (source === undefined) return undefined
  return source === 'stand-in' ? 'stand-in' : 'youtube'
}

/** Asks stats now and then; nothing where it does not answer. */
export function createSourceReader(
  proxy: Pick<ServiceProxy, 'request'>,
  token: string | undefined,
): () => Promise<DataSource | undefined> {
  let current: DataSource | undefined
  let until = 0
  return async () => {
    if (Date.now() < until) return current
    try {
      const reply = await proxy.request('stats', { method: 'GET', path: '/version', headers: {}, token })
      current = toDataSource(JSON.parse(await readText(reply, MAX_REPLY_BYTES)))
      until = Date.now() + MAX_AGE_MS
    } catch {
      // It is said where its numbers are shown.
    }
    return current
  }
}
