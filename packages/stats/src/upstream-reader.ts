import { Problem } from '@influencer-stats/runtime/problems'
import type { Answer, VideoClient } from './client/client.ts'
import type { Collections } from './collections.ts'
import {
  combine,
  isWhole,
  sameTotals,
  sum,
  toSnapshot,
  type Snapshot,
  type Totals,
  type VideoNumbers,
} from './core/numbers.ts'
import { pace } from './core/pace.ts'
import type { Reading } from './core/prepared.ts'
import { within } from './deadline.ts'
import { errors } from './errors.ts'
import type { Logger } from './logger/logger.ts'
import type { QuotaMeter } from './quota-meter.ts'
import type { Collection } from './state/state.ts'
import { steadyAt, steadyNow } from '@influencer-stats/runtime/steady-clock'
import type { Notebook } from './video-notes.ts'

export interface UpstreamReaderOptions {
  readonly collections: Pick<Collections, 'snapshot' | 'saveSnapshot'>
  readonly client: Pick<VideoClient, 'fetch'>
  readonly notes?: Pick<Notebook, 'takeNumbers'>
  readonly meter: Pick<QuotaMeter, 'allowance'>
  readonly logger: Logger
  /** Who is asked. */
  readonly source?: string
  /** How long until another try may succeed (ms). */
  readonly retryAfter: number
  /** Between two refreshes (ms): a video is gone once it was omitted twice, so far apart. */
  readonly interval: number
  /** How long a read may wait (ms). */
  readonly deadline: number
}

/** A collection's numbers, and whether they are the last known ones for want of others. */
export interface UpstreamReading extends Reading {
  readonly failed: boolean
}

/** Fetches a collection's numbers and remembers them; where that fails, the last known ones have to do. */
export interface UpstreamReader {
  /** @throws Problem `UPSTREAM_UNAVAILABLE` with `Retry-After` where no numbers are known either */
  read(collection: Collection): Promise<UpstreamReading>
}

// Uncached reads of one collection may come thousands of times a second; its numbers are not kept more often than this.
const SAVE_AT_MOST_EVERY = 1_000
const REMEMBERED = 10_000

export function createUpstreamReader({
  collections,
  client,
  notes,
  meter,
  logger,
  source,
  retryAfter,
  interval,
  deadline,
}: UpstreamReaderOptions): UpstreamReader {
  const saved = new Map<string, { asOf: number; totals: Totals; marks: number }>()
  const failing = new Map<string, Problem>()
  /** When something that has failed may be asked for again: all failures together cost the day's share, no more. */
  let retryFrom = -Infinity

  async function save({ id, revision }: Collection, snapshot: Snapshot): Promise<void> {
    const key = `${id}@${revision}`
    const totals = sum(snapshot.videos)
    const marks = countMarks(snapshot)
    const last = saved.get(key)
    const isSame = last && last.marks === marks && sameTotals(last.totals, totals)
    if (isSame && snapshot.asOf - last.asOf < SAVE_AT_MOST_EVERY) return
    if (saved.size >= REMEMBERED) saved.clear()
    saved.set(key, { asOf: snapshot.asOf, totals, marks })
    // Numbers that could not be kept are still right.
    await collections.saveSnapshot({ id, revision }, snapshot).catch((fault: unknown) => {
      logger.error(`collection ${id}: its numbers could not be kept`, fault)
    })
  }

  async function ask({ id, videos }: Collection): Promise<Answer> {
    const fault = failing.get(id)
    if (fault && steadyNow() < retryFrom) return { found: [], failed: videos, fault }
    if (fault) retryFrom = steadyNow() + pace(meter.allowance, Math.max(1, videos.length / 50))
    logger.debug(`collection ${id} has ${videos.length} videos`)
    // Made where it is needed alone: an error costs a twentieth of a read.
    return (await within(client.fetch(videos), deadline, undefined)) ?? tooLate(videos)
  }

  return {
    async read(collection) {
      const { id, videos } = collection
      const [asOf, at] = [Date.now(), steadyNow()]
      const { found, failed, fault } = await ask(collection)
      const asked = failed.length === 0 ? videos : videos.filter((video) => !failed.includes(video))
      const fresh = toSnapshot(asked, found, asOf)
      logger.debug(`collection ${id}: ${found.length} videos have numbers`)
      // The last numbers are read only where they can add something.
      const needsLast = fault !== undefined || fresh.missing.length > 0 || !found.every(isWhole)
      const snapshot = needsLast ? combine(videos, fresh, await collections.snapshot(id), interval) : fresh
      if (snapshot) notes?.takeNumbers(needsLast ? numbersOf(snapshot, found) : found, asOf)
      if (!fault) {
        if (failing.delete(id)) logger.info(`collection ${id} has fresh numbers again`)
        const known = snapshot ?? fresh
        await save(collection, known)
        return { snapshot: known, at: known.asOf < asOf ? steadyAt(known.asOf) : at, source, failed: false }
      }
      if (!failing.has(id)) {
        logger.error(
          `collection ${id}: ${fault.message}; ${snapshot ? 'what is known has to do' : 'nothing is known yet'}`,
        )
      }
      failing.set(id, fault)
      if (!snapshot) throw withRetryAfter(fault, retryAfter)
      return { snapshot, at: Math.min(at, steadyAt(snapshot.asOf)), source, failed: true }
    },
  }
}

/** The number of marks in a snapshot: another one is another reply. */
const countMarks = ({ videos }: Snapshot): number =>
  videos.reduce(
    (marks, { gone, omitted, hidden }) => marks + Number(gone ? 1 : omitted ? 2 : 0) + 3 * (hidden?.length ?? 0),
    0,
  )

/** What a snapshot knows of the videos that a response contains. */
function numbersOf({ videos }: Snapshot, found: readonly VideoNumbers[]): VideoNumbers[] {
  const ids = new Set(found.map(({ id }) => id))
  return videos.filter(({ id }) => ids.has(id))
}

const tooLate = (failed: readonly string[]): Answer => {
  return { found: [], failed, fault: errors.UPSTREAM_UNAVAILABLE('YouTube took too long') }
}

/** The same problem, telling the client when to come back. @param after ms */
export function withRetryAfter(problem: Problem, after: number): Problem {
  const seconds = String(Math.max(1, Math.ceil(after / 1000)))
  return new Problem(problem.code, problem, problem.detail, {
    headers: { 'retry-after': seconds },
    cause: problem.cause,
  })
}
