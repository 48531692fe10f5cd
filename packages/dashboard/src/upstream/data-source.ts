import type { ServiceProxy } from './service-proxy.ts'
import { readSmallBody } from './upstream-node.ts'

/** A known source is not read again within this time (ms). */
const MAX_AGE_MS = 30_000
const MAX_REPLY_BYTES = 65_536

/** The origin of the numbers: YouTube or its stand-in. */
export type DataSource = 'youtube' | 'stand-in'

/** @param version the reply of `GET /version` of stats; `source` is an origin, or `stand-in` */
export const toDataSource = ({ source }: { readonly source?: string }): DataSource | undefined => {
  if (source === undefined) return undefined
  return source === 'stand-in' ? 'stand-in' : 'youtube'
}

/** Creates a cached reader of the source. It returns undefined if the source was never read from stats. */
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
      current = toDataSource(JSON.parse(await readSmallBody(reply, MAX_REPLY_BYTES)))
      until = Date.now() + MAX_AGE_MS
    } catch {
      // The page itself reports that stats is unavailable.
    }
    return current
  }
}
