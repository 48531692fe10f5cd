import { Chunk } from '@influencer-stats/runtime/chunk'
import type { StreamConnection } from '@influencer-stats/runtime/hot-route'
import { shouldSendPieces, Piece } from '@influencer-stats/runtime/piece-list'
import { UnreadBytes } from '@influencer-stats/runtime/unread-bytes'
import type { HubOptions } from './hub-options.ts'
import { endStreams, pickRetry } from './end-streams.ts'
import { StreamGroups } from './stream-groups.ts'
import { StreamReplay, MAX_SLICE_BYTES } from './stream-replay.ts'
import { StreamReplays } from './stream-replays.ts'
import { formatEventId, formatClosingId } from '../core/event-id.ts'
import { isClosing, type StreamEntry, type Event } from '../core/event.ts'
import { getSetSize, iterateSet, addToSet, removeFromSet } from '../core/small-set.ts'
import { TopK } from '../core/top-k.ts'
import { getSelectorNames, type Selectors } from '../core/selectors.ts'
import type { Encoder } from '../encoder/encoder.ts'
import type { Fanout } from '../fanout/fanout.ts'
import type { StreamGroup } from '../fanout/stream-group.ts'
import { SharedValues } from './shared-values.ts'
import type { StreamRequest } from './stream-request.ts'

/** Counters of the hub since the start. */
export interface HubMetrics {
  /** Values received from the broker. */
  events: number
  /** Values written to streams, without the values of replays. */
  deliveries: number
  /** Bytes of values and heartbeats written to streams, without replays. */
  bytes: number
  /** Streams that were cut. */
  cut: number
}

const GROUP = Symbol('stream group')
/** The client of a stream with patterns. */
const CLIENT = Symbol('client of the stream')

/**
 * The connection of a stream, with its group. A map of the groups would take 46 bytes per stream, and as much again for
 * its copies while it grows.
 */
interface GroupedConnection extends StreamConnection {
  [GROUP]?: StreamGroup | undefined
  [CLIENT]?: string
}

/** The open streams of one thread. */
export class Hub {
  readonly metrics: HubMetrics = { events: 0, deliveries: 0, bytes: 0, cut: 0 }
  /** Number of streams that select each topic name and each prefix. */
  readonly topics = new TopK()
  readonly #options: HubOptions
  readonly #groups = new StreamGroups()
  readonly #heartbeats = new WeakMap<Encoder, Chunk>()
  #size = 0
  readonly #fanout: Fanout
  readonly #unread: UnreadBytes
  readonly #replays: StreamReplays
  readonly #values = new SharedValues()
  /** Event that is being delivered, and its id. */
  #event: Event | undefined
  #id = ''
  /** Text of the event in delivery, encoded once for each encoder. All streams share it. */
  readonly #encoded = new Map<Encoder, Piece>()
  /** Length of all texts that were encoded since the last flush (characters). */
  #encodedLength = 0

