import type { PublisherClient } from '@influencer-stats/sse/publisher-client'
import { Outage } from '@influencer-stats/runtime/async/outage'
import { createBackOff, pause } from '@influencer-stats/runtime/async/retry'
import { toIsoMicroseconds } from '../core/iso-time.ts'
import { formatFields, hasSameNumbers, type PreparedReply } from '../core/prepared-reply.ts'
import { getVersion } from '../core/campaign.ts'
import type { StatsLogger } from '../logger/logger.ts'
import type { Collection } from '../state/stats-state.ts'

/** A collection's prepared reply; undefined if no numbers are known. */
export type SseUpdate = readonly [id: string, reply: PreparedReply | undefined, isStale: boolean]

export interface SsePublisherOptions {
  readonly broadcaster: PublisherClient
  readonly logger: StatsLogger
  /** Returns each collection with its current reply. */
  getReplies(): readonly SseUpdate[]
  getCollection(id: string): Collection | undefined
  /** Returns the origin of the numbers. */
  getSource(): string | undefined
}

/**
 * Maximum number of concurrent requests. Each has up to `MAX_BATCH_VALUES` values, so 10,000 collections take about a
 * second.
 */
const MAX_CONCURRENT_PUTS = 4
const MAX_BATCH_VALUES = 200
/** Maximum characters of a batch. The broadcaster accepts 1 MiB, and the escaped quotes of the values add to the size. */
const MAX_BATCH_CHARACTERS = 400_000

/** Value of a topic; without a reply it states that no numbers are known. */
interface SseValue {
  /**
   * Beginning of the JSON. It contains the id, because one stream may carry many collections. It contains the creation
   * time, because the broadcaster retains the last value of a deleted collection. It contains the version, because an
   * edit changes the sums without growth.
   */
  readonly head: string
  readonly reply: PreparedReply | undefined
  readonly isStale: boolean
}

type PendingValue = readonly [id: string, value: SseValue]

function buildHead(collection: Collection): string {
  const { id, created } = collection
  const time = created === undefined ? '' : `"created":"${toIsoMicroseconds(created)}",`
  return `{"id":${JSON.stringify(id)},${time}"version":"${getVersion(collection)}",`
}

const isSameValue = (a: SseValue, b: SseValue) =>
  a.head === b.head &&
  a.isStale === b.isStale &&
  (a.reply && b.reply ? hasSameNumbers(a.reply, b.reply) : a.reply === b.reply)

/** Returns an upper bound of the length of a value, except for its times. */
const getLength = ({ head, reply }: SseValue) => head.length + (reply ? reply.numbers.length + reply.rest.length : 0)

/** Returns the topic of a collection's numbers. */
const toTopic = (id: string) => `collections/${id}`

/**
 * Publishes the numbers of each collection to the broadcaster (the service sse) when they change, and all numbers when
 * the broadcaster has lost them. No caller waits for a request to the broadcaster. While the broadcaster is unavailable
 * or slow, only the newest numbers of each collection are queued.
 */
export class SsePublisher {
  /** Number of values in accepted puts (`sent`) and in failed puts (`failed`); every retry counts. */
  readonly counters = { sent: 0, failed: 0 }
  readonly #options: SsePublisherOptions
  /** Values that the broadcaster has accepted, or that are in flight. */
  readonly #published = new Map<string, SseValue>()
  /** Queued values. */
  readonly #pending = new Map<string, SseValue>()
  readonly #closing = new AbortController()
  readonly #delays = createBackOff()
  readonly #runs = new Set<Promise<void>>()
  /** Collections with a put in flight: each collection has at most one. */
  readonly #inFlight = new Set<string>()
  readonly #outage: Outage
  #isRetrying = false
  /** Epoch of the broadcaster's history. A history of another epoch has none of the published values. */
  #epoch: string | undefined

