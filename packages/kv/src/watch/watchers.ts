import type { StreamConnection } from '@influencer-stats/runtime/hot-route'
import { changesOf, type Page } from '../core/changes.ts'
import { isIn, Ranges, type KeyRange } from '../core/ranges.ts'
import { changeText, EventText, placeText, retryText } from '../core/watch-events.ts'
import { errors } from '../errors.ts'

export interface WatchersOptions {
  /** See `watch/feed.ts`; without a place nothing but the place where it is. */
  changes(after: number | undefined, patience: number): Promise<Page | undefined>
  /** Most streams. */
  readonly most: number
  /** Most bytes that a client may leave unread, besides what came last. */
  readonly buffer: number
  /** A client that takes nothing of what came before its stream for so long is cut (ms). */
  readonly sendTimeout: number
  /** ms */
  readonly heartbeat: number
}

/** What streams cost and got since the start. */
export interface WatchFigures {
  readonly streams: number
  readonly events: number
  readonly cut: number
}

/** Streams of one range that have what came before. */
interface Group {
  readonly range: KeyRange
  readonly connections: Set<StreamConnection>
  readonly text: EventText
}

/** How long to wait for changes before they are asked for again (ms). */
const PATIENCE = 5_000
/** Clients that lose their stream come back after this and up to as long again (ms), so that not all come in one moment. */
const RETRY = 1_000
/** How long a client may take to read the end of its stream (ms). */
const LINGER = 5_000

const keyOf = ({ start, end = '' }: KeyRange) => `${start.length} ${start}${end}`

/**
 * The streams of changes of one thread. Those that have what came before share one look at main's feed, and all of one
 * range the same bytes; who resumes is brought there by looks of its own.
 */
export class Watchers implements WatchFigures {
  readonly #options: WatchersOptions
  readonly #rangeOf = new Map<StreamConnection, KeyRange>()
  readonly #groups = new Map<string, Group>()
  readonly #ranges = new Ranges<Group>()
  readonly #beating: NodeJS.Timeout
  /** Up to where the streams have been told; nothing while there are none. */
  #place: number | undefined
  #moved = Promise.withResolvers<void>()
  #isRunning = false
  #isClosed = false
  events = 0
  cut = 0

  constructor(options: WatchersOptions) {
    this.#options = options
    this.#beating = setInterval(() => this.#beat(), options.heartbeat).unref()
  }

  get streams(): number {
    return this.#rangeOf.size
  }

