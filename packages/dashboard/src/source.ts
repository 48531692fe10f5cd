import type { Proxy } from './proxy.ts'
import { textOf } from './upstream.ts'

/** What is known is not asked for again so soon (ms). */
const FRESH = 30_000
const LIMIT = 4_194_304
const LINE = /^stats_source_is_youtube(?:\{[^}]*\})? ([01])$/m

/** Where the numbers come from: YouTube, or what stands in for it. */
export type Source = 'youtube' | 'stand-in'

/** Reads it from what stats tells of itself. */
export const readSource = (metrics: string): Source | undefined => {
  const told = LINE.exec(metrics)?.[1]
  return told === undefined ? undefined : told === '1' ? 'youtube' : 'stand-in'
}

/** Asks stats now and then; nothing where it does not answer. */
export function createSource(proxy: Pick<Proxy, 'ask'>, token: string | undefined): () => Promise<Source | undefined> {
  let known: Source | undefined
  let until = 0
  return async () => {
    if (Date.now() < until) return known
    try {
      const answer = await proxy.ask('stats', { method: 'GET', path: '/metrics', headers: {}, token })
      known = readSource(await textOf(answer, LIMIT))
      until = Date.now() + FRESH
    } catch {
      // It is said where its numbers are shown.
    }
    return known
  }
}
