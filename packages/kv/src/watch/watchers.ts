import type { Budget } from '@influencer-stats/runtime/budget'
import { Chunk } from '@influencer-stats/runtime/chunk'
import { CHUNKS, NO_CHUNKS, type Framing } from '@influencer-stats/runtime/framing'
import type { StreamConnection } from '@influencer-stats/runtime/hot-route'
import { UnreadBytes } from '@influencer-stats/runtime/unread-bytes'
import type { ChangePage } from '../core/change-pages.ts'
import { RangeTree, type KeyRange } from '../core/range-tree.ts'
import { HEARTBEAT_LINE, toIdLine, toRetryLine } from '../lines/watch-events.ts'
import { errors } from '../errors.ts'
import { renderChangePage, type FindRecipients, type WatchRecipient } from './render-change-page.ts'
import { WatchReplays } from './replays.ts'

export interface WatchersOptions {
  /**
   * Reads changes: see `ChangeFeed.readAfter`. Without `after` it resolves with the current sequence and no changes.
   */
  changes(after: number | undefined, timeout: number, maxBytes?: number): Promise<ChangePage | undefined>
  /** Budget for unread bytes. */
  readonly budget: Budget
  /** True if each connection copies the bytes that it sends, as TLS does. */
  readonly isCopied: boolean
  /** Maximum number of streams. */
  readonly maxStreams: number
  /** Maximum number of unread bytes per client, not counting the newest page. A client with more is cut. */
  readonly maxUnreadBytes: number
  /** Time in which a client must read a page of its replay before it is cut (ms). */
  readonly sendTimeout: number
  /** Interval between heartbeats (ms). */
  readonly heartbeat: number
}

/** Metrics of the watch streams of a thread. */
export interface WatchMetrics {
  /** Number of open streams. */
  readonly streams: number
  /** Number of events that were sent, counted once for each stream. */
  readonly events: number
  /** Number of streams that were cut since the start. */
  readonly cutStreams: number
  /** Memory of changes that clients have not read (bytes). */
  readonly unreadBytes: number
}

/** Live streams of one range and one framing. A live stream has all earlier changes. */
interface WatchGroup extends WatchRecipient {
  readonly range: KeyRange
  readonly connections: Set<StreamConnection>
}

/** All live streams with the same framing. */
interface LiveStreams {
  readonly framing: Framing
  /** By `toRangeKey`. */
  readonly groups: Map<string, WatchGroup>
  readonly ranges: RangeTree<WatchGroup>
}

export interface WatchStreamOptions {
  /** Framing of everything after the head of the reply. */
  readonly framing: Framing
  readonly range: KeyRange
  /** Sequence after which the stream begins; undefined for the current one. */
  readonly after: number | undefined
  /** True if heartbeats are `id` lines without an event: only some clients know that these are no events. */
  readonly reportsProgress: boolean
}

interface WatchStreamState {
  readonly range: KeyRange
  readonly reportsProgress: boolean
  /** The live streams that the stream joins. */
  readonly live: LiveStreams
  /** Group of the stream; absent until the stream is live. */
  group?: WatchGroup
}

/** Maximum time that one request to the feed waits for changes (ms). */
const POLL_TIMEOUT_MS = 5_000
/**
 * Minimum delay before clients reconnect (ms). A random addition of up to the same length spreads the reconnections.
 */
const RETRY_DELAY_MS = 1_000
/** Time in which a client must read the end of its stream before its connection is destroyed (ms). */
const CLOSE_TIMEOUT_MS = 5_000

const toRangeKey = ({ start, end = '' }: KeyRange) => `${start.length} ${start}${end}`

/**
 * The watch streams of one thread. Live streams share each read of the main thread's feed, and streams of the same
 * range also share the rendered bytes. `WatchReplays` sends earlier changes to streams that resume.
 */
