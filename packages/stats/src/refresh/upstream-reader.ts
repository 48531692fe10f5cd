import { Problem } from '@influencer-stats/runtime/problems'
import type { FetchResult, VideoClient } from '../youtube/video-client.ts'
import { joinResults } from '../youtube/youtube-call.ts'
import { toUpstreamFault, toUpstreamProblem, UpstreamProblem } from '../youtube/upstream-problem.ts'
import { CircuitBreaker, isUpstreamWide, type Pause } from '../core/circuit-breaker.ts'
import { combine, hasAllCounts, toSnapshot, type Snapshot, type VideoNumbers } from '../core/video-numbers.ts'
import { IDS_PER_CALL, getPacedInterval } from '../core/quota-budget.ts'
import type { StatsReading } from '../core/prepared-reply.ts'
import { toOutage, type CallResults, type UpstreamOutage } from '../core/upstream-state.ts'
import type { StatsLogger } from '../logger/logger.ts'
import type { ReportedTotals } from '../posts/reported-totals.ts'
import type { QuotaMeter } from '../quota/quota-meter.ts'
import type { Collection, StateReader } from '../state/stats-state.ts'
import type { SnapshotThrottleOptions } from '../persist/snapshot-throttle.ts'
import { toSteadyTime, steadyNow } from '@influencer-stats/runtime/steady-clock'
import { resolveWithin } from '@influencer-stats/runtime/async/resolve-within'
import { createSavedByIds, SnapshotThrottle } from '../persist/snapshot-throttle.ts'
import type { VideoDetailsRecorder } from '../persist/video-details-recorder.ts'

export interface UpstreamReaderOptions {
  readonly collections: SnapshotThrottleOptions['collections'] & { readonly state: Pick<StateReader, 'getSnapshot'> }
  readonly client: Pick<VideoClient, 'fetch' | 'idsPerCall'>
  readonly recorder?: Pick<VideoDetailsRecorder, 'recordNumbers'>
  readonly meter: Pick<QuotaMeter, 'remainingQuota'>
  readonly logger: StatsLogger
  /** Origin of the numbers. */
  readonly source?: string
  /** Sums of the posts of collections. */
  readonly reported?: Pick<ReportedTotals, 'get'>
  /** Minimum `Retry-After` of a failed read (ms). */
  readonly retryAfter: number
  /** Interval between two refreshes (ms). A video counts as removed after two omissions at least this far apart. */
  readonly interval: number
  /** Timeout of a fetch (ms). A read that probes YouTube makes up to two fetches. */
  readonly timeout: number
}

/** A collection's numbers. `failed`: the fetch failed for some or all videos, whose numbers are the last known ones. */
export interface UpstreamReading extends StatsReading {
  readonly failed: boolean
}

/** Fetches a collection's numbers and stores them. If the fetch fails, it returns the last known numbers. */
export interface UpstreamReader {
  /** @throws Problem `UPSTREAM_UNAVAILABLE` with `Retry-After` if no numbers are known either */
  read(collection: Collection): Promise<UpstreamReading>
  readonly circuit: CircuitBreaker
}

/** Pause of a collection after a failed read (ms), unless `retryAfter` is shorter. */
const MAX_RETRY_DELAY_MS = 1_000