  /** @throws TOO_MANY_WATCHERS, SEQUENCE_GONE */
  async admit(after: number | undefined): Promise<void> {
    if (this.#isFull) throw errors.TOO_MANY_WATCHERS(undefined, { headers: { 'retry-after': '5' } })
    if (after !== undefined && !(await this.#options.changes(after, 0))) throw errors.SEQUENCE_GONE()
  }

  /** Opens a stream that was admitted; cuts it should another have taken its place. @param head goes before everything */
  open(connection: StreamConnection, head: string, range: KeyRange, after: number | undefined): void {
    if (this.#isClosed || this.#isFull) return void connection.destroy()
    this.#rangeOf.set(connection, range)
    connection.on('close', () => this.#leave(connection))
    connection.write(`${head}${retryText(Math.round(RETRY * (1 + Math.random())))}\n`)
    this.#arrive(connection, range, after).catch(() => this.#cut(connection))
  }

  /** Ends all streams; their clients come back, to another process maybe. Idempotent. */
  close(): void {
    clearInterval(this.#beating)
    this.#isClosed = true
    this.#end([...this.#rangeOf.keys()])
  }

  get #isFull(): boolean {
    return this.streams >= this.#options.most
  }

  /** Tells a stream what came after a place, up to where the others are, and lets it be one of them. */
  async #arrive(connection: StreamConnection, range: KeyRange, after: number | undefined): Promise<void> {
    const { changes } = this.#options
    let at = after ?? this.#place ?? (await changes(undefined, 0))!.upTo
    if (after === undefined) connection.write(placeText(at))
    while (this.#rangeOf.has(connection)) {
      if (at === this.#place) return this.#join(connection, range, at)
      if (this.#place !== undefined && this.#place < at) {
        await this.#moved.promise
        continue
      }
      const page = await changes(at, 0)
      // It was there, and what follows is gone meanwhile.
      if (!page) return this.#cut(connection)
      // What comes after the others' place comes to all.
      const end = Math.min(page.upTo, this.#place ?? Infinity)
      const text = this.#textOf(page, range, end)
      at = end
      if (text !== '' && connection.write(text) === false) await this.#drained(connection)
      if (this.#place === undefined && page.isEnd && this.#rangeOf.has(connection))
        return this.#join(connection, range, at)
    }
  }

  #textOf(page: Page, range: KeyRange, end: number): string {
    const text = new EventText()
    for (const { seq, ops } of changesOf(page)) {
      if (seq > end) break
      for (const op of ops) {
        if (!isIn(range, op.key.toString('latin1'))) continue
        text.add(changeText(op), seq)
        this.events++
      }
    }
    return text.take()
  }

  #join(connection: StreamConnection, range: KeyRange, at: number): void {
    const key = keyOf(range)
    let group = this.#groups.get(key)
    if (!group) {
      group = { range, connections: new Set(), text: new EventText() }
      this.#groups.set(key, group)
      this.#ranges.add(range, group)
    }
    group.connections.add(connection)
    this.#place ??= at
    if (!this.#isRunning) void this.#run()
  }

  async #run(): Promise<void> {
    this.#isRunning = true
    while (this.#groups.size > 0 && !this.#isClosed) {
      const page = await this.#options.changes(this.#place!, PATIENCE).catch(() => undefined)
      if (page) this.#deliver(page)
      // What follows is not known: who comes back is told so.
      else this.#end(this.#joined())
    }
    this.#isRunning = false
    this.#move(undefined)
  }

  #deliver(page: Page): void {
    const touched = new Set<Group>()
    for (const { seq, ops } of changesOf(page)) {
      for (const op of ops) {
        // Made for the first stream that wants it.
        let text: string | undefined
        this.#ranges.find(op.key.toString('latin1'), (group) => {
          group.text.add((text ??= changeText(op)), seq)
          touched.add(group)
          this.events += group.connections.size
        })
      }
    }
    for (const { connections, text } of touched) this.#write(connections, Buffer.from(text.take()))
    this.#move(page.upTo)
  }

  #move(place: number | undefined): void {
    this.#place = place
    this.#moved.resolve()
    this.#moved = Promise.withResolvers()
  }

  /** Shows every client that its stream lives, and from where it would resume; finds out which is gone. */
  #beat(): void {
    if (this.#place === undefined) return
    const text = Buffer.from(placeText(this.#place))
    for (const { connections } of this.#groups.values()) this.#write(connections, text)
  }

  #write(connections: Iterable<StreamConnection>, bytes: Buffer): void {
    for (const connection of connections) {
      if (connection.writableLength > this.#options.buffer) this.#cut(connection)
      else connection.write(bytes)
    }
  }

  /** Resolves once a client has taken what was sent, or is gone; one that takes too long is cut. */
  async #drained(connection: StreamConnection): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(() => {
      this.#cut(connection)
      resolve()
    }, this.#options.sendTimeout)
    connection.on('drain', resolve)
    await promise
    connection.off('drain', resolve)
    clearTimeout(timer)
  }

  /** Gives up on a client that does not read. It can come back and resume. */
  #cut(connection: StreamConnection): void {
    this.cut++
    this.#leave(connection)
    connection.destroy()
  }

  #end(connections: readonly StreamConnection[]): void {
    for (const connection of connections) {
      this.#leave(connection)
      if (connection.destroySoon) connection.destroySoon()
      else connection.end()
    }
    // Who does not read does not get the end, either.
    if (connections.length > 0) setTimeout(() => connections.forEach((one) => one.destroy()), LINGER).unref()
  }

  #leave(connection: StreamConnection): void {
    const range = this.#rangeOf.get(connection)
    if (!range) return
    this.#rangeOf.delete(connection)
    const group = this.#groups.get(keyOf(range))
    if (!group?.connections.delete(connection) || group.connections.size > 0) return
    this.#groups.delete(keyOf(range))
    this.#ranges.delete(range)
  }

  #joined(): StreamConnection[] {
    return Array.from(this.#groups.values(), ({ connections }) => [...connections]).flat()
  }
}
