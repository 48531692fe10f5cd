import { yieldTurn } from '@influencer-stats/runtime/async/yield'
import {
  prepare,
  STALE_INTERVALS,
  toKnownSummary,
  type KnownSummary,
  type PreparedReply,
  type StatsReading,
} from '../core/prepared-reply.ts'
import type { Snapshot } from '../core/video-numbers.ts'
import type { ReplyUpdate } from '../messages.ts'
import type { SseUpdate } from '../publish/sse-publisher.ts'
import { toPages, type OverviewSource } from '../campaigns/overview/overview-source.ts'
import type { ReportedTotals } from '../posts/reported-totals.ts'
import type { QuotaMeter } from '../quota/quota-meter.ts'
import type { Collection, StatsState } from '../state/stats-state.ts'
import { toSteadyTime, steadyNow } from '@influencer-stats/runtime/steady-clock'
import { VideoTable } from './video-table.ts'

export interface ReplyTableOptions {
  readonly collections: { readonly state: Pick<StatsState, 'get' | 'list' | 'getSnapshot' | 'getSnapshots'> }
  readonly meter: Pick<QuotaMeter, 'interval'>
  /** Origin of the numbers. */
  readonly source?: string | undefined
  /** Sums of the posts of collections. */
  readonly reported?: Pick<ReportedTotals, 'get'>
  /**
   * Publishes the changed replies to every thread; resolves when each thread has them.
   * @param requester `threadId` of a thread that gets them before the reply to its request
   */
  publish(updates: readonly ReplyUpdate[], requester?: number): Promise<unknown>
  /**
   * Called with the replies whose numbers have become stale. Threads need no notice: they compute the age of a reply.
   */
  onStale?(updates: readonly SseUpdate[]): void
  /** Called with the id of each collection that was added, changed or removed, or whose numbers changed. */
  onRowChange?(id: string): void
}

/** A collection and its reply. */
export interface ReplyEntry {
  readonly collection: Collection
  reply?: PreparedReply
  /** Summary in the reply. */
  known?: KnownSummary
  /** True if all its videos were tried: there is a reply, or the reason for its absence is known. */
  isSettled: boolean
  /**
   * Resolves when the entry may have become settled: after a result for one of its videos, and when the collection or
   * the source changes. The waiting read then checks the entry again.
   */
  waiter?: PromiseWithResolvers<true>
  /** True if its staleness was reported. */
  isStale: boolean
  /** True if a request on any node has waited for its first numbers. */
  isRequested?: boolean
}

const PAGE_SIZE = 1_000
/** Interval between two checks for stale numbers (ms). */
const STALE_CHECK_INTERVAL_MS = 1_000

