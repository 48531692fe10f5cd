import { errors as house } from '@influencer-stats/runtime/errors'
import { Problem } from '@influencer-stats/runtime/problems'
import type { VideoClient } from './client/client.ts'
import type { CollectionsOwner } from './collections.ts'
import {
  asStale,
  prepare,
  prepareByVideo,
  STALE_INTERVALS,
  summarize,
  type Known,
  type Prepared,
  type Reading,
} from './core/prepared.ts'
import { Schedule, type Call } from './core/schedule.ts'
import { within } from './deadline.ts'
import { errors } from './errors.ts'
import type { Logger } from './logger/logger.ts'
import type { Update } from './messages.ts'
import type { QuotaMeter } from './quota-meter.ts'
import { inPages, type OverviewSource } from './overview.ts'
import { SnapshotKeeper } from './snapshot-keeper.ts'
import type { Collection } from './state/state.ts'
import { steadyAt, steadyNow } from './steady-clock.ts'
import { withRetryAfter } from './upstream-reader.ts'
import { VideoTable } from './video-table.ts'

export interface PollerOptions {
  readonly collections: Pick<CollectionsOwner, 'list' | 'snapshots' | 'saveSnapshot'>
  readonly client: Pick<VideoClient, 'call' | 'idsPerCall'>
  readonly meter: QuotaMeter
  readonly logger: Logger
  /** Numbers are refreshed at most this often (ms). */
  readonly refreshInterval: number
  /** Most calls at a time. */
  readonly connections: number
  /** How long a read waits for a collection's first numbers (ms). */
  readonly readTimeout: number
  /** Gives every thread the replies that changed; resolves when each has them. */
  publish(updates: readonly Update[]): Promise<unknown>
  /** Told the replies whose numbers have become stale. Threads need not be: they see how old a reply is. */
  onStale?(updates: readonly Update[]): void
}

interface Entry {
  readonly collection: Collection
  reply?: Prepared
  /** What the reply says. */
  known?: Known
  /** Whether all its videos were tried: there is a reply, or it is known why there is none. */
  isSettled: boolean
  /** What waits for that. */
  waiting?: PromiseWithResolvers<true>
  /** Whether it was told that its numbers are. */
  isStale: boolean
}

const PAGE = 1_000
/** The schedule is looked at this often at least (ms): the budget, the day and what is stale change by themselves. */
const HEARTBEAT = 1_000

/**
 * On main: makes the calls that the schedule decides on, and publishes to the serving threads, as ready-made replies, what
 * each of them has changed.
 */
export class Poller {
  readonly #options: PollerOptions
  readonly #entries = new Map<string, Entry>()
  readonly #videos = new VideoTable()
  readonly #schedule: Schedule
  readonly #keeper: SnapshotKeeper
  readonly #running = new Set<Promise<void>>()
  #timer: NodeJS.Timeout | undefined
  #nextCheck = 0
  #closed = false

  constructor(options: PollerOptions) {
    const { client, connections, refreshInterval, meter } = options
    this.#options = options
    this.#schedule = new Schedule({ idsPerCall: client.idsPerCall, connections, fastest: refreshInterval }, steadyNow())
    this.#keeper = new SnapshotKeeper(options)
    meter.interval = refreshInterval
  }

