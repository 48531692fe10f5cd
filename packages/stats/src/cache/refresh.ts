import { prepare, STALE_INTERVALS } from '../core/prepared-reply.ts'
import { IDS_PER_CALL, computeRefreshInterval } from '../core/quota-budget.ts'
import { errors } from '../errors.ts'
import type { Collection } from '../state/stats-state.ts'
import { createReads, withReported, type CachedNumbers, type CacheOptions, type StatsCache } from './stats-cache.ts'

interface RefreshEntry extends CachedNumbers {
  readonly revision: number
}

const PAGE_SIZE = 100

/**
 * Refreshes all collections in rounds, including those that no client reads. The time between two rounds depends on the
 * quota. A new or changed collection has no reply until the next round.
 */
export function createRefreshCache(options: CacheOptions): StatsCache {
  const { collections, upstream, logger, meter } = options
  const { state } = collections
  const entries = new Map<string, RefreshEntry>()
  let timer: NodeJS.Timeout | undefined
  let nextAt = 0
  let interval = options.refreshInterval
  let round: Promise<void> | undefined
  let closed = false

  async function refreshOne(collection: Collection): Promise<void> {
    try {
      const reading = await upstream.read(collection)
      entries.set(collection.id, { revision: collection.revision, reading, reply: prepare(reading) })
    } catch (fault) {
      logger.error(`collection ${collection.id} could not be refreshed`, fault)
    }
  }

  async function refreshAll(): Promise<number> {
    const seen = new Set<string>()
    let calls = 0
    for (let after = '', page; (page = await state.list(after, PAGE_SIZE)).length > 0; after = page.at(-1)!.id) {
      for (const { id, videos } of page) {
        seen.add(id)
        calls += Math.ceil(videos.length / IDS_PER_CALL)
      }
      await Promise.all(page.map(refreshOne))
    }
    for (const id of entries.keys()) if (!seen.has(id)) entries.delete(id)
    return calls
  }

  async function runRound(): Promise<void> {
    const calls = await refreshAll().catch((fault: unknown) => {
      logger.error('refresh failed', fault)
      return 0
    })
    if (closed) return
    interval = computeRefreshInterval(meter.remainingQuota, calls, options.refreshInterval)
    nextAt = Date.now() + interval
    timer = setTimeout(() => (round = runRound()), interval)
  }
  round = runRound()
  options.reported.onChange = (updates) => {
    for (const [id, reported] of updates) {
      const entry = entries.get(id)
      if (entry) entries.set(id, { ...withReported(entry, reported), revision: entry.revision })
    }
  }

  async function find(id: string): Promise<RefreshEntry | undefined> {
    const collection = await state.get(id)
    if (!collection) return undefined
    const entry = entries.get(id)
    if (entry?.revision === collection.revision) return entry
    const seconds = Math.max(1, Math.ceil((nextAt - Date.now()) / 1000))
    throw errors.STATS_NOT_READY(undefined, { headers: { 'retry-after': String(seconds) } })
  }

  return {
    getReady(id) {
      if (state.isRemote) return undefined
      const entry = entries.get(id)
      const collection = state.get(id)
      const isCurrent = !(collection instanceof Promise) && collection?.revision === entry?.revision
      return isCurrent ? entry?.reply : undefined
    },
    ...createReads(find),
    getStaleAfter: () => STALE_INTERVALS * interval,
    async close() {
      closed = true
      clearTimeout(timer)
      await round
    },
  }
}
