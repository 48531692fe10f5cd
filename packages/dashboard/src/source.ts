import type { Proxy } from './proxy.ts'
import { textOf } from './upstream.ts'

/** What is known is not asked for again so soon (ms). */
const FRESH = 30_000
const MAX_REPLY_BYTES = 65_536

/** Where the numbers come from: YouTube, or what stands in for it. */
export type Source = 'youtube' | 'stand-in'

/** @param version the reply of `GET /version` of stats; `source` is an origin, or `stand-in` */
export const toSource = ({ source }: { readonly source?: string }): Source | undefined => {
  if (source === undefined) return undefined
  return source === 'stand-in' ? 'stand-in' : 'youtube'
}

/** Asks stats now and then; nothing where it does not answer. */
export function createSource(proxy: Pick<Proxy, 'ask'>, token: string | undefined): () => Promise<Source | undefined> {
  let known: Source | undefined
  let until = 0
  return async () => {
    if (Date.now() < until) return known
    try {
      const answer = await proxy.ask('stats', { method: 'GET', path: '/version', headers: {}, token })
      known = toSource(JSON.parse(await textOf(answer, MAX_REPLY_BYTES)))
      until = Date.now() + FRESH
    } catch {
      // It is said where its numbers are shown.
    }
    return known
  }
}
