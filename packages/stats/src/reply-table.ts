import { setImmediate as nextTurn } from 'node:timers/promises'
import type { CollectionsOwner } from './collections.ts'
import {
  toStaleReply,
  prepare,
  STALE_INTERVALS,
  summarize,
  type KnownSummary,
  type PreparedReply,
  type StatsReading,
} from './core/prepared-reply.ts'
import type { Snapshot } from './core/video-numbers.ts'
import type { ReplyUpdate } from './messages.ts'
import { toPages, type OverviewSource } from './overview.ts'
import type { QuotaMeter } from './quota-meter.ts'
import type { Collection } from './state/stats-state.ts'
import { toSteadyTime, steadyNow } from '@influencer-stats/runtime/steady-clock'
import { VideoTable } from './video-table.ts'

export interface ReplyTableOptions {
  readonly collections: Pick<CollectionsOwner, 'list' | 'getSnapshots'>
  readonly meter: Pick<QuotaMeter, 'interval'>
  /** Origin of the numbers. */
  readonly source?: string | undefined
  /** Gives every thread the replies that changed; resolves when each has them. */
  publish(updates: readonly ReplyUpdate[]): Promise<unknown>
  /** Told the replies whose numbers have become stale. Threads need not be: they see how old a reply is. */
  onStale?(updates: readonly ReplyUpdate[]): void
}

/** A collection, and what is told of it. */
export interface ReplyEntry {
  readonly collection: Collection
  reply?: PreparedReply
  /** What the reply says. */
  known?: KnownSummary
  /** Whether all its videos were tried: there is a reply, or it is known why there is none. */
  isSettled: boolean
  /** What waits for that. */
  waiter?: PromiseWithResolvers<true>
  /** Whether it was told that its numbers are. */
  isStale: boolean
  /** Whether somebody waits for its first numbers, on any machine. */
  isRequested?: boolean
}

const PAGE_SIZE = 1_000
/** Numbers are looked at this often, whether they have become stale (ms). */
const STALE_CHECK_INTERVAL_MS = 1_000

/** On main: the collections and what is known of their videos, from which it makes the replies that all threads have. */
export class ReplyTable {
  readonly videos = new VideoTable()
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

