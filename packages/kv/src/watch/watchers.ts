import type { Budget } from '@influencer-stats/runtime/budget'
import type { StreamConnection } from '@influencer-stats/runtime/hot-route'
import { changesOf, type Page } from '../core/changes.ts'
import { isIn, Ranges, type KeyRange } from '../core/ranges.ts'
import { changeText, EventText, placeText, retryText } from '../core/watch-events.ts'
import { errors } from '../errors.ts'
import { Chunk } from './chunks.ts'
import { renderPage, type Recipient } from './render-page.ts'
import { UnreadBytes } from './unread-bytes.ts'

export interface WatchersOptions {
  /** See `watch/feed.ts`; without a place nothing but the place where it is. */
  changes(after: number | undefined, patience: number, maxBytes?: number): Promise<Page | undefined>
  /** What unread bytes are taken from. */
  readonly budget: Budget
  /** See `watch/unread-bytes.ts`. */
  readonly isCopied: boolean
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
  /** Memory of what clients have not read (bytes). */
  readonly unreadBytes: number
}

/** Streams of one range that have what came before. */
interface Group extends Recipient {
  readonly range: KeyRange
  readonly connections: Set<StreamConnection>
}

interface Stream {
  readonly range: KeyRange
  /** The group that it is in, once it has what came before. */
  group?: Group
  /** Resolves what waits until its client has read. */
  wake?: (() => void) | undefined
}

/** How long to wait for changes before they are asked for again (ms). */
const PATIENCE = 5_000
/** Clients that lose their stream come back after this and up to as long again (ms), so that not all come in one moment. */
const RETRY = 1_000
/** How long a client may take to read the end of its stream (ms). */
const LINGER = 5_000
/** Size of the pages that streams which resume get: a client that reads nothing holds two of them, or one change. */
const REPLAY_PAGE_BYTES = 65_536

const keyOf = ({ start, end = '' }: KeyRange) => `${start.length} ${start}${end}`

/**
 * The streams of changes of one thread. Those that have what came before share one look at main's feed, and all of one
 * range the same bytes; who resumes is brought there by looks of its own.
 */
export class Watchers implements WatchFigures {
  readonly #options: WatchersOptions
  readonly #streams = new Map<StreamConnection, Stream>()
  readonly #groups = new Map<string, Group>()
  readonly #ranges = new Ranges<Group>()
  readonly #unread: UnreadBytes
  readonly #beating: NodeJS.Timeout
  readonly #onClose: (this: StreamConnection) => void
  readonly #onDrain: (this: StreamConnection) => void
  /** The last page that is read for a stream which resumes: one at a time. */
  #replaying: Promise<unknown> = Promise.resolve()
  /** Up to where the streams have been told; nothing while there are none. */
  #place: number | undefined
  #moved = Promise.withResolvers<void>()
  #isRunning = false
  #isClosed = false
  events = 0
  cut = 0

