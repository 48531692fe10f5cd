import type { Broadcaster } from '@influencer-stats/sse/broadcaster'
import { backOff } from '@influencer-stats/runtime/back-off'
import { setTimeout as delay } from 'node:timers/promises'
import { sameNumbers, type Prepared } from './core/prepared.ts'
import type { Logger } from './logger/logger.ts'
import type { Update } from './messages.ts'

export interface AnnouncerOptions {
  readonly broadcaster: Broadcaster
  readonly logger: Logger
  /** Every collection's numbers: a broadcaster that forgot what it had is told them anew. */
  replies(): readonly Update[]
  /** Creation time of a collection, as in its own reply; `undefined` if none is stored. */
  createdOf(id: string): string | undefined
}

/** So many requests are under way at a time, with so many collections' numbers each: 10,000 are told anew in a second. */
const LANES = 4
const MOST = 200
/** Their characters, too, are bounded: a broadcaster takes 1 MiB, where quotes are escaped. */
const MOST_CHARACTERS = 400_000

type Numbers = readonly [id: string, reply: Prepared]

/**
 * Value of a topic: the numbers, the id of their collection, because a page may wait for many, and its creation time, because the
 * broadcaster retains the last value of a deleted collection, and another one may reuse the id.
 */
const valueOf = (id: string, created: string | undefined, { body }: Prepared) =>
  `{"id":${JSON.stringify(id)},${created === undefined ? '' : `"created":"${created}",`}${body.slice(1)}`

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
  readonly #told = new Map<string, Prepared>()
  readonly #waiting = new Map<string, Prepared>()
  readonly #closing = new AbortController()
  readonly #delays = backOff()
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

  /** Takes note of numbers; puts those that say something new. */
  take(updates: readonly Update[]): void {
    for (const [id, reply] of updates) {
      const known = this.#told.get(id)
      if (!reply) this.#forget(id)
      else if (known && sameNumbers(known, reply)) this.#waiting.delete(id)
      else this.#waiting.set(id, reply)
    }
    this.#openLanes()
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
      characters += one[1].body.length
      if (next.length > 0 && characters > MOST_CHARACTERS) break
      if (next.push(one) === most) break
    }
    return next
  }

  /** Puts numbers. Returns whether the broadcaster took them. */
  async #put(numbers: readonly Numbers[]): Promise<boolean> {
    for (const [id, reply] of numbers) {
      this.#waiting.delete(id)
      this.#told.set(id, reply)
      this.#under.add(id)
    }
    const { createdOf } = this.#options
    try {
      const values = numbers.map(([id, reply]) => ({ topic: topicOf(id), value: valueOf(id, createdOf(id), reply) }))
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
      for (const [id, reply] of numbers) {
        if (this.#told.delete(id) && !this.#waiting.has(id)) this.#waiting.set(id, reply)
      }
      return false
    } finally {
      for (const [id] of numbers) this.#under.delete(id)
    }
  }

  /** The broadcaster is in this epoch. @param taken the numbers that it has just taken */
  #meet(epoch: string, taken: readonly Numbers[] = []): void {
    const isAnother = this.#epoch !== undefined && this.#epoch !== epoch
    this.#epoch = epoch
    if (!isAnother) return
    const known = new Set(taken.map(([id]) => id))
    for (const id of this.#told.keys()) if (!known.has(id)) this.#told.delete(id)
    this.take(this.#options.replies())
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
