import { commonErrors } from '@influencer-stats/runtime/errors'
import { Problem } from '@influencer-stats/runtime/problems'
import { Outage } from '@influencer-stats/runtime/async/outage'
import { retry } from '@influencer-stats/runtime/async/retry'
import { runOutsideTrace } from '@influencer-stats/runtime/trace'
import { ReplyTable, type ReplyTableOptions, type ReplyEntry } from './reply-table.ts'
import type { VideoClient } from '../youtube/video-client.ts'
import { toUpstreamFault, UpstreamProblem } from '../youtube/upstream-problem.ts'
import type { CollectionsOwner } from '../campaigns/collections.ts'
import type { Pause } from '../core/circuit-breaker.ts'
import { toUpstreamState, type CallResults, type UpstreamOutage, type UpstreamState } from '../core/upstream-state.ts'
import { getPacedInterval } from '../core/quota-budget.ts'
import { prepare, prepareByVideo, type PreparedReply, type StatsReading } from '../core/prepared-reply.ts'
import { Schedule, type ScheduledCall, type ScheduleOptions } from './schedule.ts'
import { errors } from '../errors.ts'
import type { StatsLogger } from '../logger/logger.ts'
import type { OverviewSource } from '../campaigns/overview.ts'
import type { QuotaMeter } from '../quota/quota-meter.ts'
import { SnapshotThrottle } from './snapshot-throttle.ts'
import type { FetchedVideos } from '../state/stats-change.ts'
import type { Collection } from '../state/stats-state.ts'
import { steadyNow } from '@influencer-stats/runtime/steady-clock'
import { resolveWithin } from '@influencer-stats/runtime/async/resolve-within'
import { getOutage, withRetryAfter } from './upstream-reader.ts'
import type { VideoDetailsRecorder } from '../persist/video-details-recorder.ts'

export interface PollerOptions extends ReplyTableOptions {
  readonly collections: Pick<CollectionsOwner, 'list' | 'getSnapshots' | 'saveSnapshot'>
  readonly client: Pick<VideoClient, 'call' | 'idsPerCall'>
  readonly recorder?: Pick<VideoDetailsRecorder, 'recordNumbers'>
  readonly meter: QuotaMeter
  readonly logger: StatsLogger
  /** Minimum interval between two refreshes (ms). */
  readonly refreshInterval: number
  /** Maximum number of concurrent calls. */
  readonly connections: number
  /** Maximum time that a read waits for a collection's first numbers (ms). */
  readonly readTimeout: number
  /** True in a cluster: this poller makes no calls before `begin`. */
  readonly isFollower?: boolean
  /**
   * Requests a collection's first numbers from the polling node. Rejects if the request cannot be published; only then is
   * it called again for the same version of the collection.
   */
  onReadRequested?(id: string): Promise<void>
  /** Called with the numbers of every successful call. */
  onFetched?(fetched: FetchedVideos): void
  /** Called with videos that have no numbers because a call failed, or, without videos, with the outage of all calls. */
  onFailed?(ids: readonly string[], detail: string, outage?: UpstreamOutage): void
  /** Returns the last four characters of the API key in use; undefined if the key is for another source. */
  getMaskedKey?(source: string): string | undefined
}

/**
 * Maximum time between two checks of the schedule (ms). The budget, the day and the age of the numbers change without an
 * event.
 */
const HEARTBEAT_MS = 1_000
/** Interval between two reports of an outage (ms). Another node that starts in an outage learns of it within this time. */
const REPORT_INTERVAL_MS = 60_000

const NO_RESULTS: CallResults = { outage: undefined, hasSucceeded: false }

/**
 * Polls YouTube, on the main thread. The poller makes the calls that the schedule selects, and the reply table publishes
 * the changed replies. While another node polls, the poller applies that node's results and publishes them to the threads.
 */