  /** How many collections have numbers that should be fresher. */
  get stale(): number {
    const staleBefore = this.#staleBefore()
    let stale = 0
    for (const { reply } of this.#entries.values()) if (reply && reply.at < staleBefore) stale++
    return stale
  }

  /** Every collection with what its reply says, for an overview. */
  rows: OverviewSource = {
    readPages: () => toPages([...this.#entries.values()], (entry) => this.#settle(entry)),
    getRow: (id) => this.getEntry(id),
  }

  /** Every reply there is: what a new thread starts with. */
  getReplies(): ReplyUpdate[] {
    return [...this.#entries].flatMap(([id, { reply }]) => (reply ? [[id, reply] as ReplyUpdate] : []))
  }

  /**
   * Every collection's reply as it reads now; `undefined` where no numbers are known. Without those that `prepareAll` is
   * still to publish.
   */
  getCurrentReplies(): ReplyUpdate[] {
    const entries = [...this.#entries.values()].filter(
      ({ reply, isSettled, collection }) => reply || isSettled || !this.hasTried(collection),
    )
    return this.markStaleUpdates(entries.map(({ reply, collection }) => [collection.id, reply]))
  }

  /** What is too old is told as stale. */
  markStaleUpdates(updates: readonly ReplyUpdate[]): ReplyUpdate[] {
    const staleBefore = this.#staleBefore()
    return updates.map(([id, reply]) => [id, reply && reply.at < staleBefore ? toStaleReply(reply) : reply])
  }

  getEntry(id: string): ReplyEntry | undefined {
    return this.#settle(this.#entries.get(id))
  }

  /** Returns the pending reads of first numbers on this machine. */
  getWaiters = (): PromiseWithResolvers<true>[] => [...this.#entries.values()].flatMap(({ waiter }) => waiter ?? [])

  /** Those of which somebody waits for first numbers. */
  getRequestedEntries(): ReplyEntry[] {
    return [...this.#entries.values()].filter(({ isRequested }) => isRequested)
  }

  /** Loads the collections and their last known numbers: the state reads those of the next page while one is taken up. */
  async load(): Promise<void> {
    for (let page = await this.#readPage(''); page.collections.length > 0;) {
      const [last, next] = await Promise.all([page.last, this.#readPage(page.collections.at(-1)!.id)])
      for (const [i, collection] of page.collections.entries()) this.#addEntry(collection, last[i])
      page = next
    }
  }

  /** A page of collections, and their last known numbers to come. */
  async #readPage(after: string) {
    const { collections: all } = this.#options
    const collections = await all.list(after, PAGE_SIZE)
    const last = Promise.resolve(all.getSnapshots(collections.map(({ id }) => id)))
    // Whoever waits for it says why.
    last.catch(() => {})
    return { collections, last }
  }

  #addEntry(collection: Collection, last: Snapshot | undefined): void {
    if (this.#entries.has(collection.id)) return
    this.#entries.set(collection.id, { collection, isSettled: false, isStale: false })
    this.videos.use(collection.videos, collection.id)
    if (!last) return
    const known = [...last.videos.map(({ id }) => id), ...last.missing]
    this.videos.recordNumbers(known, last.videos, last.asOf, toSteadyTime(last.asOf), this.#options.meter.interval)
  }

  /** Prepares and publishes what was loaded, a page a turn: nobody waits for those of others. */
  async prepareAll(signal: AbortSignal): Promise<void> {
    const entries = [...this.#entries.values()]
    for (let i = 0; i < entries.length && !signal.aborted; i += PAGE_SIZE) {
      if (i > 0) await nextTurn()
      const page = entries.slice(i, i + PAGE_SIZE).filter((entry) => this.#entries.get(entry.collection.id) === entry)
      for (const entry of page) this.#settle(entry)
      await this.publish(page.filter(({ reply }) => reply).map(({ collection }) => collection.id))
    }
  }

  /** Prepares a collection's reply unless that was done. */
  #settle<T extends ReplyEntry | undefined>(entry: T): T {
    if (entry && !entry.isSettled) this.#renew(entry)
    return entry
  }

  /**
   * Takes up a new or changed collection, or forgets one.
   * @returns it, its videos that are new here, and those that no collection has any more
   */
  change(id: string, collection: Collection | undefined): { entry?: ReplyEntry; added: string[]; forgotten: string[] } {
    const old = this.#entries.get(id)
    this.#entries.delete(id)
    const released = new Set(old?.collection.videos)
    for (const video of collection?.videos ?? []) released.delete(video)
    const forgotten = this.videos.release([...released], id)
    old?.waiter?.resolve(true)
    if (!collection) return { added: [], forgotten }
    const entry: ReplyEntry = { collection, isSettled: false, isStale: false }
    this.#entries.set(id, entry)
    const added = this.videos.use(collection.videos, id)
    this.#renew(entry)
    return { entry, added, forgotten }
  }

  find = (ids: readonly string[]): ReplyEntry[] => ids.flatMap((id) => this.#entries.get(id) ?? [])

  hasTried = ({ videos }: Collection): boolean => this.videos.getUntried(videos).length === 0

  /** What is known of a collection's videos; nothing if that is of none of them. */
  read({ videos }: Collection): StatsReading | undefined {
    const reading = this.videos.read(videos)
    return reading && { ...reading, source: this.#options.source }
  }

  /** Prepares and publishes what these collections have now. */
  async publishChanged(ids: readonly string[]): Promise<void> {
    const entries = this.find(ids)
    for (const entry of entries) this.#renew(entry)
    await this.publish(entries.filter(({ reply }) => reply).map(({ collection }) => collection.id))
    for (const entry of entries) {
      entry.waiter?.resolve(true)
      entry.waiter = undefined
    }
  }

  /** Prepares a collection's reply, once all its videos were tried. */
  #renew(entry: ReplyEntry): void {
    if (!this.hasTried(entry.collection)) return
    const reading = this.read(entry.collection)
    entry.known = reading && { summary: summarize(reading.snapshot), at: reading.at, source: reading.source }
    entry.reply = reading && prepare(reading, entry.known!.summary)
    entry.isSettled = true
    entry.isStale = false
  }

  /**
   * Gives the threads what these collections have now, not what they had when somebody began to fetch: a collection may
   * have been changed and published since.
   */
  async publish(ids: readonly string[]): Promise<void> {
    if (ids.length > 0) await this.#options.publish(ids.map((id) => [id, this.#entries.get(id)?.reply]))
  }

  publishAll = (): Promise<void> => this.publish([...this.#entries.keys()])

  /** Tells those that have become stale. */
  publishStale(now: number): void {
    const { onStale } = this.#options
    if (!onStale || now < this.#nextCheck) return
    this.#nextCheck = now + STALE_CHECK_INTERVAL_MS
    const staleBefore = this.#staleBefore()
    const stale = [...this.#entries.values()].filter(
      ({ reply, isStale }) => !isStale && reply && reply.at < staleBefore,
    )
    for (const entry of stale) entry.isStale = true
    if (stale.length > 0) onStale(stale.map(({ collection, reply }) => [collection.id, toStaleReply(reply!)]))
  }

  /** When numbers have to be from at least, not to be stale. */
  #staleBefore = (): number => steadyNow() - STALE_INTERVALS * this.#options.meter.interval
}