  constructor(options: WatchersOptions) {
    this.#options = options
    this.#unread = new UnreadBytes({ ...options, cut: (connection) => this.#cut(connection) })
    // One listener for all streams: a closure for each takes memory.
    const close = (connection: StreamConnection) => {
      this.#leave(connection)
      this.#unread.forget(connection)
    }
    this.#onClose = function onClose(this: StreamConnection): void {
      close(this)
    }
    const wake = (connection: StreamConnection) => this.#streams.get(connection)?.wake?.()
    this.#onDrain = function onDrain(this: StreamConnection): void {
      wake(this)
    }
    this.#beating = setInterval(() => this.#beat(), options.heartbeat).unref()
  }

  get streams(): number {
    return this.#streams.size
  }

  get unreadBytes(): number {
    this.#unread.settle()
    return this.#unread.bytes
  }

  /** @throws TOO_MANY_WATCHERS, SEQUENCE_GONE */
  async admit(after: number | undefined): Promise<void> {
    if (this.#isFull) throw errors.TOO_MANY_WATCHERS(undefined, { headers: { 'retry-after': '5' } })
    if (after !== undefined && !(await this.#options.changes(after, 0, 0))) throw errors.SEQUENCE_GONE()
  }

  /** Opens a stream that was admitted; cuts it should another have taken its place. @param head goes before everything */
  open(connection: StreamConnection, head: string, range: KeyRange, after: number | undefined): void {
    if (this.#isClosed || this.#isFull) return void connection.destroy()
    const stream: Stream = { range }
    this.#streams.set(connection, stream)
    connection.on('close', this.#onClose)
    connection.write(`${head}${retryText(Math.round(RETRY * (1 + Math.random())))}\n`)
    this.#arrive(connection, stream, after).catch(() => this.#cut(connection))
  }

  /** Ends all streams; their clients come back, to another process maybe. Idempotent. */
  close(): void {
    clearInterval(this.#beating)
    this.#isClosed = true
    this.#end([...this.#streams.keys()])
  }

  get #isFull(): boolean {
    return this.streams >= this.#options.most
  }

  /** Tells a stream what came after a place, up to where the others are, and lets it be one of them. */
  async #arrive(connection: StreamConnection, stream: Stream, after: number | undefined): Promise<void> {
    let at = after ?? this.#place ?? (await this.#options.changes(undefined, 0))!.upTo
    if (after === undefined) connection.write(placeText(at))
    while (this.#streams.has(connection)) {
      if (at === this.#place) return this.#join(connection, stream, at)
      if (this.#place !== undefined && this.#place < at) {
        await this.#moved.promise
        continue
      }
      const replayed = await this.#inTurn(() => this.#replay(connection, stream, at))
      if (!this.#streams.has(connection)) return
      // It was there, and what follows is gone meanwhile.
      if (!replayed) return this.#cut(connection)
      at = replayed.upTo
      if (!replayed.isReady) await this.#drained(connection, stream)
      if (this.#place === undefined && replayed.isEnd && this.#streams.has(connection))
        return this.#join(connection, stream, at)
    }
  }

  /** Runs after all that was given before: pages of streams that resume are in memory one at a time. */
  #inTurn<T>(read: () => Promise<T>): Promise<T> {
    const result = this.#replaying.then(read)
    this.#replaying = result.catch(() => {})
    return result
  }

  /** Sends a stream some of what came after a place. `undefined` where that is not kept any more. */
  async #replay(
    connection: StreamConnection,
    { range }: Stream,
    at: number,
  ): Promise<{ upTo: number; isEnd: boolean; isReady: boolean } | undefined> {
    const nothing = { upTo: at, isEnd: false, isReady: true }
    if (!this.#streams.has(connection)) return nothing
    const page = await this.#options.changes(at, 0, REPLAY_PAGE_BYTES)
    if (!page) return undefined
    // What comes after the others' place comes to all.
    const upTo = Math.min(page.upTo, this.#place ?? Infinity)
    if (upTo <= at || !this.#streams.has(connection)) return { ...nothing, isEnd: page.isEnd && upTo === page.upTo }
    const text = this.#textOf(page, range, upTo)
    const isReady = text === '' || this.#unread.write(connection, [Chunk.of(text)])
    return { upTo, isEnd: page.isEnd, isReady }
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

  #join(connection: StreamConnection, stream: Stream, at: number): void {
    const key = keyOf(stream.range)
    let group = this.#groups.get(key)
    if (!group) {
      group = { range: stream.range, connections: new Set() }
      this.#groups.set(key, group)
      this.#ranges.add(group.range, group)
    }
    stream.group = group
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
    // From Node's pool, which is faster, as long as every client reads at once.
    const toChunk = this.#unread.isEmpty ? (text: string) => new Chunk(Buffer.from(text)) : Chunk.of
    this.events += renderPage(page, this.#ranges, toChunk, ({ connections }, chunks) => {
      for (const connection of connections) {
        if (connection.writableLength > this.#options.buffer) this.#cut(connection)
        else this.#unread.write(connection, chunks)
      }
    })
    this.#move(page.upTo)
  }

  #move(place: number | undefined): void {
    this.#place = place
    this.#moved.resolve()
    this.#moved = Promise.withResolvers()
  }

  /**
   * Shows every client that its stream lives, and from where it would resume; finds out which is gone. One that has yet to
   * read gets nothing: it would hold a pending write more with every heartbeat.
   */
  #beat(): void {
    if (this.#place === undefined) return
    const chunks = [Chunk.of(placeText(this.#place))]
    for (const { connections } of this.#groups.values())
      for (const connection of connections)
        if (connection.writableLength === 0) this.#unread.write(connection, chunks)
  }

  /** Resolves once a client has taken what was sent, or is gone; one that takes too long is cut. */
  async #drained(connection: StreamConnection, stream: Stream): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(() => this.#cut(connection), this.#options.sendTimeout)
    stream.wake = resolve
    connection.on('drain', this.#onDrain)
    await promise
    connection.off('drain', this.#onDrain)
    stream.wake = undefined
    clearTimeout(timer)
  }

  /** Gives up on a client that does not read. It can come back and resume. */
  #cut(connection: StreamConnection): void {
    if (this.#leave(connection)) this.cut++
    this.#unread.forget(connection)
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

  /** Returns whether it was a stream. */
  #leave(connection: StreamConnection): boolean {
    const stream = this.#streams.get(connection)
    if (!stream) return false
    this.#streams.delete(connection)
    stream.wake?.()
    const { group, range } = stream
    if (!group?.connections.delete(connection) || group.connections.size > 0) return true
    this.#groups.delete(keyOf(range))
    this.#ranges.delete(range)
    return true
  }

  #joined(): StreamConnection[] {
    return Array.from(this.#groups.values(), ({ connections }) => [...connections]).flat()
  }
}