  /** Loads the collections and their last known numbers, and begins to ask for what is old or unknown. */
  async start(): Promise<void> {
    const { collections } = this.#options
    for (let after = '', page; (page = await collections.list(after, PAGE)).length > 0; after = page.at(-1)!.id) {
      const snapshots = await collections.snapshots(page.map(({ id }) => id))
      for (const [i, collection] of page.entries()) {
        if (this.#entries.has(collection.id)) continue
        this.#entries.set(collection.id, { collection, isSettled: false, isStale: false })
        this.#videos.use(collection.videos, collection.id)
        const last = snapshots[i]
        if (!last) continue
        const known = [...last.videos.map(({ id }) => id), ...last.missing]
        this.#videos.learn(known, last.videos, last.asOf, steadyAt(last.asOf))
      }
    }
    const times = this.#videos.times()
    const known = times.filter((one): one is [string, number] => one[1] !== undefined)
    for (const [id, at] of known.sort((a, b) => a[1] - b[1])) this.#schedule.known(id, at)
    const unknown = times.filter(([, at]) => at === undefined).map(([id]) => id)
    this.#schedule.resume(unknown, steadyNow())
    for (const entry of this.#entries.values()) this.#renew(entry)
    this.#look()
  }

  get size(): number {
    return this.#entries.size
  }

  /** How many collections have numbers that should be fresher. */
  get stale(): number {
    const oldest = this.#oldest()
    let stale = 0
    for (const { reply } of this.#entries.values()) if (reply && reply.at < oldest) stale++
    return stale
  }

  /** Every collection with what its reply says, for an overview. */
  rows: OverviewSource = {
    pages: () => inPages([...this.#entries.values()]),
    one: (id) => this.#entries.get(id),
  }

  /** Every reply there is: what a new thread starts with. */
  replies(): Update[] {
    return [...this.#entries].flatMap(([id, { reply }]) => (reply ? [[id, reply] as Update] : []))
  }

  /** The same as they read now. */
  currentReplies(): Update[] {
    const oldest = this.#oldest()
    return this.replies().map(([id, reply]) => [id, reply!.at < oldest ? asStale(reply!) : reply])
  }

  /** How long from one refresh of everything to the next (ms). */
  interval(): number {
    return this.#schedule.interval(this.#options.meter.allowance)
  }

  /** Takes up a new or changed collection, or forgets one; resolves when every thread knows. */
  async changed(id: string, collection: Collection | undefined): Promise<void> {
    const old = this.#entries.get(id)
    this.#entries.delete(id)
    if (old) {
      const gone = new Set(old.collection.videos)
      for (const video of collection?.videos ?? []) gone.delete(video)
      for (const video of this.#videos.release([...gone], id)) this.#schedule.forget(video)
    }
    if (collection) {
      const entry: Entry = { collection, isSettled: false, isStale: false }
      this.#entries.set(id, entry)
      this.#schedule.want(this.#videos.use(collection.videos, id), steadyNow())
      this.#renew(entry)
      if (entry.reply) void this.#keeper.keepChange(collection, this.#videos.read(collection.videos)!)
    }
    old?.waiting?.resolve(true)
    this.#look()
    await this.#publish([id])
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
    this.#closed = true
    clearTimeout(this.#timer)
    await Promise.all(this.#running)
  }

  /** A collection that has numbers, or has waited long enough for them. */
  async #settled(id: string): Promise<Entry | undefined> {
    const deadline = steadyNow() + this.#options.readTimeout
    for (;;) {
      const entry = this.#entries.get(id)
      if (!entry || entry.isSettled) return entry
      this.#schedule.urge(this.#videos.untried(entry.collection.videos))
      this.#look()
      entry.waiting ??= Promise.withResolvers()
      if (!(await within(entry.waiting.promise, deadline - steadyNow(), false))) return entry
    }
  }

  /** @throws Problem `UPSTREAM_UNAVAILABLE` with `Retry-After` where nothing is */
  #known({ collection: { videos } }: Entry): Reading {
    const reading = this.#videos.read(videos)
    if (reading) return reading
    const failed = this.#videos.fault(videos)
    if (!failed) throw withRetryAfter(errors.UPSTREAM_UNAVAILABLE('YouTube has not answered in time'), 1)
    const now = steadyNow()
    throw withRetryAfter(failed.fault, this.#schedule.retryAt(failed.id, now, this.#options.meter.allowance) - now)
  }

  /** Makes the calls that are due, and looks again when others may be. */
  #look(): void {
    clearTimeout(this.#timer)
    if (this.#closed) return
    const { meter } = this.#options
    const now = steadyNow()
    for (let call; (call = this.#schedule.next(now, meter.allowance));) this.#begin(call)
    meter.interval = this.interval()
    this.#tellStale(now)
    const wait = Math.min(this.#schedule.wakeAt(now, meter.allowance) - now, HEARTBEAT)
    this.#timer = setTimeout(() => this.#look(), Math.max(1, wait))
  }

  #begin(call: Call): void {
    const running = this.#ask(call).finally(() => this.#running.delete(running))
    this.#running.add(running)
  }

  async #ask(call: Call): Promise<void> {
    const { client, logger, meter } = this.#options
    const [asOf, at] = [Date.now(), steadyNow()]
    let touched: readonly string[] = call.ids
    try {
      const found = await client.call(call.ids)
      this.#schedule.succeeded(call, at, steadyNow())
      if (call.failure?.times) logger.info(`${call.ids.length} videos have fresh numbers again`)
      this.#videos.learn(call.ids, found, asOf, at)
    } catch (fault) {
      this.#schedule.failed(call, steadyNow(), meter.allowance)
      const problem = fault instanceof Problem ? fault : house.INTERNAL(undefined, { cause: fault })
      if (problem !== fault) logger.error('a call failed', fault)
      else if (!call.failure?.times)
        logger.error(`${call.ids.length} videos: ${problem.message}; what is known has to do`)
      touched = this.#videos.fail(call.ids, problem)
    }
    this.#look()
    await this.#take(this.#videos.users(touched))
  }

  /** Keeps, prepares and publishes what these collections have now. */
  async #take(ids: readonly string[]): Promise<void> {
    const interval = this.interval()
    const keeping = this.#find(ids).map(async ({ collection }) => {
      const reading = this.#tried(collection) && this.#videos.read(collection.videos)
      if (reading) await this.#keeper.keep(collection, reading, interval)
    })
    await this.#keeper.patience(keeping)
    const entries = this.#find(ids)
    for (const entry of entries) this.#renew(entry)
    await this.#publish(entries.filter(({ reply }) => reply).map(({ collection }) => collection.id))
    for (const entry of entries) {
      entry.waiting?.resolve(true)
      entry.waiting = undefined
    }
  }

  #find = (ids: readonly string[]): Entry[] => ids.flatMap((id) => this.#entries.get(id) ?? [])

  #tried = ({ videos }: Collection): boolean => this.#videos.untried(videos).length === 0

  /** Prepares a collection's reply, once all its videos were tried. */
  #renew(entry: Entry): void {
    if (!this.#tried(entry.collection)) return
    const reading = this.#videos.read(entry.collection.videos)
    entry.known = reading && { summary: summarize(reading.snapshot), at: reading.at }
    entry.reply = reading && prepare(reading, entry.known!.summary)
    entry.isSettled = true
    entry.isStale = false
  }

  /**
   * Gives the threads what these collections have now, not what they had when somebody began to fetch: a collection may
   * have been changed and published since.
   */
  async #publish(ids: readonly string[]): Promise<void> {
    if (ids.length > 0) await this.#options.publish(ids.map((id) => [id, this.#entries.get(id)?.reply]))
  }

  #tellStale(now: number): void {
    const { onStale } = this.#options
    if (!onStale || now < this.#nextCheck) return
    this.#nextCheck = now + HEARTBEAT
    const oldest = this.#oldest()
    const stale = [...this.#entries.values()].filter(({ reply, isStale }) => !isStale && reply && reply.at < oldest)
    for (const entry of stale) entry.isStale = true
    if (stale.length > 0) onStale(stale.map(({ collection, reply }) => [collection.id, asStale(reply!)]))
  }

  /** When numbers have to be from at least, not to be stale. */
  #oldest = (): number => steadyNow() - STALE_INTERVALS * this.#options.meter.interval
}