export function createUpstreamReader({
  collections,
  client,
  recorder,
  meter,
  logger,
  source,
  reported: totals,
  retryAfter,
  interval,
  timeout,
}: UpstreamReaderOptions): UpstreamReader {
  const throttle = new SnapshotThrottle({ collections, logger }, createSavedByIds())
  const failing = new Map<string, FailedRead>()
  const circuit = new CircuitBreaker()
  let successes = 0
  /**
   * Earliest time of the next retry of any failed collection (ms of the monotonic clock). It paces retries, so that they
   * do not exceed the daily budget.
   */
  let retryFrom = -Infinity

  // The error of a timeout is created only when it occurs: it costs a twentieth of a read.
  const fetch = (ids: readonly string[]): Promise<FetchResult> =>
    resolveWithin(client.fetch(ids), timeout, () => createTimeoutResult(ids))

  async function fetchVideos({ id, videos }: Collection): Promise<FetchResult> {
    // Without videos no call is made, and there is no result to record.
    if (videos.length === 0) return { found: [], failed: [] }
    const now = steadyNow()
    const before = failing.get(id)
    if (!circuit.canCall(now)) return createFailedResult(videos, new UpstreamProblem(circuit.pause!.fault))
    if (before && now < Math.max(before.retryFrom, retryFrom)) return createFailedResult(videos, before.problem)
    logger.debug(`collection ${id} has ${videos.length} videos`)
    const isProbe = circuit.begin()
    if (isProbe || before)
      retryFrom = now + getPacedInterval(meter.remainingQuota, Math.max(1, videos.length / IDS_PER_CALL))
    // One call is enough to probe YouTube.
    const first = await fetch(isProbe ? videos.slice(0, client.idsPerCall) : videos)
    recordResult(id, first, before, isProbe)
    if (!isProbe) return first
    const rest = videos.slice(client.idsPerCall)
    return joinResults([first, first.fault ? createFailedResult(rest, first.fault) : fetch(rest)])
  }

  function recordResult(
    id: string,
    { fault, found }: FetchResult,
    before: FailedRead | undefined,
    isProbe: boolean,
  ): void {
    const cause = fault && toUpstreamFault(fault)
    if (fault)
      failing.set(id, { problem: fault, successes, retryFrom: steadyNow() + Math.min(retryAfter, MAX_RETRY_DELAY_MS) })
    if (!cause || (found.length > 0 && !isUpstreamWide(cause))) {
      if (!cause) successes++
      return circuit.recordSuccess(isProbe)
    }
    // While other reads succeed, the cause is these videos, not YouTube.
    const othersSucceed = before !== undefined && successes > before.successes
    if (isProbe || isUpstreamWide(cause) || !othersSucceed)
      circuit.recordFailure(isProbe, cause, steadyNow(), meter.remainingQuota.untilReset)
  }

  return {
    circuit,
    async read(collection) {
      const { id, videos } = collection
      const asOf = Date.now()
      const at = steadyNow()
      const wasFailing = failing.has(id)
      const { found, failed, fault } = await fetchVideos(collection)
      const answeredIds = failed.length === 0 ? videos : videos.filter((video) => !failed.includes(video))
      const fresh = toSnapshot(answeredIds, found, asOf)
      logger.debug(`collection ${id}: ${found.length} videos have numbers`)
      // The last known numbers are read only if the fresh ones are incomplete.
      const needsLast = fault !== undefined || fresh.missing.length > 0 || !found.every(hasAllCounts)
      const snapshot = needsLast ? combine(videos, fresh, await collections.state.getSnapshot(id), interval) : fresh
      const known = snapshot ?? fresh
      recorder?.recordNumbers(needsLast ? selectNumbers(known, found) : found, asOf)
      // Each read requests all videos, so its numbers are always newer than the last save: the interval is 0.
      const saving = !fault || found.length > 0 ? throttle.save(collection, { snapshot: known, at }, 0) : undefined
      if (saving) await saving
      const reported = totals?.get(id)
      if (!fault) {
        if (failing.delete(id)) logger.info(`collection ${id} has current numbers again`)
        return {
          snapshot: known,
          at: known.asOf < asOf ? toSteadyTime(known.asOf) : at,
          source,
          reported,
          failed: false,
        }
      }
      if (!wasFailing) {
        logger.error(
          `collection ${id}: ${fault.message}; ${snapshot ? 'the last known numbers remain' : 'no numbers are known yet'}`,
        )
      }
      if (!failing.has(id)) failing.set(id, { problem: fault, successes, retryFrom: -Infinity })
      const until = circuit.pause?.until ?? -Infinity
      if (!snapshot) throw withRetryAfter(fault, Math.max(retryAfter, until - steadyNow()))
      return { snapshot, at: Math.min(at, toSteadyTime(snapshot.asOf)), source, reported, failed: true }
    },
  }
}

/** Returns the numbers in a snapshot of those videos that a response contains. */
function selectNumbers({ videos }: Snapshot, found: readonly VideoNumbers[]): VideoNumbers[] {
  const ids = new Set(found.map(({ id }) => id))
  return videos.filter(({ id }) => ids.has(id))
}

/** Failed read of a collection. */
interface FailedRead {
  readonly problem: Problem
  /** Number of reads, of any collection, that had succeeded before this failure. */
  readonly successes: number
  /** Earliest time of the next read (ms of the monotonic clock). */
  readonly retryFrom: number
}

const createFailedResult = (failed: readonly string[], fault: Problem): FetchResult => ({ found: [], failed, fault })

const createTimeoutResult = (failed: readonly string[]): FetchResult =>
  createFailedResult(failed, toUpstreamProblem({ name: 'TimeoutError' }))

/** Converts a pause, with times of the monotonic clock, to an outage. */
export function getOutage(pause: Pause | undefined): UpstreamOutage | undefined {
  const offset = Date.now() - steadyNow()
  return pause && toOutage(pause.fault, pause.since + offset, pause.until + offset)
}

export const getCallResults = ({ pause, hasSucceeded }: CircuitBreaker): CallResults => ({
  outage: getOutage(pause),
  hasSucceeded,
})

/**
 * Returns the same problem with `Retry-After` and `retryAt`.
 * @param after time until a retry may succeed (ms)
 */
export function withRetryAfter(problem: Problem, after: number): Problem {
  const seconds = String(Math.max(1, Math.ceil(after / 1000)))
  return new Problem(problem.code, problem, problem.detail, {
    headers: { 'retry-after': seconds },
    cause: problem.cause,
    members: { ...problem.members, retryAt: new Date(Date.now() + Math.max(0, after)).toISOString() },
  })
}
