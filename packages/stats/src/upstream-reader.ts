import { Problem } from '@influencer-stats/runtime/problems'
import type { VideoClient } from './client/client.ts'
import type { Collections } from './collections.ts'
import { restrict, sameTotals, sum, toSnapshot, type Snapshot, type Totals, type VideoNumbers } from './core/numbers.ts'
import type { Reading } from './core/prepared.ts'
import type { Logger } from './logger/logger.ts'
import type { Collection } from './state/state.ts'

export interface UpstreamReaderOptions {
  readonly collections: Pick<Collections, 'snapshot' | 'saveSnapshot'>
  readonly client: VideoClient
  readonly logger: Logger
  /** How long until another try may succeed (ms). */
  readonly retryAfter: number
}

/** Fetches a collection's numbers and remembers them; where that fails, the last known ones have to do. */
export interface UpstreamReader {
  /** @throws Problem `UPSTREAM_UNAVAILABLE` with `Retry-After` where no numbers are known either */
  read(collection: Collection): Promise<Reading>
}

// Uncached reads of one collection may come thousands of times a second; its numbers are not kept more often than this.
const SAVE_AT_MOST_EVERY = 1_000
const REMEMBERED = 10_000

export function createUpstreamReader({
  collections,
  client,
  logger,
  retryAfter,
}: UpstreamReaderOptions): UpstreamReader {
  const saved = new Map<string, { asOf: number; totals: Totals }>()
  const failing = new Set<string>()

  async function save({ id, revision }: Collection, snapshot: Snapshot): Promise<void> {
    const key = `${id}@${revision}`
    const totals = sum(snapshot.videos)
    const last = saved.get(key)
    if (last && snapshot.asOf - last.asOf < SAVE_AT_MOST_EVERY && sameTotals(last.totals, totals)) return
    if (saved.size >= REMEMBERED) saved.clear()
    saved.set(key, { asOf: snapshot.asOf, totals })
    // Numbers that could not be kept are still right.
    await collections.saveSnapshot({ id, revision }, snapshot).catch((fault: unknown) => {
      logger.error(`collection ${id}: its numbers could not be kept`, fault)
    })
  }

  async function lastKnown({ id, videos }: Collection, fault: unknown): Promise<Reading> {
    if (!(fault instanceof Problem)) throw fault
    const snapshot = await collections.snapshot(id)
    const known = snapshot && restrict(snapshot, videos)
    if (!failing.has(id)) {
      failing.add(id)
      logger.error(
        `collection ${id}: ${fault.message}; ${known ? 'its last numbers have to do' : 'no numbers known yet'}`,
      )
    }
    if (known) return { snapshot: known, stale: true }
    throw withRetryAfter(fault, retryAfter)
  }

  return {
    async read(collection) {
      const { id, videos } = collection
      let found: VideoNumbers[]
      try {
        logger.debug(`collection ${id} has ${videos.length} videos`)
        found = await client.fetch(videos)
      } catch (fault) {
        return lastKnown(collection, fault)
      }
      const snapshot = toSnapshot(videos, found, Date.now())
      logger.debug(`collection ${id}: ${found.length} videos have numbers`)
      if (failing.delete(id)) logger.info(`collection ${id} has fresh numbers again`)
      await save(collection, snapshot)
      return { snapshot, stale: false }
    },
  }
}

/** The same problem, telling the client when to come back. @param after ms */
export function withRetryAfter(problem: Problem, after: number): Problem {
  const seconds = String(Math.max(1, Math.ceil(after / 1000)))
  return new Problem(problem.code, problem, problem.detail, {
    headers: { 'retry-after': seconds },
    cause: problem.cause,
  })
}
