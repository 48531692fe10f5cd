import { commonErrors as house } from '@influencer-stats/runtime/errors'
import { Problem } from '@influencer-stats/runtime/problems'
import { createBackOff } from '@influencer-stats/runtime/back-off'
import { runOutsideTrace } from '@influencer-stats/runtime/trace'
import { setTimeout as delay } from 'node:timers/promises'
import { Board, type BoardOptions, type Entry } from './board.ts'
import type { VideoClient } from './client/client.ts'
import { faultOf, UpstreamProblem } from './client/fault.ts'
import type { CollectionsOwner } from './collections.ts'
import type { Pause } from './core/circuit.ts'
import { toUpstreamState, type CallResults, type UpstreamOutage, type UpstreamState } from './core/upstream-state.ts'
import { pace } from './core/pace.ts'
import { prepare, prepareByVideo, type Prepared, type Reading } from './core/prepared.ts'
import { Schedule, type Call, type ScheduleOptions } from './core/schedule.ts'
import { errors } from './errors.ts'
import type { Logger } from './logger/logger.ts'
import type { OverviewSource } from './overview.ts'
import type { QuotaMeter } from './quota-meter.ts'
import { SnapshotKeeper } from './snapshot-keeper.ts'
import type { Asked } from './state/change.ts'
import type { Collection } from './state/state.ts'
import { steadyNow } from '@influencer-stats/runtime/steady-clock'
import { resolveWithin } from '@influencer-stats/runtime/resolve-within'
import { outageOf, withRetryAfter } from './upstream-reader.ts'
import type { Notebook } from './video-notes.ts'

export interface PollerOptions extends BoardOptions {
  readonly collections: Pick<CollectionsOwner, 'list' | 'snapshots' | 'saveSnapshot'>
  readonly client: Pick<VideoClient, 'call' | 'idsPerCall'>
  readonly notes?: Pick<Notebook, 'takeNumbers'>
  readonly meter: QuotaMeter
  readonly logger: Logger
  /** Numbers are refreshed at most this often (ms). */
  readonly refreshInterval: number
  /** Most calls at a time. */
  readonly connections: number
  /** How long a read waits for a collection's first numbers (ms). */
  readonly readTimeout: number
  /** Where there are others: this one asks nothing before it is told to begin. */
  readonly follows?: boolean
  /** Where another asks: told, once, that somebody waits for a collection's first numbers. Rejects where it cannot be. */
  onWanted?(id: string): Promise<void>
  /** Told what every call has given. */
  onAsked?(asked: Asked): void
  /** Called if first numbers of these videos are unavailable, and in an outage. */
  onFailed?(ids: readonly string[], detail: string, outage?: UpstreamOutage): void
  /** Returns the API key in use for this source, by its last four characters. */
  readonly key?: (source: string) => string | undefined
}

/** The schedule is looked at this often at least (ms): the budget, the day and what is stale change by themselves. */
const HEARTBEAT = 1_000
/** Interval between two reports of an outage (ms). Another node that starts in an outage learns of it within this time. */
const REPORT_INTERVAL_MS = 60_000

const NO_RESULTS: CallResults = { outage: undefined, hasSucceeded: false }

/**
 * On main: makes the calls that the schedule decides on, and has the board publish what each of them has changed. Where
 * another machine does so it follows, and publishes what that one's calls have given.
 */
export class Poller {
  readonly #options: PollerOptions
  #board: Board
  readonly #scheduling: ScheduleOptions
  /** None while another machine asks. */
  #schedule: Schedule | undefined
  readonly #keeper: SnapshotKeeper
  readonly #running = new Set<Promise<void>>()
  #timer: NodeJS.Timeout | undefined
  /** Last reported pause of the calls, and the time of its last report to other nodes (ms of the steady clock). */
  #pause: Pause | undefined
  #reportedAt = -Infinity
  /** Results that the polling node reports. */
  #theirs: CallResults = NO_RESULTS
  readonly #closing = new AbortController()

  constructor(options: PollerOptions) {
    const { client, connections, refreshInterval, meter, follows } = options
    this.#options = options
    this.#board = new Board(options)
    this.#scheduling = { idsPerCall: client.idsPerCall, connections, fastest: refreshInterval }
    if (!follows) this.#schedule = new Schedule(this.#scheduling, steadyNow())
    this.#keeper = new SnapshotKeeper(options)
    meter.interval = refreshInterval
  }

