import { commonErrors } from '@influencer-stats/runtime/errors'
import { Problem } from '@influencer-stats/runtime/problems'
import { resolveWithin } from '@influencer-stats/runtime/async/resolve-within'
import { steadyNow } from '@influencer-stats/runtime/steady-clock'
import { runOutsideTrace } from '@influencer-stats/runtime/trace'
import { computeRefreshInterval, type RemainingQuota } from '../core/quota-budget.ts'
import type { UpstreamOutage, UpstreamState } from '../core/upstream-state.ts'
import { errors } from '../errors.ts'
import { SnapshotThrottle } from '../persist/snapshot-throttle.ts'
import type { Snapshot } from '../core/video-numbers.ts'
import type { FetchedVideos } from '../state/stats-change.ts'
import type { Collection } from '../state/stats-state.ts'
import { toUpstreamFault } from '../youtube/upstream-problem.ts'
import { ArchiveFollower } from './archive-follower.ts'
import { FirstNumbers, type PolledNumbers } from './first-numbers.ts'
import { PolledRows } from './polled-rows.ts'
import type { PollerOptions } from './poller-options.ts'
import { ReplyTable } from './reply-table.ts'
import { Schedule, type ScheduledCall, type ScheduleOptions } from './schedule.ts'
import { loadReplyTable } from './source-switch.ts'
import { UpstreamStatus } from './upstream-status.ts'

/**
 * Maximum time between two checks of the schedule (ms). The budget, the day and the age of the numbers change without an
 * event.
 */
const HEARTBEAT_MS = 1_000
/** Maximum time that publishing waits for numbers to be stored (ms): numbers that are not stored are still right. */
const SAVE_WAIT_MS = 500

/**
 * Polls YouTube, on the main thread. The poller makes the calls that the schedule selects, and the reply table publishes
 * the changed replies. While another node polls, the poller applies that node's results and publishes them to the threads.
 */
