import type { Broadcaster } from '@influencer-stats/sse/broadcaster'
import { createBackOff } from '@influencer-stats/runtime/back-off'
import { setTimeout as delay } from 'node:timers/promises'
import { toIsoMicroseconds } from './core/iso-time.ts'
import { sameNumbers, type Prepared } from './core/prepared.ts'
import { versionOf } from './core/version.ts'
import type { Logger } from './logger/logger.ts'
import type { Update } from './messages.ts'
import type { Collection } from './state/state.ts'

export interface AnnouncerOptions {
  readonly broadcaster: Broadcaster
  readonly logger: Logger
  /** Every collection's reply; `undefined` where no numbers are known. */
  replies(): readonly Update[]
  collectionOf(id: string): Collection | undefined
  /** Returns the origin of the numbers. */
  source(): string | undefined
}

/** So many requests are under way at a time, with so many collections' numbers each: 10,000 are told anew in a second. */
const LANES = 4
const MOST = 200
/** Their characters, too, are bounded: a broadcaster takes 1 MiB, where quotes are escaped. */
const MOST_CHARACTERS = 400_000

/** Value of a topic; without a reply it states that no numbers are known. */
interface Value {
  /**
   * Beginning of the JSON. It identifies what the numbers belong to: the id, because a page may wait for many collections, the
   * creation time, because the broadcaster retains the last value of a deleted collection, and the version, because an edit
   * changes the sums without growth.
   */
  readonly head: string
  readonly reply: Prepared | undefined
}

type Numbers = readonly [id: string, value: Value]

function headOf(collection: Collection): string {
  const { id, created } = collection
  const time = created === undefined ? '' : `"created":"${toIsoMicroseconds(created)}",`
  return `{"id":${JSON.stringify(id)},${time}"version":"${versionOf(collection)}",`
}

const isSame = (a: Value, b: Value) =>
  a.head === b.head && (a.reply && b.reply ? sameNumbers(a.reply, b.reply) : a.reply === b.reply)

/** The topic that has a collection's numbers. */
const topicOf = (id: string) => `collections/${id}`

/**
 * Puts a collection's numbers to the broadcaster whenever they change, and those of all when it has forgotten them.
 * Nobody waits for it: while the broadcaster is away or slow, the newest numbers of each collection are kept for it, and
 * no older ones.
 */
export class Announcer {
  /** Puts since the start. */
  readonly figures = { sent: 0, failed: 0 }
  readonly #options: AnnouncerOptions
  /** What the broadcaster has, as far as is known. */
  readonly #told = new Map<string, Value>()
  readonly #waiting = new Map<string, Value>()
  readonly #closing = new AbortController()
  readonly #delays = createBackOff()
  readonly #lanes = new Set<Promise<void>>()
  /** Collections whose numbers are on their way: of one they go one after the other. */
  readonly #under = new Set<string>()
  #isAway = false
  #isRetrying = false
  /** Of the broadcaster's history: another one has none of what was told. */
  #epoch: string | undefined

  constructor(options: AnnouncerOptions) {
    this.#options = options
    options.broadcaster.watch((epoch) => {
      this.#meet(epoch)
      this.#report(undefined)
    })
  }

  /** Collections whose numbers wait to be put. */
  get waiting(): number {
    return this.#waiting.size
  }