  /** What is known and told. */
  get board(): Pick<Board, 'size' | 'stale' | 'source' | 'replies' | 'currentReplies' | 'asTheyRead' | 'find'> {
    return this.#board
  }

  /** Rows of an overview: every collection with the numbers of its reply. */
  readonly rows: OverviewSource = {
    pages: () => this.#board.rows.pages(),
    one: (id) => this.#board.rows.one(id),
  }

  /** Loads the collections and their last known numbers, and begins to ask for what is old or unknown. */
  async start(): Promise<void> {
    await this.#board.load()
    if (this.#schedule) this.#plan(this.#schedule)
    this.#look()
    this.#keepRunning(this.#board.prepareAll(this.#closing.signal))
  }

  /** Asks from now on, from what is known. */
  begin(): void {
    this.#theirs = NO_RESULTS
    this.#schedule = new Schedule(this.#scheduling, steadyNow())
    this.#plan(this.#schedule)
    for (const { collection } of this.#board.wanted()) this.#urge(collection)
    this.#look()
  }

  /**
   * Replaces all numbers by the stored ones of another source. Resolves when every thread has them, or once the poller is
   * closed: it tries again until then. `begin`, `changed`, `follow` and `failed` must not be called meanwhile.
   */
  async changeSource(source: string): Promise<void> {
    const { logger } = this.#options
    const { signal } = this.#closing
    this.end()
    this.#theirs = NO_RESULTS
    const delays = createBackOff()
    for (let isFirst = true; !signal.aborted; isFirst = false) {
      try {
        await this.#loadSource(source)
        if (!isFirst) logger.info(`the numbers of ${source} are loaded`)
        return
      } catch (fault) {
        if (isFirst) logger.error(`the numbers of ${source} cannot be loaded; this node tries again`, fault)
        await delay(delays.next(), undefined, { signal }).catch(() => {})
      }
    }
  }

  async #loadSource(source: string): Promise<void> {
    const board = new Board({ ...this.#options, source })
    await board.load()
    const { waiting } = this.#board
    this.#board = board
    for (const one of waiting()) one.resolve(true)
    await board.prepareAll(this.#closing.signal)
    await board.publishAll()
  }

  /** Asks no more: another does. What calls under way still give is not taken. */
  end(): void {
    this.#schedule = undefined
  }

  #plan(schedule: Schedule): void {
    const times = this.#board.videos.times()
    const known = times.filter((one): one is [string, number] => one[1] !== undefined)
    for (const [id, at] of known.sort((a, b) => a[1] - b[1])) schedule.known(id, at)
    const unknown = times.filter(([, at]) => at === undefined).map(([id]) => id)
    schedule.resume(unknown, steadyNow())
  }

  /** How long from one refresh of everything to the next (ms). */
  interval(): number {
    const { allowance } = this.#options.meter
    const { fastest, idsPerCall } = this.#scheduling
    // The poller's, by what this one knows of it.
    const others = () => Math.max(fastest, pace(allowance, Math.ceil(this.#board.videos.size / idsPerCall)))
    return this.#schedule?.interval(allowance) ?? others()
  }

  /** Takes up a new or changed collection, or forgets one; resolves when every thread knows. */
  async changed(id: string, collection: Collection | undefined): Promise<void> {
    const { entry, added, forgotten } = this.#board.change(id, collection)
    for (const video of forgotten) this.#schedule?.forget(video)
    this.#schedule?.want(added, steadyNow())
    if (entry?.reply && this.#schedule)
      void this.#keeper.keepChange(entry.collection, this.#board.read(entry.collection)!)
    this.#look()
    await this.#board.publish([id])
  }

  /** Takes what a call of another machine has given, while it is that one that asks. */
  async follow({ ids, found, asOf, age, interval = this.interval() }: Asked): Promise<void> {
    this.#theirs = { outage: undefined, hasSucceeded: true }
    if (this.#schedule) return
    const { videos } = this.#board
    videos.learn(ids, found, asOf, steadyNow() - Math.max(0, age), interval)
    await this.#board.tell(videos.users(ids))
  }

  /** Takes note that another machine could not have first numbers of these videos. */
  async failed(ids: readonly string[], detail: string, outage?: UpstreamOutage): Promise<void> {
    if (outage) this.#theirs = { outage, hasSucceeded: false }
    if (this.#schedule) return
    const { videos } = this.#board
    await this.#board.tell(videos.users(videos.fail(ids, errors.UPSTREAM_UNAVAILABLE(detail))))
  }

  /** Somebody waits for a collection's first numbers, on any machine. */
  wanted(id: string): void {
    const entry = this.#board.entry(id)
    if (!entry || entry.reply) return
    entry.isWanted = true
    if (!this.#schedule) return
    const { videos } = entry.collection
    const failed = this.#board.videos.fault(videos)
    if (failed && entry.isSettled) this.#options.onFailed?.(videos, failed.fault.message)
    this.#urge(entry.collection)
    this.#look()
  }

  /**
   * The reply for a collection, waiting for its first numbers; nothing if there is no such collection.
   * @throws Problem `UPSTREAM_UNAVAILABLE` with `Retry-After`
   */
  async read(id: string): Promise<Prepared | undefined> {
    const entry = await this.#settled(id)
    return entry && (entry.reply ?? prepare(this.#known(entry)))
  }

  async readByVideo(id: string): Promise<Prepared | undefined> {
    const entry = await this.#settled(id)
    return entry && prepareByVideo(this.#known(entry))
  }

  /** Ends the calls. Idempotent. */
  async close(): Promise<void> {
    this.#closing.abort()
    clearTimeout(this.#timer)
    await Promise.all(this.#running)
  }

  /** A collection that has numbers, or has waited long enough for them. */
  async #settled(id: string): Promise<Entry | undefined> {
    const deadline = steadyNow() + this.#options.readTimeout
    for (;;) {
      const entry = this.#board.entry(id)
      if (!entry || entry.isSettled) return entry
      this.#want(entry)
      // A pause that outlasts the read ends it at once.
      if ((this.#outage()?.until ?? 0) > deadline) return entry
      entry.waiting ??= Promise.withResolvers()
      if (!(await resolveWithin(entry.waiting.promise, deadline - steadyNow(), false))) return entry
    }
  }

  #want(entry: Entry): void {
    const isKnown = entry.isWanted
    entry.isWanted = true
    if (this.#schedule) {
      this.#urge(entry.collection)
      this.#look()
    } else if (!isKnown) this.#options.onWanted?.(entry.collection.id).catch(() => (entry.isWanted = false))
  }

  #urge({ videos }: Collection): void {
    this.#schedule?.urge(this.#board.videos.untried(videos))
  }

  /** @throws Problem `UPSTREAM_UNAVAILABLE` with `Retry-After` where nothing is */
  #known({ collection }: Entry): Reading {
    const reading = this.#board.read(collection)
    if (reading) return reading
    const now = steadyNow()
    const failed = this.#board.videos.fault(collection.videos)
    const outage = this.#outage()
    const problem = outage?.problem ?? failed?.fault
    if (!problem) throw withRetryAfter(errors.UPSTREAM_UNAVAILABLE('YouTube has not answered in time'), 1)
    const { allowance } = this.#options.meter
    const retryAt = failed ? (this.#schedule?.retryAt(failed.id, now, allowance) ?? now) : now
    throw withRetryAfter(problem, Math.max(retryAt, outage?.until ?? now) - now)
  }

  /** Makes the calls that are due, and looks again when others may be. */
  #look(): void {
    clearTimeout(this.#timer)
    if (this.#closing.signal.aborted) return
    // It asks for all, whoever has changed something, and its timer never ends.
    runOutsideTrace(() => this.#begin())
  }

  #begin(): void {
    const { meter } = this.#options
    const now = steadyNow()
    const schedule = this.#schedule
    for (let call; (call = schedule?.next(now, meter.allowance));) this.#run(call, schedule!)
    meter.interval = this.interval()
    if (schedule) this.#reportPause(schedule.pause)
    this.#board.tellStale(now)
    const wakeAt = schedule?.wakeAt(now, meter.allowance) ?? Infinity
    const wait = Math.min(wakeAt - now, HEARTBEAT)
    this.#timer = setTimeout(() => this.#look(), Math.max(1, wait))
  }

  #run(call: Call, schedule: Schedule): void {
    this.#keepRunning(this.#ask(call, schedule))
  }

  #keepRunning(work: Promise<void>): void {
    const running = work.finally(() => this.#running.delete(running))
    this.#running.add(running)
  }

  async #ask(call: Call, schedule: Schedule): Promise<void> {
    const { client, notes, logger, meter, onAsked } = this.#options
    const { videos } = this.#board
    const [asOf, at] = [Date.now(), steadyNow()]
    let touched: readonly string[] = call.ids
    try {
      const { found, failed, fault } = await client.call(call.ids)
      if (schedule !== this.#schedule) return
      const interval = this.interval()
      const ids = call.ids.filter((id) => !failed.includes(id))
      schedule.succeeded(call, at, steadyNow())
      if (fault) schedule.unreadable(failed, call, steadyNow(), meter.allowance, faultOf(fault))
      this.#reportPause(schedule.pause)
      if (call.failure?.times && !fault) logger.info(`${ids.length} videos have fresh numbers again`)
      videos.learn(ids, found, asOf, at, interval)
      notes?.takeNumbers(videos.numbers(found.map(({ id }) => id)), asOf)
      onAsked?.({ ids, found, asOf, age: steadyNow() - at, interval })
      if (fault) this.#tellFailed(failed, fault, call)
    } catch (fault) {
      if (schedule !== this.#schedule) return
      const problem = fault instanceof Problem ? fault : house.INTERNAL(undefined, { cause: fault })
      const cause = faultOf(problem)
      schedule.failed(call, steadyNow(), meter.allowance, cause)
      if (problem !== fault) logger.error('a call failed', fault)
      this.#reportPause(schedule.pause)
      touched = this.#tellFailed(call.ids, problem, call)
    }
    this.#look()
    await this.#take(videos.users(touched))
  }

  /** Records why numbers are unavailable. Returns the videos without any numbers. */
  #tellFailed(ids: readonly string[], problem: Problem, { failure }: Call): readonly string[] {
    const { logger, onFailed } = this.#options
    const isPause = this.#schedule?.pause?.fault.detail === problem.message
    if (!failure?.times && !isPause) logger.error(`${ids.length} videos: ${problem.message}; what is known has to do`)
    const unknown = this.#board.videos.fail(ids, problem)
    if (unknown.length > 0) onFailed?.(unknown, problem.message)
    return unknown
  }

  /** Returns the state of the API, as this node or the polling one sees it. */
  upstream(): UpstreamState {
    const { meter, key } = this.#options
    const source = this.#board.source ?? ''
    const { allowance, used } = meter
    return toUpstreamState({ ...this.#results(), allowance, used, source, key: key?.(source), now: Date.now() })
  }

  /** Returns the results of the calls of this node, or of the polling one. */
  #results(): CallResults {
    if (!this.#schedule) return this.#theirs
    const { pause, hasSucceeded } = this.#schedule
    return { outage: outageOf(pause), hasSucceeded }
  }

  /** Resumes calls after a change of the API key. */
  keyChanged(): void {
    this.#schedule?.keyChanged()
    this.#look()
  }

  /** Returns why first numbers are unavailable, and until when (ms of the steady clock). */
  #outage(): { readonly problem: Problem; readonly until: number } | undefined {
    const pause = this.#schedule?.pause
    if (pause) return { problem: new UpstreamProblem(pause.fault), until: pause.until }
    const { outage } = this.#theirs
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
      onFailed?.([], pause.fault.detail, outageOf(pause))
    }
    if (pause && pause.fault.detail !== before?.fault.detail)
      logger.error(`${pause.fault.detail}; the last known numbers remain. ${pause.fault.remedy}`)
    else if (before && !pause) logger.info('calls to YouTube go on')
  }

  /** Keeps and tells what these collections have now. */
  async #take(ids: readonly string[]): Promise<void> {
    const interval = this.interval()
    const keeping = this.#board.find(ids).map(async ({ collection }) => {
      const reading = this.#board.tried(collection) && this.#board.read(collection)
      if (reading) await this.#keeper.keep(collection, reading, interval)
    })
    await this.#keeper.patience(keeping)
    await this.#board.tell(ids)
  }
}
