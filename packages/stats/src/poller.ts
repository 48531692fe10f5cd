import { errors } from '@influencer-stats/runtime/errors'
import { Problem } from '@influencer-stats/runtime/problems'
import { restrict, type Snapshot } from './core/numbers.ts'
import { IDS_PER_CALL, refreshInterval } from './core/pace.ts'
import { prepare, prepareByVideo, type Prepared, type Reading } from './core/prepared.ts'
import type { CollectionsOwner } from './collections.ts'
import type { Logger } from './logger/logger.ts'
import type { Update } from './messages.ts'
import type { QuotaMeter } from './quota-meter.ts'
import { withRetryAfter, type UpstreamReader } from './upstream-reader.ts'
import type { Collection } from './state/state.ts'

export interface PollerOptions {
  readonly collections: Pick<CollectionsOwner, 'list' | 'snapshots'>
  readonly upstream: UpstreamReader
  readonly meter: QuotaMeter
  readonly logger: Logger
  /** Numbers are refreshed at most this often (ms). */
  readonly refreshInterval: number
  /** Gives every thread the replies that changed; resolves when each has them. */
  publish(updates: readonly Update[]): Promise<unknown>
}

interface Entry {
  readonly collection: Collection
  reading?: Reading
  reply?: Prepared
  /** The first numbers of a collection are being fetched; readers wait for them. */
  fetching?: Promise<void>
  /** Why there are none, and until when nobody tries again (ms). */
  failed?: { problem: Problem; until: number }
}

const PAGE = 1_000
const FIRST_RETRY = 1_000
const LAST_RETRY = 60_000

/**
 * On main: asks YouTube for all collections at an interval that the quota allows, and publishes ready-made replies to
 * the serving threads. Where YouTube fails, replies are published anew as stale, and it is asked less and less often.
 */
export class Poller {
  readonly #options: PollerOptions
  readonly #entries = new Map<string, Entry>()
  #timer: NodeJS.Timeout | undefined
  #round: Promise<void> = Promise.resolve()
  #roundsFailed = 0
  /** When the next round of all collections is due (ms since the epoch). */
  #due = 0
  #closed = false

  constructor(options: PollerOptions) {
    this.#options = options
  }

  /** Loads the collections and their last known numbers, and begins the first round. */
  async start(): Promise<void> {
    const { collections } = this.#options
    const loaded: { collection: Collection; snapshot: Snapshot | undefined }[] = []
    for (let after = '', page; (page = await collections.list(after, PAGE)).length > 0; after = page.at(-1)!.id) {
      const snapshots = await collections.snapshots(page.map(({ id }) => id))
      page.forEach((collection, i) => void loaded.push({ collection, snapshot: snapshots[i] }))
    }
    for (const { collection } of loaded) this.#set({ collection }, undefined)
    const interval = this.interval()
    for (const { collection, snapshot } of loaded) {
      const known = snapshot && restrict(snapshot, collection.videos)
      this.#set({ collection }, known && { snapshot: known, stale: Date.now() - known.asOf > interval })
    }
    this.#round = this.#refresh()
  }

  get size(): number {
    return this.#entries.size
  }

