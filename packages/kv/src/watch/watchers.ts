import type { Budget } from '@influencer-stats/runtime/budget'
import { Chunk } from '@influencer-stats/runtime/chunk'
import type { StreamConnection } from '@influencer-stats/runtime/hot-route'
import { UnreadBytes } from '@influencer-stats/runtime/unread-bytes'
import type { Page } from '../core/changes.ts'
import { Ranges, type KeyRange } from '../core/ranges.ts'
import { placeText, retryText } from '../core/watch-events.ts'
import { errors } from '../errors.ts'
import { renderPage, type FindRecipients, type Recipient } from './render-page.ts'
import { Replays } from './replays.ts'

export interface WatchersOptions {
  /** See `watch/feed.ts`; without a place nothing but the place where it is. */
  changes(after: number | undefined, patience: number, maxBytes?: number): Promise<Page | undefined>
  /** Budget for unread bytes. */
  readonly budget: Budget
  /** See `UnreadBytesOptions`. */
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
  /** Memory of changes that clients have not read (bytes). */
  readonly unreadBytes: number
}

/** Streams of one range that have what came before. */
interface Group extends Recipient {
  readonly range: KeyRange
  readonly connections: Set<StreamConnection>
}

interface Stream {
  readonly range: KeyRange
  /** Group of the stream, once the stream has the earlier changes. */
  group?: Group
}

/** How long to wait for changes before they are asked for again (ms). */
const PATIENCE = 5_000
/** Clients that lose their stream come back after this and up to as long again (ms), so that not all come in one moment. */
const RETRY = 1_000
/** How long a client may take to read the end of its stream (ms). */
const LINGER = 5_000

const keyOf = ({ start, end = '' }: KeyRange) => `${start.length} ${start}${end}`

/**
 * The streams of changes of one thread. Live streams share one read of main's feed; streams with the same changes also share
 * their bytes. `Replays` sends earlier changes to streams that resume.
 */
export class Watchers implements WatchFigures {
  readonly #options: WatchersOptions
  readonly #streams = new Map<StreamConnection, Stream>()
  readonly #groups = new Map<string, Group>()
  readonly #ranges = new Ranges<Group>()
  readonly #unread: UnreadBytes
  readonly #replays: Replays
  readonly #beating: NodeJS.Timeout
  readonly #onClose: (this: StreamConnection) => void
  /** Up to where the streams have been told; nothing while there are none. */
  #place: number | undefined
  #isRunning = false
  #isClosed = false
  #liveEvents = 0
  cut = 0

  constructor(options: WatchersOptions) {
    this.#options = options
    this.#unread = new UnreadBytes({ ...options, cut: (connection) => this.#cut(connection) })
    this.#replays = new Replays({
      changes: options.changes,
      sendTimeout: options.sendTimeout,
      place: () => this.#place,
      write: (connection, chunks) => this.#unread.write(connection, chunks),
      arrived: (connection, at) => this.#join(connection, at),
      cut: (connection) => this.#cut(connection),
    })
    // One listener for all streams: a closure for each takes memory.
    const close = (connection: StreamConnection) => {
      this.#leave(connection)
      this.#unread.forget(connection)
    }
    this.#onClose = function onClose(this: StreamConnection): void {
      close(this)
    }
    this.#beating = setInterval(() => this.#beat(), options.heartbeat).unref()
  }

  get streams(): number {
    return this.#streams.size
  }

  get events(): number {
    return this.#liveEvents + this.#replays.events
  }

  get unreadBytes(): number {
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
    this.#streams.set(connection, { range })
    connection.on('close', this.#onClose)
    connection.write(`${head}${retryText(Math.round(RETRY * (1 + Math.random())))}\n`)
    this.#arrive(connection, range, after).catch(() => this.#cut(connection))
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

  async #arrive(connection: StreamConnection, range: KeyRange, after: number | undefined): Promise<void> {
    const at = after ?? this.#place ?? (await this.#options.changes(undefined, 0))!.upTo
    if (!this.#streams.has(connection)) return
    if (after === undefined) connection.write(placeText(at))
    this.#replays.open(connection, range, at)
  }

  #join(connection: StreamConnection, at: number): void {
    const stream = this.#streams.get(connection)!
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
    const toChunk = (text: string) => this.#unread.toChunk(text)
    const find: FindRecipients<Group> = (key, _seq, found) => this.#ranges.find(key, found)
    this.#liveEvents += renderPage(page, find, toChunk, ({ connections }, chunks) => {
      for (const connection of connections) {
        if (connection.writableLength > this.#options.buffer) this.#cut(connection)
        else this.#unread.write(connection, chunks)
      }
    })
    this.#move(page.upTo)
  }

  #move(place: number | undefined): void {
    this.#place = place
    this.#replays.resume()
  }

  /**
   * Shows every client that its stream lives, and the sequence from which it would resume; detects disconnected clients. A client
   * with unread bytes gets nothing: it would hold one more pending write with every heartbeat.
   */
  #beat(): void {
    if (this.#place === undefined) return
    const chunks = [Chunk.of(placeText(this.#place))]
    for (const { connections } of this.#groups.values())
      for (const connection of connections) if (connection.writableLength === 0) this.#unread.write(connection, chunks)
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

  /** Returns true if the connection was a stream. */
  #leave(connection: StreamConnection): boolean {
    const stream = this.#streams.get(connection)
    if (!stream) return false
    this.#streams.delete(connection)
    this.#replays.leave(connection)
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
