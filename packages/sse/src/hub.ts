import type { Budget } from '@influencer-stats/runtime/budget'
import { Chunk } from '@influencer-stats/runtime/chunk'
import type { StreamConnection } from '@influencer-stats/runtime/hot-route'
import { isListedSmaller, Piece, PieceList } from '@influencer-stats/runtime/piece-list'
import { UnreadBytes } from '@influencer-stats/runtime/unread-bytes'
import { hash } from 'node:crypto'
import { Arrival, SLICE } from './arrival.ts'
import { Arrivals } from './arrivals.ts'
import { eventId, closingId } from './core/event-id.ts'
import { isClosing, type Entry, type Event } from './core/event.ts'
import { countOf, eachOf, withOne, withoutOne } from './core/few.ts'
import { Ranking } from './core/ranking.ts'
import { namesOf, ownSelectors, selectorsKey, type Selectors } from './core/selectors.ts'
import { TopicIndex } from './core/topic-index.ts'
import type { Encoder } from './encoder/encoder.ts'
import type { CreateFanout, Fanout } from './fanout/fanout.ts'
import { Group } from './group.ts'
import type { History } from './history/history.ts'
import { SharedValues } from './shared-values.ts'
import type { StreamRequest } from './stream-request.ts'

export interface HubOptions {
  readonly history: History
  /** Budget for unread bytes. */
  readonly budget: Budget
  /** See `UnreadBytesOptions`. */
  readonly isCopied: boolean
  /** Clients are to come back after this and up to as long again (ms), so that not all come in one moment. */
  readonly retry: number
  /** When values are written to streams. */
  readonly createFanout: CreateFanout
  /** Most bytes that a client may leave unread. */
  readonly streamBuffer: number
  /** A client that takes nothing of what came before its stream for so long is cut (ms). */
  readonly sendTimeout: number
}

/** What streams cost and got since the start. */
export interface HubFigures {
  events: number
  deliveries: number
  bytes: number
  cut: number
}

// Characters; a hash has 32.
const LONGEST_KEY = 32

// How long a client may take to read the end of its stream (ms).
const LINGER = 5_000

/** The open streams of one thread. */
export class Hub {
  readonly figures: HubFigures = { events: 0, deliveries: 0, bytes: 0, cut: 0 }
  /** How many streams each topic has, or each way to select topics. */
  readonly topics = new Ranking()
  readonly #options: HubOptions
  /** By what they get. */
  readonly #groups = new Map<string, Group>()
  readonly #index = new TopicIndex<Group>()
  readonly #heartbeats = new WeakMap<Encoder, Chunk>()
  readonly #groupOf = new Map<StreamConnection, Group>()
  readonly #fanout: Fanout
  readonly #unread: UnreadBytes
  readonly #toChunk = (text: string) => this.#unread.toChunk(text)
  readonly #arrivals: Arrivals
  readonly #values = new SharedValues()
  readonly #nothing = new PieceList()
  /** What is being delivered, and its id. */
  #event: Event | undefined
  #id = ''
  /** The same as text: formatted once for each encoder, and shared by all streams. */
  readonly #encoded = new Map<Encoder, Piece>()
  /** Length of all text since the last flush (characters). */
  #length = 0

