import type { PublisherClient } from '@influencer-stats/sse/publisher-client'
import { createBackOff } from '@influencer-stats/runtime/back-off'
import { setTimeout as delay } from 'node:timers/promises'
import { toIsoMicroseconds } from './core/iso-time.ts'
import { hasSameNumbers, type PreparedReply } from './core/prepared-reply.ts'
import { getVersion } from './core/collection-version.ts'
import type { StatsLogger } from './logger/logger.ts'
import type { ReplyUpdate } from './messages.ts'
import type { Collection } from './state/stats-state.ts'

export interface SsePublisherOptions {
  readonly broadcaster: PublisherClient
  readonly logger: StatsLogger
  /** Every collection's reply; `undefined` where no numbers are known. */
  getReplies(): readonly ReplyUpdate[]
  getCollection(id: string): Collection | undefined
  /** Returns the origin of the numbers. */
  getSource(): string | undefined
}

/** So many requests are under way at a time, with so many collections' numbers each: 10,000 are told anew in a second. */
const MAX_CONCURRENT_PUTS = 4
const MAX_BATCH_VALUES = 200
/** Their characters, too, are bounded: a broadcaster takes 1 MiB, where quotes are escaped. */
const MAX_BATCH_CHARACTERS = 400_000

/** Value of a topic; without a reply it states that no numbers are known. */
interface SseValue {
  /**
   * Beginning of the JSON. It identifies what the numbers belong to: the id, because a page may wait for many collections, the
   * creation time, because the broadcaster retains the last value of a deleted collection, and the version, because an edit
   * changes the sums without growth.
   */
  readonly head: string
  readonly reply: PreparedReply | undefined
}

type LiveUpdate = readonly [id: string, value: SseValue]

function buildHead(collection: Collection): string {
  const { id, created } = collection
  const time = created === undefined ? '' : `"created":"${toIsoMicroseconds(created)}",`
  return `{"id":${JSON.stringify(id)},${time}"version":"${getVersion(collection)}",`
}

const isSameValue = (a: SseValue, b: SseValue) =>
  a.head === b.head && (a.reply && b.reply ? hasSameNumbers(a.reply, b.reply) : a.reply === b.reply)

/** The topic that has a collection's numbers. */
const toTopic = (id: string) => `collections/${id}`

/**
 * Puts a collection's numbers to the broadcaster whenever they change, and those of all when it has forgotten them.
 * Nobody waits for it: while the broadcaster is away or slow, the newest numbers of each collection are kept for it, and
 * no older ones.
 */
export class SsePublisher {
  /** Puts since the start. */
  readonly counters = { sent: 0, failed: 0 }
  readonly #options: SsePublisherOptions
  /** What the broadcaster has, as far as is known. */
  readonly #published = new Map<string, SseValue>()
  readonly #pending = new Map<string, SseValue>()
  readonly #closing = new AbortController()
  readonly #delays = createBackOff()
  readonly #runs = new Set<Promise<void>>()
  /** Collections whose numbers are on their way: of one they go one after the other. */
  readonly #inFlight = new Set<string>()
  #isUnavailable = false
  #isRetrying = false
  /** Of the broadcaster's history: another one has none of what was told. */
  #epoch: string | undefined

  constructor(options: SsePublisherOptions) {
    this.#options = options
    options.broadcaster.watch((epoch) => {
      this.#checkEpoch(epoch)
      this.#report(undefined)
    })
  }

  /** Collections whose numbers wait to be put. */
  get pending(): number {
    return this.#pending.size
  }