export class Poller {
  readonly #options: PollerOptions
  #replyTable: ReplyTable
  readonly #scheduleOptions: ScheduleOptions
  /** Undefined while another node polls. */
  #schedule: Schedule | undefined
  readonly #snapshotThrottle: SnapshotThrottle
  readonly #running = new Set<Promise<void>>()
  #timer: NodeJS.Timeout | undefined
  /** Last reported pause of the calls, and the time of its last report to other nodes (ms of the monotonic clock). */
  #pause: Pause | undefined
  #reportedAt = -Infinity
  /** Results that the polling node reports. */
  #followedResults: CallResults = NO_RESULTS
  readonly #closing = new AbortController()

  constructor(options: PollerOptions) {
    const { client, connections, refreshInterval, meter, isFollower } = options
    this.#options = options
    this.#replyTable = new ReplyTable(options)
    this.#scheduleOptions = { idsPerCall: client.idsPerCall, connections, minInterval: refreshInterval }
    if (!isFollower) this.#schedule = new Schedule(this.#scheduleOptions, steadyNow())
    this.#snapshotThrottle = new SnapshotThrottle(options)
    meter.interval = refreshInterval
  }

  /** Known numbers and published replies. */
  get replyTable(): Pick<
    ReplyTable,
    'size' | 'staleCount' | 'source' | 'getReplies' | 'getCurrentReplies' | 'markStaleUpdates' | 'find'
  > {
    return this.#replyTable
  }

  /** Rows of an overview: every collection with the numbers of its reply. */
  readonly rows: OverviewSource = {
    readPages: () => this.#replyTable.rows.readPages(),
    getRow: (id) => this.#replyTable.rows.getRow(id),
  }