  constructor(options: HubOptions) {
    this.#options = options
    this.#fanout = options.createFanout((groups) => this.#flushAll(groups))
    const { budget, isCopied, streamBuffer, sendTimeout } = options
    this.#unread = new UnreadBytes({ budget, isCopied, cut: (connection) => this.#cut(connection) })
    this.#arrivals = new Arrivals({
      streamBuffer,
      sendTimeout,
      toChunk: this.#toChunk,
      write: (connection, chunks) => this.#unread.write(connection, chunks),
      arrived: (connection, arrival) => this.#settle(connection, arrival),
      broke: (connection) => this.finish(connection),
    })
  }

  get size(): number {
    return this.#groupOf.size
  }

  /** Whether streams with these may be opened: not where there are too many patterns alike. */
  hasRoom(selectors: Selectors): boolean {
    return this.#index.hasRoom(selectors)
  }

  /** Opens a stream, which is told first what came before it. @param head goes before everything */
  open(connection: StreamConnection, request: StreamRequest, head = ''): void {
    const { history, streamBuffer } = this.#options
    const group = this.#groupFor(request)
    this.#groupOf.set(connection, group)
    for (const topic of namesOf(group.selectors)) this.topics.add(topic, 1)
    const text = head + group.encoder.opening(this.#retry())
    if (request.last || request.resumeAfter !== undefined) {
      group.arriving++
      const slice = Math.min(SLICE, streamBuffer)
      const arrival = new Arrival(group, request, { history, values: this.#values, slice })
      this.#arrivals.open(connection, arrival, text)
    } else {
      connection.write(text + group.encoder.position(eventId(history.epoch, history.seq)))
      this.#join(connection, group)
    }
  }

  /** Memory of values that clients have not read (bytes). */
  get unreadBytes(): number {
    return this.#unread.bytes
  }

  /** Forgets the stream of a connection that is closed. Idempotent. */
  leave(connection: StreamConnection): void {
    this.#leave(connection)
    this.#unread.remove(connection)
  }

  /** Removes a stream. Returns true if the connection was one. */
  #leave(connection: StreamConnection): boolean {
    const group = this.#groupOf.get(connection)
    if (!group) return false
    this.#groupOf.delete(connection)
    for (const topic of namesOf(group.selectors)) this.topics.add(topic, -1)
    if (this.#arrivals.leave(connection)) group.arriving--
    else group.connections = withoutOne(group.connections, connection)
    if (group.size === 0) this.#drop(group)
    return true
  }

  /** Brings entries, in order, to the streams; when they are written the fan-out decides. */
  deliver(entries: readonly Entry[]): void {
    const { epoch } = this.#options.history
    for (const entry of entries) {
      if (isClosing(entry)) {
        const id = closingId(epoch, entry.seq)
        this.#endAll(({ closed }) => closed(id))
        for (const [, arrival] of this.#arrivals.entries()) arrival.lastWords = arrival.group.encoder.closed(id)
      } else {
        this.#deliver(entry, eventId(epoch, entry.seq))
      }
    }
  }

  /**
   * Sends a heartbeat to every stream, which detects disconnected clients. A client with unread bytes gets none: every heartbeat
   * would be one more pending write.
   */
  beat(): void {
    for (const { encoder, connections } of this.#groups.values()) {
      const chunks = [this.#heartbeatOf(encoder)]
      for (const connection of eachOf(connections)) {
        if (connection.writableLength === 0) this.#write(connection, chunks)
      }
    }
    for (const connection of this.#arrivals.stalled()) this.#cut(connection)
  }

  /** Ends a stream; its client comes back if it may. */
  finish(connection: StreamConnection): void {
    const group = this.#groupOf.get(connection)
    if (!group) return
    this.#leave(connection)
    this.#finish([connection], () => group.encoder.farewell(this.#retry()))
  }

  /** Ends all streams; their clients come back, to another process maybe. */
  end(): void {
    const farewell = (encoder: Encoder) => encoder.farewell(this.#retry())
    this.#endAll(farewell)
    const arriving = Array.from(this.#arrivals.entries(), ([connection, { group }]) => [connection, group] as const)
    for (const [connection, { encoder }] of arriving) {
      this.#leave(connection)
      this.#finish([connection], () => farewell(encoder))
    }
  }

  #deliver(event: Event, id: string): void {
    this.figures.events++
    this.#event = event
    this.#id = id
    this.#index.find(event.topic, this.#tell)
    if (event.more?.alternates) for (const topic of event.more.alternates) this.#index.find(topic, this.#tell)
    this.#encoded.clear()
  }

  // One function for all events: one for each costs a microsecond more.
  readonly #tell = (group: Group): void => {
    const event = this.#event!
    // It may have been found for another of the event's topics, or in another way.
    if (group.lastSeq === event.seq) return
    group.lastSeq = event.seq
    if (group.connections === undefined || !group.reader.sees(event)) return
    let piece = this.#encoded.get(group.encoder)
    if (!piece) this.#encoded.set(group.encoder, (piece = this.#pieceOf(group.encoder, event)))
    this.figures.deliveries += countOf(group.connections)
    group.pending = group.pending.with(piece)
    this.#fanout.queue(group)
  }

  #pieceOf(encoder: Encoder, event: Event): Piece {
    const text = encoder.value(this.#id, event)
    this.#length += text.length
    return new Piece(text)
  }

  #heartbeatOf(encoder: Encoder): Chunk {
    let chunk = this.#heartbeats.get(encoder)
    if (!chunk) this.#heartbeats.set(encoder, (chunk = Chunk.fromText(encoder.heartbeat)))
    return chunk
  }

  /** Writes pending events. Streams of different groups share the text of an event, even if their other events differ. */
  #flushAll(groups: readonly Group[]): void {
    const isListed =
      groups.length > 1 &&
      !this.#unread.isEmpty &&
      isListedSmaller(
        groups.map(({ pending: pieces, connections }) => ({ pieces, streams: countOf(connections) })),
        this.#length,
      )
    this.#length = 0
    for (const group of groups) this.#flush(group, isListed)
    this.#nothing.releaseNext()
  }

  #flush(group: Group, isListed = false): void {
    const { pending } = group
    if (pending.count === 0) return
    group.pending = this.#nothing
    const chunks = isListed ? pending.toChunkList(this.#toChunk) : [pending.toJoinedChunk(this.#toChunk)]
    for (const connection of eachOf(group.connections)) {
      if (connection.writableLength > this.#options.streamBuffer) this.#cut(connection)
      else this.#write(connection, chunks)
    }
  }

  #write(connection: StreamConnection, chunks: readonly Chunk[]): void {
    this.#unread.write(connection, chunks)
    for (const { bytes } of chunks) this.figures.bytes += bytes.length
  }

  /** Gives up on a client that does not read. It can come back and resume. */
  #cut(connection: StreamConnection): void {
    if (this.#leave(connection)) this.figures.cut++
    this.#unread.remove(connection)
    connection.destroy()
  }

  /** A stream that has been told what came before it is one of its group. */
  #settle(connection: StreamConnection, { group, lastWords }: Arrival): void {
    group.arriving--
    this.#join(connection, group)
    if (lastWords === undefined) return
    this.#leave(connection)
    this.#finish([connection], () => lastWords)
  }

  /** What the group has yet to send has come to the stream in another way. */
  #join(connection: StreamConnection, group: Group): void {
    this.#flush(group)
    group.connections = withOne(group.connections, connection)
  }

  /** Ends all streams that have been told what came before. */
  #endAll(lastWords: (encoder: Encoder) => string): void {
    for (const group of this.#groups.values()) {
      this.#flush(group)
      const ended = [...eachOf(group.connections)]
      for (const connection of ended) this.#leave(connection)
      this.#finish(ended, () => lastWords(group.encoder))
    }
  }

  /** Ends streams that are forgotten. */
  #finish(ended: readonly StreamConnection[], lastWords: () => string): void {
    for (const connection of ended) {
      const text = lastWords()
      if (text !== '') connection.write(text)
      if (connection.destroySoon) connection.destroySoon()
      else connection.end()
    }
    // Who does not read does not get the end, either.
    if (ended.length > 0) setTimeout(() => ended.forEach((connection) => connection.destroy()), LINGER).unref()
  }

  #retry(): number {
    return Math.round(this.#options.retry * (1 + Math.random()))
  }

  #groupFor({ encoder, selectors, reader }: StreamRequest): Group {
    const name = `${encoder.name} ${reader.key} ${selectorsKey(selectors)}`
    // What takes less memory, and is as unlike any other.
    const key = name.length > LONGEST_KEY ? hash('sha256', name, 'buffer').toString('latin1') : name
    const known = this.#groups.get(key)
    if (known) return known
    const group = new Group(key, { encoder, selectors: ownSelectors(selectors), reader, pending: this.#nothing })
    this.#groups.set(key, group)
    this.#index.add(group.selectors, group)
    return group
  }

  #drop(group: Group): void {
    this.#groups.delete(group.key)
    this.#index.delete(group.selectors, group)
  }
}
