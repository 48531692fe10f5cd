import { setImmediate as nextTurn } from 'node:timers/promises'
import type { CollectionsOwner } from './collections.ts'
import {
  asStale,
  prepare,
  STALE_INTERVALS,
  summarize,
  type Known,
  type Prepared,
  type Reading,
} from './core/prepared.ts'
import type { Snapshot } from './core/numbers.ts'
import type { Update } from './messages.ts'
import { inPages, type OverviewSource } from './overview.ts'
import type { QuotaMeter } from './quota-meter.ts'
import type { Collection } from './state/state.ts'
import { toSteadyTime, steadyNow } from '@influencer-stats/runtime/steady-clock'
import { VideoTable } from './video-table.ts'

export interface BoardOptions {
  readonly collections: Pick<CollectionsOwner, 'list' | 'snapshots'>
  readonly meter: Pick<QuotaMeter, 'interval'>
  /** Origin of the numbers. */
  readonly source?: string | undefined
  /** Gives every thread the replies that changed; resolves when each has them. */
  publish(updates: readonly Update[]): Promise<unknown>
  /** Told the replies whose numbers have become stale. Threads need not be: they see how old a reply is. */
  onStale?(updates: readonly Update[]): void
}

/** A collection, and what is told of it. */
export interface Entry {
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
  /** Whether somebody waits for its first numbers, on any machine. */
  isWanted?: boolean
}

const PAGE = 1_000
/** Numbers are looked at this often, whether they have become stale (ms). */
const CHECK_EVERY = 1_000

/** On main: the collections and what is known of their videos, from which it makes the replies that all threads have. */
export class Board {
  readonly videos = new VideoTable()
  readonly #options: BoardOptions
  readonly #entries = new Map<string, Entry>()
  #nextCheck = 0