  constructor(options: HubOptions) {
    this.#options = options
    this.#fanout = options.createFanout((groups) => this.#flushAll(groups))
    const { budget, isCopied, streamBuffer, sendTimeout } = options
    this.#unread = new UnreadBytes({ budget, isCopied, cut: (connection) => this.#cut(connection) })
    this.#replays = new StreamReplays({
      streamBuffer,
      sendTimeout,
      toChunk: (text) => this.#unread.toChunk(text),
      write: (connection, chunks) => this.#unread.write(connection, chunks),
      onCaughtUp: (connection, replay) => this.#completeReplay(connection, replay),
      onBroken: (connection) => this.finish(connection),
    })
  }

  get size(): number {
    return this.#size
  }

  /** False if the client then has too many different patterns with the same literal start. */
  canSubscribe(selectors: Selectors, client: string): boolean {
    return this.#groups.canAdd(selectors, client)
  }

  /**
   * Opens a stream, which begins with a replay if the request resumes or has `last`.
   * @param head head of the HTTP reply
   */
  open(connection: GroupedConnection, request: StreamRequest, head = ''): void {
    const { history, streamBuffer } = this.#options
    const group = this.#groups.getOrCreate(request)
    connection[GROUP] = group
    this.#size++
    if (group.selectors.patterns.length > 0) {
      connection[CLIENT] = request.client ?? ''
      this.#groups.countClient(group, connection[CLIENT])
    }
    for (const topic of getSelectorNames(group.selectors)) this.topics.add(topic, 1)
    const { encoder } = group
    const opening = encoder.encodeOpening(pickRetry(this.#options.retry))
    if (request.last || request.resumeAfter !== undefined) {
      group.replaying++
      const sliceBytes = Math.min(MAX_SLICE_BYTES, streamBuffer)
      const replay = new StreamReplay(group, request, { history, values: this.#values, sliceBytes })
      this.#replays.open(connection, replay, head, opening)
    } else {
      const position = encoder.encodePosition(formatEventId(history.epoch, history.seq), request.isEventSource)
      connection.write(head + encoder.framing.frame(opening + position))
      this.#join(connection, group)
    }
  }

  /** Memory of values that clients have not received yet (bytes). */
  get unreadBytes(): number {
    return this.#unread.bytes
  }

  /** Removes the stream of a closed connection. Idempotent. */
  remove(connection: StreamConnection): void {
    this.#remove(connection)
    this.#unread.remove(connection)
  }

  /** Removes a stream. Returns false if the connection has no stream. */
  #remove(connection: GroupedConnection): boolean {
    const group = connection[GROUP]
    if (!group) return false
    connection[GROUP] = undefined
    this.#size--
    if (group.selectors.patterns.length > 0) this.#groups.discountClient(group, connection[CLIENT] ?? '')
    for (const topic of getSelectorNames(group.selectors)) this.topics.add(topic, -1)
    if (this.#replays.remove(connection)) group.replaying--
    else group.connections = removeFromSet(group.connections, connection)
    if (group.size === 0) this.#groups.delete(group)
    return true
  }

  /** Delivers entries to the streams, in order. The fan-out decides when values are written. */
  deliver(entries: readonly StreamEntry[]): void {
    const { epoch } = this.#options.history
    for (const entry of entries) {
      if (isClosing(entry)) {
        const id = formatClosingId(epoch, entry.seq)
        this.#endAll(({ encodeClosed }) => encodeClosed(id))
        for (const [, replay] of this.#replays.entries()) replay.finalEvent = replay.group.encoder.encodeClosed(id)
      } else {
        this.#deliver(entry, formatEventId(epoch, entry.seq))
      }
    }
  }

  /**
   * Sends a heartbeat to every stream without a running replay, which detects disconnected clients. A client with
   * unread bytes gets none, because every heartbeat would be one more pending write. Also cuts the streams whose replay
   * does not progress.
   */
  sendHeartbeats(): void {
    for (const { encoder, connections } of this.#groups.values()) {
      const chunks = [this.#getHeartbeat(encoder)]
      for (const connection of iterateSet(connections)) {
        if (connection.writableLength === 0) this.#write(connection, chunks)
      }
    }
    for (const connection of this.#replays.findStalled()) this.#cut(connection)
  }

  /** Ends one stream; its client may reconnect. */
  finish(connection: GroupedConnection): void {
    const group = connection[GROUP]
    if (!group) return
    const { encoder } = group
    const isWithinValue = this.#replays.isWithinValue(connection)
    this.#remove(connection)
    if (isWithinValue) connection.destroy()
    else endStreams([connection], encoder.framing, () => encoder.encodeGoodbye(pickRetry(this.#options.retry)))
  }

  /** Ends all streams; their clients reconnect, possibly to another process. */
  end(): void {
    this.#endAll((encoder) => encoder.encodeGoodbye(pickRetry(this.#options.retry)))
    for (const [connection] of this.#replays.entries()) this.finish(connection)
  }

  #deliver(event: Event, id: string): void {
    this.metrics.events++
    this.#event = event
    this.#id = id
    this.#groups.find(event.topic, this.#queueEvent)
    if (event.more?.alternates) for (const topic of event.more.alternates) this.#groups.find(topic, this.#queueEvent)
    this.#encoded.clear()
  }

  // One function for all events: a function per event costs a microsecond more.
  readonly #queueEvent = (group: StreamGroup): void => {
    const event = this.#event!
    // The index may have found the group for another topic of the event, or by another selector.
    if (group.lastSeq === event.seq) return
    group.lastSeq = event.seq
    if (group.connections === undefined || !group.reader.canRead(event)) return
    let piece = this.#encoded.get(group.encoder)
    if (!piece) this.#encoded.set(group.encoder, (piece = this.#encodePiece(group.encoder, event)))
    this.metrics.deliveries += getSetSize(group.connections)
    group.pending = group.pending.with(piece)
    this.#fanout.queue(group)
  }

  #encodePiece(encoder: Encoder, event: Event): Piece {
    const text = encoder.encodeValue(this.#id, event)
    this.#encodedLength += text.length
    return new Piece(text)
  }

  #getHeartbeat(encoder: Encoder): Chunk {
    let chunk = this.#heartbeats.get(encoder)
    if (!chunk) this.#heartbeats.set(encoder, (chunk = Chunk.fromText(encoder.framing.frame(encoder.heartbeat))))
    return chunk
  }

  /**
   * Writes the pending events of groups. A group writes either a list of pieces, which groups share, or its
   * own joined text. If clients have unread bytes, all groups use the alternative that takes less memory. Otherwise
   * they write joined text.
   */
  #flushAll(groups: readonly StreamGroup[]): void {
    const isListed =
      groups.length > 1 &&
      !this.#unread.isEmpty &&
      shouldSendPieces(
        groups.map(({ pending: pieces, connections }) => ({ pieces, streams: getSetSize(connections) })),
        this.#encodedLength,
      )
    this.#encodedLength = 0
    for (const group of groups) this.#flush(group, isListed)
    this.#groups.emptyPieces.releaseNext()
  }

  #flush(group: StreamGroup, isListed = false): void {
    const { pending } = group
    if (pending.count === 0) return
    group.pending = this.#groups.emptyPieces
    const { frame } = group.encoder.framing
    const toChunk = (text: string) => this.#unread.toChunk(frame(text))
    const chunks = isListed ? pending.toChunkList(toChunk) : [pending.toJoinedChunk(toChunk)]
    for (const connection of iterateSet(group.connections)) {
      if (connection.writableLength > this.#options.streamBuffer) this.#cut(connection)
      else this.#write(connection, chunks)
    }
  }

  #write(connection: StreamConnection, chunks: readonly Chunk[]): void {
    this.#unread.write(connection, chunks)
    for (const { bytes } of chunks) this.metrics.bytes += bytes.length
  }

  /** Disconnects a client that reads too slowly, without a final event. The client can reconnect and resume. */
  #cut(connection: StreamConnection): void {
    if (this.#remove(connection)) this.metrics.cut++
    this.#unread.remove(connection)
    connection.destroy()
  }

  /** Adds a stream to its group after its replay, and ends the stream if all streams were closed meanwhile. */
  #completeReplay(connection: StreamConnection, { group, finalEvent }: StreamReplay): void {
    group.replaying--
    this.#join(connection, group)
    if (finalEvent === undefined) return
    this.#remove(connection)
    endStreams([connection], group.encoder.framing, () => finalEvent)
  }

  /**
   * Adds a stream to a group. Flushes the group first, because the stream must not receive the pending events: they are
   * part of its replay, or older than its start.
   */
  #join(connection: StreamConnection, group: StreamGroup): void {
    this.#flush(group)
    group.connections = addToSet(group.connections, connection)
  }

  /** Ends all streams whose replay is complete. */
  #endAll(encodeFinalEvent: (encoder: Encoder) => string): void {
    for (const group of this.#groups.values()) {
      this.#flush(group)
      const ended = [...iterateSet(group.connections)]
      for (const connection of ended) this.#remove(connection)
      endStreams(ended, group.encoder.framing, () => encodeFinalEvent(group.encoder))
    }
  }
}