  constructor(options: SsePublisherOptions) {
    this.#options = options
    const { logger } = options
    this.#outage = new Outage({
      onStart: (fault) => logger.error('numbers cannot be published to sse; the newest remain queued', fault),
      onEnd: () => {
        this.#startRuns()
        logger.info('numbers are published to sse again')
      },
    })
    options.broadcaster.watch((epoch) => {
      this.#checkEpoch(epoch)
      this.#outage.succeed()
    })
  }

  /** Number of collections with queued numbers. */
  get pending(): number {
    return this.#pending.size
  }

  /** Queues numbers that differ from the published ones. A new collection without numbers needs no value. */
  enqueue(updates: readonly SseUpdate[]): void {
    for (const update of updates) {
      const [id, reply] = update
      if (reply || this.#published.has(id) || this.#pending.has(id)) this.#set(update)
    }
    this.#startRuns()
  }

  /**
   * Queues the value of every collection: its topic may still have a value of another source, or none in a new epoch of
   * the broadcaster.
   */
  enqueueAll(): void {
    for (const update of this.#options.getReplies()) this.#set(update)
    this.#startRuns()
  }

  #set([id, reply, isStale]: SseUpdate): void {
    const collection = this.#options.getCollection(id)
    if (!collection) return this.#remove(id)
    const known = this.#published.get(id)
    const value: SseValue = { head: buildHead(collection), reply, isStale }
    if (known && isSameValue(known, value)) this.#pending.delete(id)
    else this.#pending.set(id, value)
  }

  /** Aborts requests in flight and discards the queue. Idempotent. */
  async close(): Promise<void> {
    this.#closing.abort()
    this.#options.broadcaster.close()
    await Promise.all(this.#runs)
  }

  #remove(id: string): void {
    this.#published.delete(id)
    this.#pending.delete(id)
  }

  /**
   * Starts runs while numbers are queued, up to the maximum. A run puts batch after batch until no numbers are queued.
   * During an outage a single run probes the broadcaster.
   */
  #startRuns(): void {
    const max = this.#outage.isActive ? 1 : MAX_CONCURRENT_PUTS
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
      await pause(this.#delays.next(), signal)
      this.#isRetrying = false
    }
  }

  /**
   * Returns the next values to put. During an outage this is one value, so that a refused value does not block the others.
   */
  #nextBatch(): PendingValue[] {
    const max = this.#outage.isActive ? 1 : MAX_BATCH_VALUES
    const nextBatch: PendingValue[] = []
    let characters = 0
    for (const one of this.#pending) {
      if (this.#inFlight.has(one[0])) continue
      characters += getLength(one[1])
      if (nextBatch.length > 0 && characters > MAX_BATCH_CHARACTERS) break
      if (nextBatch.push(one) === max) break
    }
    return nextBatch
  }

  /** Puts numbers. Returns true if the broadcaster accepted them. */
  async #put(numbers: readonly PendingValue[]): Promise<boolean> {
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
      this.#outage.succeed()
      return true
    } catch (fault) {
      if (this.#closing.signal.aborted) return false
      this.counters.failed += numbers.length
      this.#outage.fail(fault)
      // Moves the values to the end of the queue, unless the collection was removed or has newer numbers.
      for (const [id, value] of numbers) {
        if (this.#published.delete(id) && !this.#pending.has(id)) this.#pending.set(id, value)
      }
      return false
    } finally {
      for (const [id] of numbers) this.#inFlight.delete(id)
    }
  }

  #toText({ head, reply, isStale }: SseValue): string {
    if (reply) return `${head}${formatFields(reply, isStale)}}`
    return head + JSON.stringify({ stale: true, source: this.#options.getSource() }).slice(1)
  }

  /**
   * Handles the current epoch of the broadcaster.
   * @param batch the numbers that it has just accepted
   */
  #checkEpoch(epoch: string, batch: readonly PendingValue[] = []): void {
    const isAnother = this.#epoch !== undefined && this.#epoch !== epoch
    this.#epoch = epoch
    if (!isAnother) return
    const known = new Set(batch.map(([id]) => id))
    for (const id of this.#published.keys()) if (!known.has(id)) this.#published.delete(id)
    this.enqueueAll()
  }
}