/** Holds the collections and the data of their videos on the main thread, and prepares the replies for all threads. */
export class ReplyTable {
  readonly videos = new VideoTable((id) => this.#entries.get(id)?.collection.archived === true)
  readonly #options: ReplyTableOptions
  readonly #entries = new Map<string, ReplyEntry>()
  #nextCheck = 0

  constructor(options: ReplyTableOptions) {
    this.#options = options
  }

  /** Origin of the numbers. */
  get source(): string | undefined {
    return this.#options.source
  }

  get size(): number {
    return this.#entries.size
  }

  /** Number of collections with stale numbers, without the archive. */
  get staleCount(): number {
    const staleBefore = this.#getStaleBefore()
    let stale = 0
    for (const { reply, collection } of this.#entries.values())
      if (reply && reply.at < staleBefore && !collection.archived) stale++
    return stale
  }

  /** Every collection with the summary of its reply, for an overview. */
  rows: OverviewSource = {
    readPages: () => toPages([...this.#entries.values()], (entry) => this.#settle(entry)),
    getRow: (id) => this.getEntry(id),
  }

  /** Returns all existing replies, for a new thread. */
  getReplies(): ReplyUpdate[] {
    return [...this.#entries].flatMap(([id, { reply }]) => (reply ? [[id, reply] as ReplyUpdate] : []))
  }

  /**
   * Returns the reply of every collection, and if its numbers are stale; `undefined` if no numbers are known. Omits
   * the collections that `prepareAll` has not published yet.
   */
  getCurrentReplies(): SseUpdate[] {
    const entries = [...this.#entries.values()].filter(
      ({ reply, isSettled, collection }) => reply || isSettled || !this.hasTried(collection),
    )
    return this.markStaleUpdates(entries.map(({ reply, collection }) => [collection.id, reply]))
  }

  /** Marks the updates whose numbers are stale. */
  markStaleUpdates(updates: readonly ReplyUpdate[]): SseUpdate[] {
    const staleBefore = this.#getStaleBefore()
    return updates.map(([id, reply]) => [id, reply, reply !== undefined && reply.at < staleBefore])
  }

  getEntry(id: string): ReplyEntry | undefined {
    return this.#settle(this.#entries.get(id))
  }

  /** Returns the waiters of the reads on this node that wait for first numbers. */
  getWaiters = (): PromiseWithResolvers<true>[] => [...this.#entries.values()].flatMap(({ waiter }) => waiter ?? [])

  /** Returns the collections for whose first numbers a request waits or has waited. */
  getRequestedEntries(): ReplyEntry[] {
    return [...this.#entries.values()].filter(({ isRequested }) => isRequested)
  }

  /** Loads the collections and their last known numbers. The numbers of a page and the next page are read concurrently. */
  async load(): Promise<void> {
    for (let page = await this.#readPage(''); page.collections.length > 0;) {
      const [snapshots, next] = await Promise.all([page.snapshots, this.#readPage(page.collections.at(-1)!.id)])
      for (const [i, collection] of page.collections.entries()) this.#addEntry(collection, snapshots[i])
      page = next
    }
  }

  /** Reads a page of collections, and begins to read their last known numbers. */
  async #readPage(after: string) {
    const { state: all } = this.#options.collections
    const collections = await all.list(after, PAGE_SIZE)
    const snapshots = Promise.resolve(all.getSnapshots(collections.map(({ id }) => id)))
    // `load` awaits this promise later, and reports its fault then.
    snapshots.catch(() => {})
    return { collections, snapshots }
  }

  /**
   * Reads imported collections and their last known numbers from the database, whose reads are synchronous.
   * @returns the videos of the collections before and after the change
   */
  reload(ids: readonly string[]): Set<string> {
    const { state } = this.#options.collections
    const videos = new Set<string>()
    for (const id of ids) {
      const collection = state.get(id) as Collection | undefined
      const changed = this.change(id, collection, collection && (state.getSnapshot(id) as Snapshot | undefined))
      for (const video of changed.videos) videos.add(video)
    }
    return videos
  }

  #addEntry(collection: Collection, last: Snapshot | undefined): void {
    if (this.#entries.has(collection.id)) return
    this.#entries.set(collection.id, { collection, isSettled: false, isStale: false })
    this.videos.use(collection.videos, collection.id)
    this.#recordLast(last)
  }

  #recordLast(last: Snapshot | undefined): void {
    if (!last) return
    const known = [...last.videos.map(({ id }) => id), ...last.missing]
    this.videos.recordNumbers(known, last.videos, last.asOf, toSteadyTime(last.asOf), this.#options.meter.interval)
  }

  /**
   * Prepares and publishes the replies of the loaded collections in pages. Other work runs between two pages. Reads do
   * not wait for this: `getEntry` prepares the reply of its collection.
   */
  async prepareAll(signal: AbortSignal): Promise<void> {
    const entries = [...this.#entries.values()]
    for (let i = 0; i < entries.length && !signal.aborted; i += PAGE_SIZE) {
      if (i > 0) await yieldTurn()
      const page = entries.slice(i, i + PAGE_SIZE).filter((entry) => this.#entries.get(entry.collection.id) === entry)
      for (const entry of page) this.#settle(entry)
      await this.publish(page.filter(({ reply }) => reply).map(({ collection }) => collection.id))
    }
  }

  /** Prepares a collection's reply, unless it is prepared already. */
  #settle<T extends ReplyEntry | undefined>(entry: T): T {
    if (entry && !entry.isSettled) this.#renew(entry)
    return entry
  }

  /**
   * Adds, changes or removes a collection.
   * @param last stored numbers of a collection that was not in use
   * @returns its entry, its videos before and after the change, and those that no collection contained before
   */
  change(
    id: string,
    collection: Collection | undefined,
    last?: Snapshot,
  ): { entry?: ReplyEntry; added: string[]; videos: Set<string> } {
    const old = this.#entries.get(id)
    this.#entries.delete(id)
    this.#options.onRowChange?.(id)
    const released = new Set(old?.collection.videos)
    const all = new Set([...released, ...(collection?.videos ?? [])])
    for (const video of collection?.videos ?? []) released.delete(video)
    this.videos.release([...released], id)
    old?.waiter?.resolve(true)
    if (!collection) return { added: [], videos: all }
    const entry: ReplyEntry = { collection, isSettled: false, isStale: false }
    this.#entries.set(id, entry)
    const added = this.videos.use(collection.videos, id)
    this.#recordLast(last)
    this.#renew(entry)
    return { entry, added, videos: all }
  }

  /** The collections and their videos, for side calls. */
  readonly content = {
    listCollections: (): Collection[] => Array.from(this.#entries.values(), ({ collection }) => collection),
    getCollection: (id: string): Collection | undefined => this.#entries.get(id)?.collection,
    listVideos: (): string[] => [...this.videos.ids],
  }

  find = (ids: readonly string[]): ReplyEntry[] => ids.flatMap((id) => this.#entries.get(id) ?? [])

  hasTried = ({ videos }: Collection): boolean => this.videos.getUntried(videos).length === 0

  /** Returns the data of a collection's videos; undefined if none of them has any. */
  read({ id, videos }: Collection): StatsReading | undefined {
    const { source, reported } = this.#options
    const reading = this.videos.read(videos)
    return reading && { ...reading, source, reported: reported?.get(id) }
  }

  /** Prepares and publishes the current numbers of these collections. */
  async publishChanged(ids: readonly string[]): Promise<void> {
    const entries = this.find(ids)
    for (const entry of entries) this.#renew(entry)
    await this.publish(entries.filter(({ reply }) => reply).map(({ collection }) => collection.id))
    for (const entry of entries) {
      entry.waiter?.resolve(true)
      entry.waiter = undefined
    }
  }

  /** Prepares a collection's reply if all its videos were tried. */
  #renew(entry: ReplyEntry): void {
    if (!this.hasTried(entry.collection)) return
    const reading = this.read(entry.collection)
    entry.known = reading && toKnownSummary(reading)
    entry.reply = reading && prepare(reading, entry.known!.summary)
    entry.isSettled = true
    entry.isStale = false
    this.#options.onRowChange?.(entry.collection.id)
  }

  /**
   * Publishes the replies that these collections have now. Replies from before a fetch would be wrong, because a
   * collection may have changed during the fetch.
   */
  async publish(ids: readonly string[], requester?: number): Promise<void> {
    if (ids.length > 0)
      await this.#options.publish(
        ids.map((id) => [id, this.#entries.get(id)?.reply]),
        requester,
      )
  }

  publishAll = (): Promise<void> => this.publish([...this.#entries.keys()])

  /** Reports the replies that have become stale. */
  publishStale(now: number): void {
    const { onStale } = this.#options
    if (!onStale || now < this.#nextCheck) return
    this.#nextCheck = now + STALE_CHECK_INTERVAL_MS
    const staleBefore = this.#getStaleBefore()
    const stale = [...this.#entries.values()].filter(
      ({ reply, isStale }) => !isStale && reply && reply.at < staleBefore,
    )
    for (const entry of stale) entry.isStale = true
    if (stale.length > 0) onStale(stale.map(({ collection, reply }) => [collection.id, reply, true]))
  }

  /** Returns the request time before which numbers are stale (ms of the monotonic clock). */
  #getStaleBefore = (): number => steadyNow() - STALE_INTERVALS * this.#options.meter.interval
}