export class Watchers implements WatchMetrics {
  readonly #options: WatchersOptions
  readonly #streams = new Map<StreamConnection, WatchStreamState>()
  readonly #live = [CHUNKS, NO_CHUNKS].map((framing): LiveStreams => ({
    framing,
    groups: new Map(),
    ranges: new RangeTree(),
  }))
  readonly #unread: UnreadBytes
  readonly #replays: WatchReplays
  readonly #heartbeatTimer: NodeJS.Timeout
  readonly #onClose: (this: StreamConnection) => void
  /** Sequence up to which live streams have all changes; `undefined` without live streams. */
  #sequence: number | undefined
  #isRunning = false
  #isClosed = false
  #liveEvents = 0
  cutStreams = 0

  constructor(options: WatchersOptions) {
    this.#options = options
    this.#unread = new UnreadBytes({ ...options, cut: (connection) => this.#cut(connection) })
    this.#replays = new WatchReplays({
      changes: options.changes,
      sendTimeout: options.sendTimeout,
      getLiveSequence: () => this.#sequence,
      write: (connection, chunks) => this.#unread.write(connection, chunks),
      onLive: (connection, at) => this.#addToGroup(connection, at),
      cut: (connection) => this.#cut(connection),
    })
    // All streams share one listener: a closure for each would take memory.
    const close = (connection: StreamConnection) => {
      this.#removeStream(connection)
      this.#unread.remove(connection)
    }
    this.#onClose = function onClose(this: StreamConnection): void {
      close(this)
    }
    this.#heartbeatTimer = setInterval(() => this.#sendHeartbeat(), options.heartbeat).unref()
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

  /** Checks that a stream can be opened. @throws TOO_MANY_WATCHERS, SEQUENCE_EXPIRED */
  async checkCapacity(after: number | undefined): Promise<void> {
    if (this.#isFull) throw errors.TOO_MANY_WATCHERS(undefined, { headers: { 'retry-after': '5' } })
    if (after !== undefined && !(await this.#options.changes(after, 0, 0))) throw errors.SEQUENCE_EXPIRED()
  }

  /**
   * Opens a stream. The caller has called `checkCapacity` before; if other streams have used the capacity meanwhile,
   * the connection is destroyed.
   * @param head head of the HTTP reply
   */
  open(connection: StreamConnection, head: string, options: WatchStreamOptions): void {
    if (this.#isFull) return void connection.destroy()
    const { framing, range, reportsProgress } = options
    const live = this.#live.find((one) => one.framing === framing)!
    this.#streams.set(connection, { range, reportsProgress, live })
    connection.on('close', this.#onClose)
    // Without an empty line: many clients take the block that it would end for an empty message.
    const retry = toRetryLine(Math.round(RETRY_DELAY_MS * (1 + Math.random())))
    connection.write(head + framing.frame(retry))
    // The service stops. Its client reconnects after the end, as those of the other streams do.
    if (this.#isClosed) return this.#endStreams([connection])
    this.#startReplay(connection, options).catch(() => this.#cut(connection))
  }

  /** Ends all streams. Their clients reconnect, possibly to another process. Idempotent. */
  close(): void {
    clearInterval(this.#heartbeatTimer)
    this.#isClosed = true
    this.#endStreams([...this.#streams.keys()])
  }

  get #isFull(): boolean {
    return this.streams >= this.#options.maxStreams
  }

  async #startReplay(
    connection: StreamConnection,
    { framing, range, after, reportsProgress }: WatchStreamOptions,
  ): Promise<void> {
    const at = after ?? this.#sequence ?? (await this.#options.changes(undefined, 0))!.upTo
    if (!this.#streams.has(connection)) return
    if (after === undefined && reportsProgress) connection.write(framing.frame(toIdLine(at)))
    this.#replays.open(connection, { framing, range, sequence: at })
  }

  #addToGroup(connection: StreamConnection, at: number): void {
    const stream = this.#streams.get(connection)!
    const { groups, ranges } = stream.live
    const key = toRangeKey(stream.range)
    let group = groups.get(key)
    if (!group) {
      group = { range: stream.range, connections: new Set() }
      groups.set(key, group)
      ranges.add(group.range, group)
    }
    stream.group = group
    group.connections.add(connection)
    this.#sequence ??= at
    if (!this.#isRunning) void this.#run()
  }

  async #run(): Promise<void> {
    this.#isRunning = true
    while (this.#live.some(({ groups }) => groups.size > 0) && !this.#isClosed) {
      const page = await this.#options.changes(this.#sequence!, POLL_TIMEOUT_MS).catch(() => undefined)
      if (page) this.#deliverPage(page)
      // The feed cannot supply the next changes. Clients reconnect, and get SEQUENCE_EXPIRED if the changes are lost.
      else this.#endStreams(this.#getLiveConnections())
    }
    this.#isRunning = false
    this.#setSequence(undefined)
  }

  #deliverPage(page: ChangePage): void {
    for (const { framing, groups, ranges } of this.#live) {
      if (groups.size === 0) continue
      const toChunk = (text: string) => this.#unread.toChunk(framing.frame(text))
      const find: FindRecipients<WatchGroup> = (key, _seq, onFound) => ranges.findRanges(key, onFound)
      this.#liveEvents += renderChangePage(page, find, toChunk, ({ connections }, chunks) => {
        for (const connection of connections) {
          if (connection.writableLength > this.#options.maxUnreadBytes) this.#cut(connection)
          else this.#unread.write(connection, chunks)
        }
      })
    }
    this.#setSequence(page.upTo)
  }

  #setSequence(sequence: number | undefined): void {
    this.#sequence = sequence
    this.#replays.resume()
  }

  /**
   * Sends a sign that the stream works to every live stream: the sequence from which it would resume, if the client
   * knows that it is no event, or else a comment. The write also detects disconnected clients. A client with unread
   * bytes gets no heartbeat, because each one would add a pending write.
   */
  #sendHeartbeat(): void {
    if (this.#sequence === undefined) return
    for (const { framing, groups } of this.#live) {
      const progress = [Chunk.fromText(framing.frame(toIdLine(this.#sequence)))]
      const comment = [Chunk.fromText(framing.frame(HEARTBEAT_LINE))]
      for (const { connections } of groups.values())
        for (const connection of connections)
          if (connection.writableLength === 0)
            this.#unread.write(connection, this.#streams.get(connection)!.reportsProgress ? progress : comment)
    }
  }

  /**
   * Closes a stream that cannot continue, such as that of a client that does not read. The client may reconnect and
   * resume.
   */
  #cut(connection: StreamConnection): void {
    if (this.#removeStream(connection)) this.cutStreams++
    this.#unread.remove(connection)
    connection.destroy()
  }

  #endStreams(connections: readonly StreamConnection[]): void {
    for (const connection of connections) {
      // Without the end the client would see a stream that was cut.
      connection.write(this.#streams.get(connection)!.live.framing.end)
      this.#removeStream(connection)
      if (connection.destroySoon) connection.destroySoon()
      else connection.end()
    }
    // A client that does not read never receives the end of its stream, so its connection is destroyed after a timeout.
    if (connections.length > 0)
      setTimeout(() => connections.forEach((connection) => connection.destroy()), CLOSE_TIMEOUT_MS).unref()
  }

  /** Removes a stream. Returns false if the connection is not an open stream. */
  #removeStream(connection: StreamConnection): boolean {
    const stream = this.#streams.get(connection)
    if (!stream) return false
    this.#streams.delete(connection)
    this.#replays.remove(connection)
    const { group, range, live } = stream
    if (!group?.connections.delete(connection) || group.connections.size > 0) return true
    live.groups.delete(toRangeKey(range))
    live.ranges.delete(range)
    return true
  }

  #getLiveConnections(): StreamConnection[] {
    return this.#live.flatMap(({ groups }) => Array.from(groups.values(), ({ connections }) => [...connections]).flat())
  }
}