  /** Takes note of numbers; puts those that say something new. A new collection without numbers needs no value. */
  take(updates: readonly Update[]): void {
    for (const [id, reply] of updates) if (reply || this.#told.has(id) || this.#waiting.has(id)) this.#set(id, reply)
    this.#openLanes()
  }

  /** Puts a value of every collection: its topic may retain a value of another source. */
  takeAll(): void {
    for (const [id, reply] of this.#options.replies()) this.#set(id, reply)
    this.#openLanes()
  }

  #set(id: string, reply: Prepared | undefined): void {
    const collection = this.#options.collectionOf(id)
    if (!collection) return this.#forget(id)
    const known = this.#told.get(id)
    const value: Value = { head: headOf(collection), reply }
    if (known && isSame(known, value)) this.#waiting.delete(id)
    else this.#waiting.set(id, value)
  }

  /** Cuts what is under way; what waits is lost. Idempotent. */
  async close(): Promise<void> {
    this.#closing.abort()
    this.#options.broadcaster.close()
    await Promise.all(this.#lanes)
  }

  #forget(id: string): void {
    this.#told.delete(id)
    this.#waiting.delete(id)
  }

  /** As many as there are numbers for; one alone tries whether the broadcaster is back. */
  #openLanes(): void {
    const most = this.#isAway ? 1 : LANES
    while (this.#lanes.size < most && this.#next().length > 0) {
      const lane: Promise<void> = this.#run().finally(() => this.#lanes.delete(lane))
      this.#lanes.add(lane)
    }
  }

  async #run(): Promise<void> {
    const { signal } = this.#closing
    for (let next; !signal.aborted && (next = this.#next()).length > 0;) {
      if (await this.#put(next)) continue
      if (this.#isRetrying) return
      this.#isRetrying = true
      await delay(this.#delays.next(), undefined, { signal }).catch(() => {})
      this.#isRetrying = false
    }
  }

  /** Those of one alone after a fault, so that numbers that are refused do not hold up the others. */
  #next(): Numbers[] {
    const most = this.#isAway ? 1 : MOST
    const next: Numbers[] = []
    let characters = 0
    for (const one of this.#waiting) {
      if (this.#under.has(one[0])) continue
      characters += one[1].head.length + (one[1].reply?.body.length ?? 0)
      if (next.length > 0 && characters > MOST_CHARACTERS) break
      if (next.push(one) === most) break
    }
    return next
  }

  /** Puts numbers. Returns whether the broadcaster took them. */
  async #put(numbers: readonly Numbers[]): Promise<boolean> {
    for (const [id, value] of numbers) {
      this.#waiting.delete(id)
      this.#told.set(id, value)
      this.#under.add(id)
    }
    try {
      const values = numbers.map(([id, value]) => ({ topic: topicOf(id), value: this.#textOf(value) }))
      const eventId = await this.#options.broadcaster.putMany(values)
      this.figures.sent += numbers.length
      this.#meet(eventId.split('-', 1)[0]!, numbers)
      this.#report(undefined)
      return true
    } catch (fault) {
      if (this.#closing.signal.aborted) return false
      this.figures.failed += numbers.length
      this.#report(fault)
      // Unless it is gone meanwhile; to the end, behind the others.
      for (const [id, value] of numbers) {
        if (this.#told.delete(id) && !this.#waiting.has(id)) this.#waiting.set(id, value)
      }
      return false
    } finally {
      for (const [id] of numbers) this.#under.delete(id)
    }
  }

  #textOf({ head, reply }: Value): string {
    return head + (reply ? reply.body : JSON.stringify({ stale: true, source: this.#options.source() })).slice(1)
  }

  /** The broadcaster is in this epoch. @param taken the numbers that it has just taken */
  #meet(epoch: string, taken: readonly Numbers[] = []): void {
    const isAnother = this.#epoch !== undefined && this.#epoch !== epoch
    this.#epoch = epoch
    if (!isAnother) return
    const known = new Set(taken.map(([id]) => id))
    for (const id of this.#told.keys()) if (!known.has(id)) this.#told.delete(id)
    this.takeAll()
  }

  /** Logs once that the broadcaster is away, and once that it is back. */
  #report(fault: unknown): void {
    const isAway = fault !== undefined
    if (isAway === this.#isAway) return
    this.#isAway = isAway
    const { logger } = this.#options
    if (!isAway) this.#openLanes()
    if (isAway) logger.error('numbers cannot be put to the broadcaster; the newest are kept for it', fault)
    else logger.info('numbers are put to the broadcaster again')
  }
}