  /** Takes note of numbers; puts those that say something new. A new collection without numbers needs no value. */
  enqueue(updates: readonly ReplyUpdate[]): void {
    for (const [id, reply] of updates)
      if (reply || this.#published.has(id) || this.#pending.has(id)) this.#set(id, reply)
    this.#startRuns()
  }

  /** Puts a value of every collection: its topic may retain a value of another source. */
  enqueueAll(): void {
    for (const [id, reply] of this.#options.getReplies()) this.#set(id, reply)
    this.#startRuns()
  }

  #set(id: string, reply: PreparedReply | undefined): void {
    const collection = this.#options.getCollection(id)
    if (!collection) return this.#remove(id)
    const known = this.#published.get(id)
    const value: SseValue = { head: buildHead(collection), reply }
    if (known && isSameValue(known, value)) this.#pending.delete(id)
    else this.#pending.set(id, value)
  }

  /** Cuts what is under way; what waits is lost. Idempotent. */
  async close(): Promise<void> {
    this.#closing.abort()
    this.#options.broadcaster.close()
    await Promise.all(this.#runs)
  }

  #remove(id: string): void {
    this.#published.delete(id)
    this.#pending.delete(id)
  }

  /** As many as there are numbers for; one alone tries whether the broadcaster is back. */
  #startRuns(): void {
    const max = this.#isUnavailable ? 1 : MAX_CONCURRENT_PUTS
    while (this.#runs.size < max && this.#nextBatch().length > 0) {
      const run: Promise<void> = this.#run().finally(() => this.#runs.delete(run))
      this.#runs.add(run)
    }
  }

  async #run(): Promise<void> {
    const { signal } = this.#closing
    for (let nextBatch; !signal.aborted && (nextBatch = this.#nextBatch()).length > 0;) {
      if (await this.#put(nextBatch)) continue
      if (this.#isRetrying) return
      this.#isRetrying = true
      await delay(this.#delays.next(), undefined, { signal }).catch(() => {})
      this.#isRetrying = false
    }
  }

  /** Those of one alone after a fault, so that numbers that are refused do not hold up the others. */
  #nextBatch(): LiveUpdate[] {
    const max = this.#isUnavailable ? 1 : MAX_BATCH_VALUES
    const nextBatch: LiveUpdate[] = []
    let characters = 0
    for (const one of this.#pending) {
      if (this.#inFlight.has(one[0])) continue
      characters += one[1].head.length + (one[1].reply?.body.length ?? 0)
      if (nextBatch.length > 0 && characters > MAX_BATCH_CHARACTERS) break
      if (nextBatch.push(one) === max) break
    }
    return nextBatch
  }

  /** Puts numbers. Returns whether the broadcaster took them. */
  async #put(numbers: readonly LiveUpdate[]): Promise<boolean> {
    for (const [id, value] of numbers) {
      this.#pending.delete(id)
      this.#published.set(id, value)
      this.#inFlight.add(id)
    }
    try {
      const values = numbers.map(([id, value]) => ({ topic: toTopic(id), value: this.#toText(value) }))
      const eventId = await this.#options.broadcaster.putValues(values)
      this.counters.sent += numbers.length
      this.#checkEpoch(eventId.split('-', 1)[0]!, numbers)
      this.#report(undefined)
      return true
    } catch (fault) {
      if (this.#closing.signal.aborted) return false
      this.counters.failed += numbers.length
      this.#report(fault)
      // Unless it is gone meanwhile; to the end, behind the others.
      for (const [id, value] of numbers) {
        if (this.#published.delete(id) && !this.#pending.has(id)) this.#pending.set(id, value)
      }
      return false
    } finally {
      for (const [id] of numbers) this.#inFlight.delete(id)
    }
  }

  #toText({ head, reply }: SseValue): string {
    return head + (reply ? reply.body : JSON.stringify({ stale: true, source: this.#options.getSource() })).slice(1)
  }

  /** The broadcaster is in this epoch. @param batch the numbers that it has just taken */
  #checkEpoch(epoch: string, batch: readonly LiveUpdate[] = []): void {
    const isAnother = this.#epoch !== undefined && this.#epoch !== epoch
    this.#epoch = epoch
    if (!isAnother) return
    const known = new Set(batch.map(([id]) => id))
    for (const id of this.#published.keys()) if (!known.has(id)) this.#published.delete(id)
    this.enqueueAll()
  }

  /** Logs once that the broadcaster is away, and once that it is back. */
  #report(fault: unknown): void {
    const isUnavailable = fault !== undefined
    if (isUnavailable === this.#isUnavailable) return
    this.#isUnavailable = isUnavailable
    const { logger } = this.#options
    if (!isUnavailable) this.#startRuns()
    if (isUnavailable) logger.error('numbers cannot be put to the broadcaster; the newest are kept for it', fault)
    else logger.info('numbers are put to the broadcaster again')
  }
}
