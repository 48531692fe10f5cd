import type { DataSource } from '../core/system-status.ts'
import type { ServiceProxy } from './service-proxy.ts'

/** A known source is not read again within this time (ms). */
const MAX_AGE_MS = 30_000
const MAX_REPLY_BYTES = 65_536

/** @param version the reply of `GET /version` of stats; `source` is an origin, or `stand-in` */
export const toDataSource = ({ source }: { readonly source?: string }): DataSource | undefined => {
  if (source === undefined) return undefined
  return source === 'stand-in' ? 'stand-in' : 'youtube'
}

/** Creates a cached reader of the source. It returns undefined if the source was never read from stats. */
export function createSourceReader(
  proxy: ServiceProxy,
  token: string | undefined,
): () => Promise<DataSource | undefined> {
  let current: DataSource | undefined
  let until = 0
  return async () => {
    if (Date.now() < until) return current
    try {
      current = toDataSource(JSON.parse((await proxy.read('stats', '/version', token, MAX_REPLY_BYTES)).text))
      until = Date.now() + MAX_AGE_MS
    } catch {
      // The page itself reports that stats is unavailable.
    }
    return current
  }
}