  /**
   * Loads the collections and their last known numbers, and begins to refresh old or unknown numbers. In a cluster the
   * refresh begins only with `begin`.
   */
  async start(): Promise<void> {
    await this.#replyTable.load()
    if (this.#schedule) this.#plan(this.#schedule)
    this.#wake()
    this.#trackRun(this.#replyTable.prepareAll(this.#closing.signal))
  }

  /** Begins to make calls, starting from the known numbers. */
  begin(): void {
    this.#followedResults = NO_RESULTS
    this.#schedule = new Schedule(this.#scheduleOptions, steadyNow())
    this.#plan(this.#schedule)
    for (const { collection } of this.#replyTable.getRequestedEntries()) this.#prioritize(collection)
    this.#wake()
  }

  /**
   * Replaces all numbers by the stored ones of another source, and retries until that succeeds. Resolves when every
   * thread has them, or once the poller is closed. `begin`, `onCollectionChange`, `applyFetched` and `applyFailure` must
   * not be called meanwhile.
   */
  async changeSource(source: string): Promise<void> {
    const { logger } = this.#options
    this.end()
    this.#followedResults = NO_RESULTS
    const outage = new Outage({
      onStart: (fault) => logger.error(`the numbers of ${source} cannot be loaded; this node retries`, fault),
      onEnd: () => logger.info(`loaded the numbers of ${source}`),
    })
    await retry(
      async () => {
        await this.#loadSource(source)
        outage.succeed()
      },
      { signal: this.#closing.signal, onFault: (fault) => outage.fail(fault) },
    )
  }

  async #loadSource(source: string): Promise<void> {
    const replyTable = new ReplyTable({ ...this.#options, source })
    await replyTable.load()
    const { getWaiters } = this.#replyTable
    this.#replyTable = replyTable
    for (const one of getWaiters()) one.resolve(true)
    await replyTable.prepareAll(this.#closing.signal)
    await replyTable.publishAll()
  }

  /** Makes no more calls. Results of calls in flight are ignored. */
  end(): void {
    this.#schedule = undefined
  }

  #plan(schedule: Schedule): void {
    const times = this.#replyTable.videos.getTimes()
    const known = times.filter((one): one is [string, number] => one[1] !== undefined)
    for (const [id, at] of known.sort((a, b) => a[1] - b[1])) schedule.addKnown(id, at)
    const unknown = times.filter(([, at]) => at === undefined).map(([id]) => id)
    schedule.resume(unknown, steadyNow())
  }

  /** Returns the interval between two refreshes of everything (ms). */
  getInterval(): number {
    const { remainingQuota } = this.#options.meter
    const { minInterval, idsPerCall } = this.#scheduleOptions
    // Without a schedule this node estimates the interval of the polling node.
    const estimateInterval = () =>
      Math.max(minInterval, getPacedInterval(remainingQuota, Math.ceil(this.#replyTable.videos.size / idsPerCall)))
    return this.#schedule?.getInterval(remainingQuota) ?? estimateInterval()
  }

  /** Adds, changes or removes a collection. Resolves when every thread has the change. */
  async onCollectionChange(id: string, collection: Collection | undefined): Promise<void> {
    const { entry, added, forgotten } = this.#replyTable.change(id, collection)
    for (const video of forgotten) this.#schedule?.remove(video)
    this.#schedule?.add(added, steadyNow())
    if (entry?.reply && this.#schedule)
      void this.#snapshotThrottle.saveChanged(entry.collection, this.#replyTable.read(entry.collection)!)
    this.#wake()
    await this.#replyTable.publish([id])
  }

  /** Applies the numbers of another node's call. Ignored if this node polls. */
  async applyFetched({ ids, found, asOf, age, interval = this.getInterval() }: FetchedVideos): Promise<void> {
    this.#followedResults = { outage: undefined, hasSucceeded: true }
    if (this.#schedule) return
    const { videos } = this.#replyTable
    videos.recordNumbers(ids, found, asOf, steadyNow() - Math.max(0, age), interval)
    await this.#replyTable.publishChanged(videos.getCollectionIds(ids))
  }

  /** Records that another node could not fetch the first numbers of these videos, or that all its calls fail (`outage`). */
  async applyFailure(ids: readonly string[], detail: string, outage?: UpstreamOutage): Promise<void> {
    if (outage) this.#followedResults = { outage, hasSucceeded: false }
    if (this.#schedule) return
    const { videos } = this.#replyTable
    const unknown = videos.recordFault(ids, errors.UPSTREAM_UNAVAILABLE(detail))
    await this.#replyTable.publishChanged(videos.getCollectionIds(unknown))
  }

  /** Records that a request on some node waits for a collection's first numbers. */
  requestEntry(id: string): void {
    const entry = this.#replyTable.getEntry(id)
    if (!entry || entry.reply) return
    entry.isRequested = true
    if (!this.#schedule) return
    const { videos } = entry.collection
    const failed = this.#replyTable.videos.getFault(videos)
    if (failed && entry.isSettled) this.#options.onFailed?.(videos, failed.fault.message)
    this.#prioritize(entry.collection)
    this.#wake()
  }

  /**
   * Returns the reply for a collection, after its first numbers; undefined if there is no such collection.
   * @throws Problem `UPSTREAM_UNAVAILABLE` with `Retry-After` if no numbers are known
   */
  async read(id: string): Promise<PreparedReply | undefined> {
    const entry = await this.#waitForEntry(id)
    return entry && (entry.reply ?? prepare(this.#getReading(entry)))
  }

  async readByVideo(id: string): Promise<PreparedReply | undefined> {
    const entry = await this.#waitForEntry(id)
    return entry && prepareByVideo(this.#getReading(entry))
  }

  /** Makes no more calls, and waits for those in flight. Idempotent. */
  async close(): Promise<void> {
    this.#closing.abort()
    clearTimeout(this.#timer)
    await Promise.all(this.#running)
  }

  /**
   * Returns the entry of a collection once all its videos were tried. Returns it earlier at the timeout of the read, and
   * at once if an outage lasts longer than that timeout.
   */
  async #waitForEntry(id: string): Promise<ReplyEntry | undefined> {
    const deadline = steadyNow() + this.#options.readTimeout
    for (;;) {
      const entry = this.#replyTable.getEntry(id)
      if (!entry || entry.isSettled) return entry
      this.#requestRead(entry)
      // No call will begin before the timeout, so the read does not wait for it.
      if ((this.#getOutage()?.until ?? 0) > deadline) return entry
      entry.waiter ??= Promise.withResolvers()
      if (!(await resolveWithin(entry.waiter.promise, deadline - steadyNow(), () => false))) return entry
    }
  }

  #requestRead(entry: ReplyEntry): void {
    const wasRequested = entry.isRequested
    entry.isRequested = true
    if (this.#schedule) {
      this.#prioritize(entry.collection)
      this.#wake()
    } else if (!wasRequested)
      this.#options.onReadRequested?.(entry.collection.id).catch(() => (entry.isRequested = false))
  }

  #prioritize({ videos }: Collection): void {
    this.#schedule?.prioritize(this.#replyTable.videos.getUntried(videos))
  }

  /** @throws Problem `UPSTREAM_UNAVAILABLE` with `Retry-After` if no numbers are known */
  #getReading({ collection }: ReplyEntry): StatsReading {
    const reading = this.#replyTable.read(collection)
    if (reading) return reading
    const now = steadyNow()
    const failed = this.#replyTable.videos.getFault(collection.videos)
    const outage = this.#getOutage()
    const problem = outage?.problem ?? failed?.fault
    if (!problem) throw withRetryAfter(errors.UPSTREAM_UNAVAILABLE('no response from YouTube in time'), 1)
    const { remainingQuota } = this.#options.meter
    const retryAt = failed ? (this.#schedule?.getRetryAt(failed.id, now, remainingQuota) ?? now) : now
    throw withRetryAfter(problem, Math.max(retryAt, outage?.until ?? now) - now)
  }

  /** Starts the calls that are due, and sets the timer for the next check. */
  #wake(): void {
    clearTimeout(this.#timer)
    if (this.#closing.signal.aborted) return
    // The calls serve all collections, and the timer starts again each time: neither belongs to the trace of one request.
    runOutsideTrace(() => this.#startDueCalls())
  }

  #startDueCalls(): void {
    const { meter } = this.#options
    const now = steadyNow()
    const schedule = this.#schedule
    for (let call; (call = schedule?.next(now, meter.remainingQuota));) this.#run(call, schedule!)
    meter.interval = this.getInterval()
    if (schedule) this.#reportPause(schedule.pause)
    this.#replyTable.publishStale(now)
    const wakeAt = schedule?.getWakeAt(now, meter.remainingQuota) ?? Infinity
    const wait = Math.min(wakeAt - now, HEARTBEAT_MS)
    this.#timer = setTimeout(() => this.#wake(), Math.max(1, wait))
  }

  #run(call: ScheduledCall, schedule: Schedule): void {
    this.#trackRun(this.#fetchVideos(call, schedule))
  }

  #trackRun(work: Promise<void>): void {
    const running = work.finally(() => this.#running.delete(running))
    this.#running.add(running)
  }

  async #fetchVideos(call: ScheduledCall, schedule: Schedule): Promise<void> {
    const { client, recorder, logger, meter, onFetched } = this.#options
    const { videos } = this.#replyTable
    const [asOf, at] = [Date.now(), steadyNow()]
    let touched: readonly string[] = call.ids
    try {
      const { found, failed, fault } = await client.call(call.ids)
      if (schedule !== this.#schedule) return
      const interval = this.getInterval()
      const ids = call.ids.filter((id) => !failed.includes(id))
      schedule.recordSuccess(call, at, steadyNow())
      if (fault) schedule.recordUnreadable(failed, call, steadyNow(), meter.remainingQuota, toUpstreamFault(fault))
      this.#reportPause(schedule.pause)
      if (call.failure?.times && !fault) logger.info(`${ids.length} videos have current numbers again`)
      videos.recordNumbers(ids, found, asOf, at, interval)
      recorder?.recordNumbers(videos.getNumbers(found.map(({ id }) => id)), asOf)
      onFetched?.({ ids, found, asOf, age: steadyNow() - at, interval })
      if (fault) this.#publishFailure(failed, fault, call)
    } catch (fault) {
      if (schedule !== this.#schedule) return
      const problem = fault instanceof Problem ? fault : commonErrors.INTERNAL(undefined, { cause: fault })
      const cause = toUpstreamFault(problem)
      schedule.recordFailure(call, steadyNow(), meter.remainingQuota, cause)
      if (problem !== fault) logger.error('a call to YouTube failed', fault)
      this.#reportPause(schedule.pause)
      touched = this.#publishFailure(call.ids, problem, call)
    }
    this.#wake()
    await this.#saveAndPublish(videos.getCollectionIds(touched))
  }

  /** Records why numbers are unavailable. Returns the videos without any numbers. */
  #publishFailure(ids: readonly string[], problem: Problem, { failure }: ScheduledCall): readonly string[] {
    const { logger, onFailed } = this.#options
    const isPause = this.#schedule?.pause?.fault.detail === problem.message
    if (!failure?.times && !isPause)
      logger.error(`${ids.length} videos: ${problem.message}; the last known numbers remain`)
    const unknown = this.#replyTable.videos.recordFault(ids, problem)
    if (unknown.length > 0) onFailed?.(unknown, problem.message)
    return unknown
  }

  /** Returns the state of the API, as this node sees it if it polls, or as the polling node reports it. */
  getUpstreamState(): UpstreamState {
    const { meter, getMaskedKey } = this.#options
    const source = this.#replyTable.source ?? ''
    const { remainingQuota, used } = meter
    return toUpstreamState({
      ...this.#getResults(),
      remainingQuota,
      used,
      source,
      key: getMaskedKey?.(source),
      now: Date.now(),
    })
  }

  /** Returns the results of this node's calls if it polls, or those of the polling node. */
  #getResults(): CallResults {
    if (!this.#schedule) return this.#followedResults
    const { pause, hasSucceeded } = this.#schedule
    return { outage: getOutage(pause), hasSucceeded }
  }

  /** Resumes calls after a change of the API key, if YouTube refused the previous key. */
  onKeyChange(): void {
    this.#schedule?.onKeyChange()
    this.#wake()
  }

  /** Returns the outage of all calls, if any, and the time until which no call is made (ms of the monotonic clock). */
  #getOutage(): { readonly problem: Problem; readonly until: number } | undefined {
    const pause = this.#schedule?.pause
    if (pause) return { problem: new UpstreamProblem(pause.fault), until: pause.until }
    const { outage } = this.#followedResults
    if (this.#schedule || !outage) return undefined
    const { reason, detail, remedy, retryAt } = outage
    const problem = errors.UPSTREAM_UNAVAILABLE(detail, { members: { ...(reason && { reason }), remedy } })
    return { problem, until: Date.parse(retryAt) - Date.now() + steadyNow() }
  }

  /** Logs the beginning and the end of a pause. Reports a pause to other nodes at intervals. */
  #reportPause(pause: Pause | undefined): void {
    const { logger, onFailed } = this.#options
    const before = this.#pause
    this.#pause = pause
    const now = steadyNow()
    if (pause && (pause !== before || now - this.#reportedAt > REPORT_INTERVAL_MS)) {
      this.#reportedAt = now
      onFailed?.([], pause.fault.detail, getOutage(pause))
    }
    if (pause && pause.fault.detail !== before?.fault.detail)
      logger.error(`${pause.fault.detail}; the last known numbers remain. ${pause.fault.remedy}`)
    else if (before && !pause) logger.info('calls to YouTube continue')
  }

  /** Stores and publishes the current numbers of these collections. */
  async #saveAndPublish(ids: readonly string[]): Promise<void> {
    const interval = this.getInterval()
    const saves = this.#replyTable.find(ids).map(async ({ collection }) => {
      const reading = this.#replyTable.hasTried(collection) && this.#replyTable.read(collection)
      if (reading) await this.#snapshotThrottle.save(collection, reading, interval)
    })
    await this.#snapshotThrottle.waitForSaves(saves)
    await this.#replyTable.publishChanged(ids)
  }
}