  constructor(options: BoardOptions) {
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
    const oldest = this.#oldest()
    let stale = 0
    for (const { reply } of this.#entries.values()) if (reply && reply.at < oldest) stale++
    return stale
  }

  /** Every collection with what its reply says, for an overview. */
  rows: OverviewSource = {
    pages: () => inPages([...this.#entries.values()], (entry) => this.#settle(entry)),
    one: (id) => this.entry(id),
  }

  /** Every reply there is: what a new thread starts with. */
  replies(): Update[] {
    return [...this.#entries].flatMap(([id, { reply }]) => (reply ? [[id, reply] as Update] : []))
  }

  /**
   * Every collection's reply as it reads now; `undefined` where no numbers are known. Without those that `prepareAll` is
   * still to publish.
   */
  currentReplies(): Update[] {
    const entries = [...this.#entries.values()].filter(
      ({ reply, isSettled, collection }) => reply || isSettled || !this.tried(collection),
    )
    return this.asTheyRead(entries.map(({ reply, collection }) => [collection.id, reply]))
  }

  /** What is too old is told as stale. */
  asTheyRead(updates: readonly Update[]): Update[] {
    const oldest = this.#oldest()
    return updates.map(([id, reply]) => [id, reply && reply.at < oldest ? asStale(reply) : reply])
  }

  entry(id: string): Entry | undefined {
    return this.#settle(this.#entries.get(id))
  }

  /** Returns the pending reads of first numbers on this machine. */
  waiting = (): PromiseWithResolvers<true>[] => [...this.#entries.values()].flatMap(({ waiting }) => waiting ?? [])

  /** Those of which somebody waits for first numbers. */
  wanted(): Entry[] {
    return [...this.#entries.values()].filter(({ isWanted }) => isWanted)
  }

  /** Loads the collections and their last known numbers: the state reads those of the next page while one is taken up. */
  async load(): Promise<void> {
    for (let page = await this.#readPage(''); page.collections.length > 0;) {
      const [last, next] = await Promise.all([page.last, this.#readPage(page.collections.at(-1)!.id)])
      for (const [i, collection] of page.collections.entries()) this.#takeUp(collection, last[i])
      page = next
    }
  }

  /** A page of collections, and their last known numbers to come. */
  async #readPage(after: string) {
    const { collections: all } = this.#options
    const collections = await all.list(after, PAGE)
    const last = Promise.resolve(all.snapshots(collections.map(({ id }) => id)))
    // Whoever waits for it says why.
    last.catch(() => {})
    return { collections, last }
  }

  #takeUp(collection: Collection, last: Snapshot | undefined): void {
    if (this.#entries.has(collection.id)) return
    this.#entries.set(collection.id, { collection, isSettled: false, isStale: false })
    this.videos.use(collection.videos, collection.id)
    if (!last) return
    const known = [...last.videos.map(({ id }) => id), ...last.missing]
    this.videos.learn(known, last.videos, last.asOf, toSteadyTime(last.asOf), this.#options.meter.interval)
  }

  /** Prepares and publishes what was loaded, a page a turn: nobody waits for those of others. */
  async prepareAll(signal: AbortSignal): Promise<void> {
    const entries = [...this.#entries.values()]
    for (let i = 0; i < entries.length && !signal.aborted; i += PAGE) {
      if (i > 0) await nextTurn()
      const page = entries.slice(i, i + PAGE).filter((entry) => this.#entries.get(entry.collection.id) === entry)
      for (const entry of page) this.#settle(entry)
      await this.publish(page.filter(({ reply }) => reply).map(({ collection }) => collection.id))
    }
  }

  /** Prepares a collection's reply unless that was done. */
  #settle<T extends Entry | undefined>(entry: T): T {
    if (entry && !entry.isSettled) this.#renew(entry)
    return entry
  }

  /**
   * Takes up a new or changed collection, or forgets one.
   * @returns it, its videos that are new here, and those that no collection has any more
   */
  change(id: string, collection: Collection | undefined): { entry?: Entry; added: string[]; forgotten: string[] } {
    const old = this.#entries.get(id)
    this.#entries.delete(id)
    const gone = new Set(old?.collection.videos)
    for (const video of collection?.videos ?? []) gone.delete(video)
    const forgotten = this.videos.release([...gone], id)
    old?.waiting?.resolve(true)
    if (!collection) return { added: [], forgotten }
    const entry: Entry = { collection, isSettled: false, isStale: false }
    this.#entries.set(id, entry)
    const added = this.videos.use(collection.videos, id)
    this.#renew(entry)
    return { entry, added, forgotten }
  }

  find = (ids: readonly string[]): Entry[] => ids.flatMap((id) => this.#entries.get(id) ?? [])

  tried = ({ videos }: Collection): boolean => this.videos.untried(videos).length === 0

  /** What is known of a collection's videos; nothing if that is of none of them. */
  read({ videos }: Collection): Reading | undefined {
    const reading = this.videos.read(videos)
    return reading && { ...reading, source: this.#options.source }
  }

  /** Prepares and publishes what these collections have now. */
  async tell(ids: readonly string[]): Promise<void> {
    const entries = this.find(ids)
    for (const entry of entries) this.#renew(entry)
    await this.publish(entries.filter(({ reply }) => reply).map(({ collection }) => collection.id))
    for (const entry of entries) {
      entry.waiting?.resolve(true)
      entry.waiting = undefined
    }
  }

  /** Prepares a collection's reply, once all its videos were tried. */
  #renew(entry: Entry): void {
    if (!this.tried(entry.collection)) return
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
  tellStale(now: number): void {
    const { onStale } = this.#options
    if (!onStale || now < this.#nextCheck) return
    this.#nextCheck = now + CHECK_EVERY
    const oldest = this.#oldest()
    const stale = [...this.#entries.values()].filter(({ reply, isStale }) => !isStale && reply && reply.at < oldest)
    for (const entry of stale) entry.isStale = true
    if (stale.length > 0) onStale(stale.map(({ collection, reply }) => [collection.id, asStale(reply!)]))
  }

  /** When numbers have to be from at least, not to be stale. */
  #oldest = (): number => steadyNow() - STALE_INTERVALS * this.#options.meter.interval
}