export class Poller implements PolledNumbers {
  readonly status: UpstreamStatus
  /** Rows of an overview. */
  readonly rows = new PolledRows(() => this.#replyTable)
  readonly #archive = new ArchiveFollower(() => this.#replyTable.videos)
  /** Reads of numbers, which may have to wait for the first ones. */
  readonly reads: FirstNumbers
  readonly #options: PollerOptions
  #replyTable: ReplyTable
  readonly #scheduleOptions: ScheduleOptions
  #schedule: Schedule | undefined
  readonly #throttle: SnapshotThrottle<Collection>
  readonly #running = new Set<Promise<void>>()
  #timer: NodeJS.Timeout | undefined
  readonly #closing = new AbortController()

  constructor(options: PollerOptions) {
    const { client, connections, refreshInterval, meter, isFollower } = options
    this.#options = options
    this.#replyTable = new ReplyTable({ ...options, onRowChange: this.rows.reportChange })
    this.#scheduleOptions = { idsPerCall: client.idsPerCall, connections, minInterval: refreshInterval }
    if (!isFollower) this.#schedule = new Schedule(this.#scheduleOptions, steadyNow())
    this.#throttle = new SnapshotThrottle(options, new WeakMap())
    this.status = new UpstreamStatus(options)
    this.reads = new FirstNumbers(this, options)
    meter.interval = refreshInterval
  }

  /** Known numbers and published replies. Replaced when the source changes. */
  get replyTable(): ReplyTable {
    return this.#replyTable
  }

  get schedule(): Schedule | undefined {
    return this.#schedule
  }

  /**
   * Loads the collections and their last known numbers, and begins to refresh old or unknown numbers. In a cluster the
   * refresh begins only with `begin`.
   */
  async start(): Promise<void> {
    await this.#replyTable.load()
    this.#schedule?.load(this.#replyTable.videos.getTimes(steadyNow()), steadyNow())
    this.#beginSideCalls()
    this.wake()
    this.#trackRun(this.#replyTable.prepareAll(this.#closing.signal))
  }

  /** Begins to make calls, starting from the known numbers. */
  begin(): void {
    this.status.follow()
    this.#schedule = new Schedule(this.#scheduleOptions, steadyNow())
    this.#schedule.load(this.#replyTable.videos.getTimes(steadyNow()), steadyNow())
    this.#beginSideCalls()
    for (const { collection } of this.#replyTable.getRequestedEntries()) this.reads.prioritize(collection)
    this.wake()
  }

  /**
   * Replaces all numbers by the stored ones of another source, and retries until that succeeds. Resolves when every
   * thread has them, or once the poller is closed. `begin`, `onCollectionChange`, `applyFetched` and `applyFailure` must
   * not be called meanwhile.
   */
  async changeSource(source: string): Promise<void> {
    this.end()
    this.status.follow()
    const options = { ...this.#options, source, onRowChange: this.rows.reportChange }
    const replyTable = await loadReplyTable(options, this.#closing.signal)
    if (!replyTable) return
    const { getWaiters } = this.#replyTable
    this.#replyTable = replyTable
    this.rows.reportChange()
    for (const one of getWaiters()) one.resolve(true)
    await replyTable.prepareAll(this.#closing.signal)
    await replyTable.publishAll()
  }

  /** Makes no more calls. Results of calls in flight are ignored. */
  end(): void {
    this.#schedule = undefined
    this.#options.side?.end()
  }

  #beginSideCalls(): void {
    const { side } = this.#options
    if (this.#schedule) side?.begin({ ...this.#replyTable.content, circuit: this.#schedule.circuit })
  }

  #getVideoQuota = (now: number): RemainingQuota =>
    this.#options.side?.getVideoQuota(now) ?? this.#options.meter.remainingQuota

  /** Returns the interval between two refreshes of everything (ms). */
  getInterval(): number {
    const { minInterval, idsPerCall } = this.#scheduleOptions
    // Without a schedule this node estimates the interval of the polling node.
    const calls = this.#schedule?.calls ?? Math.ceil(this.#replyTable.videos.size / idsPerCall)
    return computeRefreshInterval(this.#getVideoQuota(steadyNow()), calls, minInterval)
  }

  /**
   * Adds, changes or removes a collection. Resolves when every thread has the change.
   * @param requester `threadId` of the thread that requested the change: it gets the change before the reply to its request
   * @param last stored numbers of a restored collection
   */
  async onCollectionChange(id: string, collection: Collection | undefined, requester?: number, last?: Snapshot) {
    const { entry, added, videos } = this.#replyTable.change(id, collection, last)
    if (!last) this.#schedule?.add(added, steadyNow())
    this.#archive.follow(videos, this.#schedule, steadyNow())
    if (entry?.reply && this.#schedule) {
      const { snapshot, at } = this.#replyTable.read(entry.collection)!
      // The sums have their values since this change.
      const sums = { snapshot: { ...snapshot, since: Date.now() }, at }
      void this.#throttle.save(entry.collection, sums, this.getInterval())
    }
    this.#options.side?.onCollectionChange(id, collection)
    this.wake()
    await this.#replyTable.publish([id], requester)
  }

  /** Reads imported collections and their numbers. Resolves when every thread has them. */
  async applyImport(ids: readonly string[]): Promise<void> {
    this.#archive.follow(this.#replyTable.reload(ids), this.#schedule, steadyNow())
    for (const id of ids) this.#options.side?.onCollectionChange(id, this.#replyTable.find([id])[0]?.collection)
    this.wake()
    await this.#replyTable.publish(ids)
  }

  /** Applies the numbers of another node's call. Ignored if this node polls. */
  async applyFetched({ ids, found, asOf, age, interval = this.getInterval() }: FetchedVideos): Promise<void> {
    this.status.follow({ outage: undefined, hasSucceeded: true })
    if (this.#schedule) return
    const { videos } = this.#replyTable
    videos.recordNumbers(ids, found, asOf, steadyNow() - Math.max(0, age), interval)
    await this.#replyTable.publishChanged(videos.getCollectionIds(ids))
  }

  /** Records that another node could not fetch the first numbers of these videos, or that all its calls fail (`outage`). */
  async applyFailure(ids: readonly string[], detail: string, outage?: UpstreamOutage): Promise<void> {
    if (outage) this.status.follow({ outage, hasSucceeded: false })
    if (this.#schedule) return
    const { videos } = this.#replyTable
    const unknown = videos.recordFault(ids, errors.UPSTREAM_UNAVAILABLE(detail))
    await this.#replyTable.publishChanged(videos.getCollectionIds(unknown))
  }

  /** Makes no more calls, and waits for those in flight. Idempotent. */
  async close(): Promise<void> {
    this.#closing.abort()
    clearTimeout(this.#timer)
    await Promise.all(this.#running)
  }

  /** Starts the calls that are due, and sets the timer for the next check. */
  wake = (): void => {
    clearTimeout(this.#timer)
    if (this.#closing.signal.aborted) return
    // The calls serve all collections, and the timer starts again each time: neither belongs to the trace of one request.
    runOutsideTrace(() => this.#startDueCalls())
  }

  #startDueCalls(): void {
    const { meter, side } = this.#options
    const [now, schedule] = [steadyNow(), this.#schedule]
    this.#archive.check(schedule, now)
    for (let call; (call = schedule?.next(now, this.#getVideoQuota(now)));)
      this.#trackRun(this.#fetchVideos(call, schedule!))
    for (const work of side?.start(now) ?? []) this.#trackRun(work.then(this.wake))
    meter.interval = this.getInterval()
    if (schedule) this.status.reportPause(schedule.circuit.pause)
    this.#replyTable.publishStale(now)
    const callAt = Math.min(
      schedule?.getWakeAt(now, this.#getVideoQuota(now)) ?? Infinity,
      side?.getWakeAt(now) ?? Infinity,
    )
    this.#timer = setTimeout(() => this.wake(), Math.max(1, Math.min(callAt - now, HEARTBEAT_MS)))
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
      this.status.reportPause(schedule.circuit.pause)
      if (call.failure?.times && !fault) logger.info(`${ids.length} videos have current numbers again`)
      videos.recordNumbers(ids, found, asOf, at, interval)
      recorder?.recordNumbers(videos.getNumbers(found.map(({ id }) => id)), asOf)
      this.#archive.follow(ids, schedule, steadyNow())
      onFetched?.({ ids, found, asOf, age: steadyNow() - at, interval })
      if (fault) this.#publishFailure(failed, fault, call)
    } catch (fault) {
      if (schedule !== this.#schedule) return
      const problem = fault instanceof Problem ? fault : commonErrors.INTERNAL(undefined, { cause: fault })
      const cause = toUpstreamFault(problem)
      schedule.recordFailure(call, steadyNow(), meter.remainingQuota, cause)
      if (problem !== fault) logger.error('a call to YouTube failed', fault)
      this.status.reportPause(schedule.circuit.pause)
      touched = this.#publishFailure(call.ids, problem, call)
    }
    this.wake()
    await this.#saveAndPublish(videos.getCollectionIds(touched))
  }

  /** Records why numbers are unavailable. Returns the videos without any numbers. */
  #publishFailure(ids: readonly string[], problem: Problem, { failure }: ScheduledCall): readonly string[] {
    const { logger, onFailed } = this.#options
    const isPause = this.#schedule?.circuit.pause?.fault.detail === problem.message
    if (!failure?.times && !isPause)
      logger.error(`${ids.length} videos: ${problem.message}; the last known numbers remain`)
    const unknown = this.#replyTable.videos.recordFault(ids, problem)
    if (unknown.length > 0) onFailed?.(unknown, problem.message)
    return unknown
  }

  getUpstreamState(): UpstreamState {
    return this.status.getState(this.#schedule?.circuit, this.#replyTable.source ?? '')
  }

  /** Resumes calls after a change of the API key, if YouTube refused the previous key. */
  onKeyChange(): void {
    this.#schedule?.circuit.onKeyChange()
    this.wake()
  }

  /** Stores and publishes the current numbers of these collections. */
  async #saveAndPublish(ids: readonly string[]): Promise<void> {
    const interval = this.getInterval()
    const saves = this.#replyTable.find(ids).map(({ collection }) => {
      const reading = this.#replyTable.hasTried(collection) && this.#replyTable.read(collection)
      return reading && this.#throttle.save(collection, reading, interval)
    })
    await resolveWithin(Promise.all(saves), SAVE_WAIT_MS, () => undefined)
    await this.#replyTable.publishChanged(ids)
  }
}