  /** How many collections have numbers that should be fresher. */
  get stale(): number {
    return [...this.#entries.values()].filter(({ reading }) => reading?.stale).length
  }

  /** Every reply there is: what a new thread starts with. */
  replies(): Update[] {
    return [...this.#entries.values()].flatMap(({ collection, reply }) =>
      reply ? [[collection.id, reply] as Update] : [],
    )
  }

  /** How long from one round to the next (ms). */
  interval(): number {
    let videos = 0
    for (const { collection } of this.#entries.values()) videos += collection.videos.length
    const { meter, refreshInterval: fastest } = this.#options
    return refreshInterval(Math.ceil(videos / IDS_PER_CALL), meter.budget, meter.used, fastest, Date.now())
  }

  /** Takes up a new or changed collection, or forgets one; resolves when every thread knows. */
  async changed(id: string, collection: Collection | undefined): Promise<void> {
    const old = this.#entries.get(id)
    if (!collection) this.#entries.delete(id)
    else {
      const known = old?.reading && restrict(old.reading.snapshot, collection.videos)
      const entry = this.#set({ collection }, known && { snapshot: known, stale: old.reading!.stale })
      if (!known) void this.#fetchFirst(entry)
    }
    await this.#publish([id])
  }

  /**
   * The reply for a collection, waiting for its first numbers; nothing if there is no such collection.
   * @throws Problem `UPSTREAM_UNAVAILABLE` with `Retry-After`
   */
  async read(id: string): Promise<Prepared | undefined> {
    return (await this.#withNumbers(id))?.reply
  }

  async readByVideo(id: string): Promise<Prepared | undefined> {
    const entry = await this.#withNumbers(id)
    return entry?.reading && prepareByVideo(entry.reading)
  }

  /** Ends the rounds. Idempotent. */
  async close(): Promise<void> {
    this.#closed = true
    clearTimeout(this.#timer)
    await this.#round
  }

  async #withNumbers(id: string): Promise<Entry | undefined> {
    const entry = this.#entries.get(id)
    if (!entry || entry.reply) return entry
    if (!entry.fetching && entry.failed && Date.now() < entry.failed.until) {
      throw withRetryAfter(entry.failed.problem, entry.failed.until - Date.now())
    }
    await (entry.fetching ?? this.#fetchFirst(entry))
    if (entry.reply) return entry
    // Changed or deleted meanwhile: what is there now counts.
    if (this.#entries.get(id) !== entry) return this.#withNumbers(id)
    throw withRetryAfter(entry.failed!.problem, entry.failed!.until - Date.now())
  }

  #fetchFirst(entry: Entry): Promise<void> {
    entry.fetching = this.#fetch(entry).then(async (hasNews) => {
      entry.fetching = undefined
      if (hasNews) await this.#publish([entry.collection.id])
    })
    return entry.fetching
  }

  /**
   * Gives the threads what these collections have now, not what they had when somebody began to fetch: a collection may
   * have been changed and published since.
   */
  #publish(ids: readonly string[]): Promise<unknown> {
    return this.#options.publish(ids.map((id) => [id, this.#entries.get(id)?.reply]))
  }

  /** Fetches an entry's numbers. Returns whether there are any and the entry was not replaced meanwhile. */
  async #fetch(entry: Entry): Promise<boolean> {
    const { upstream, logger } = this.#options
    const { collection } = entry
    try {
      const reading = await upstream.read(collection)
      if (this.#entries.get(collection.id) !== entry) return false
      this.#set(entry, reading)
      return true
    } catch (fault) {
      if (!(fault instanceof Problem)) logger.error(`collection ${collection.id} could not be fetched`, fault)
      const problem = fault instanceof Problem ? fault : errors.INTERNAL(undefined, { cause: fault })
      entry.failed = { problem, until: Date.now() + this.#retryDelay() }
      if (!entry.reading || this.#entries.get(collection.id) !== entry) return false
      this.#set(entry, { ...entry.reading, stale: true })
      return true
    }
  }

  #set(entry: Entry, reading: Reading | undefined): Entry {
    this.#entries.set(entry.collection.id, entry)
    if (reading) {
      entry.reading = reading
      entry.reply = prepare(reading)
      entry.failed = undefined
    }
    return entry
  }

  #retryDelay(): number {
    return Math.min(FIRST_RETRY * 2 ** this.#roundsFailed, LAST_RETRY)
  }

  /** One round: of all collections when it is due, until then of those that have failed. */
  async #refresh(): Promise<void> {
    const now = Date.now()
    const isDue = now >= this.#due
    if (isDue) this.#due = now + this.interval()
    const entries = [...this.#entries.values()].filter((entry) => isDue || hasFailed(entry))
    const hasNews = await Promise.all(entries.map((entry) => this.#fetch(entry)))
    await this.#publish(entries.filter((_, i) => hasNews[i]).map(({ collection }) => collection.id))

    const failing = entries.some(hasFailed)
    const wait = failing ? this.#retryDelay() : Math.max(0, this.#due - Date.now())
    this.#roundsFailed = failing ? this.#roundsFailed + 1 : 0
    if (!this.#closed) this.#timer = setTimeout(() => (this.#round = this.#refresh()), wait)
  }
}

const hasFailed = ({ reading, failed }: Entry) => failed !== undefined || reading?.stale === true
