import type { StreamConnection } from '@influencer-stats/runtime/hot-route'
import { Arrival, SLICE } from './arrival.ts'
import { Arrivals } from './arrivals.ts'
import { eventId, closingId } from './core/event-id.ts'
import { isClosing, type Entry, type Event } from './core/event.ts'
import { Ranking } from './core/ranking.ts'
import type { Encoder } from './encoder/encoder.ts'
import type { CreateFanout, Fanout } from './fanout/fanout.ts'
import { Group } from './group.ts'
import type { History } from './history/history.ts'
import { SharedValues } from './shared-values.ts'
import type { StreamRequest } from './stream-request.ts'

export interface HubOptions {
  readonly history: History
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

// How long a client may take to read the end of its stream (ms).
const LINGER = 5_000

/** The open streams of one thread. */
export class Hub {
  readonly figures: HubFigures = { events: 0, deliveries: 0, bytes: 0, cut: 0 }
  /** How many streams each topic has. */
  readonly topics = new Ranking()
  readonly #options: HubOptions
  /** By what they get. */
  readonly #groups = new Map<string, Group>()
  readonly #byTopic = new Map<string, Set<Group>>()
  readonly #groupOf = new Map<StreamConnection, Group>()
  readonly #fanout: Fanout
  readonly #arrivals: Arrivals
  readonly #values = new SharedValues()

  constructor(options: HubOptions) {
    this.#options = options
    this.#fanout = options.createFanout((group) => this.#flush(group))
    const { streamBuffer, sendTimeout } = options
    this.#arrivals = new Arrivals({
      streamBuffer,
      sendTimeout,
      arrived: (connection, arrival) => this.#settle(connection, arrival),
    })
  }

  get size(): number {
    return this.#groupOf.size
  }

  /** Opens a stream, which is told first what came before it. @param head goes before everything */
  open(connection: StreamConnection, request: StreamRequest, head = ''): void {
    const { history, streamBuffer } = this.#options
    const group = this.#groupFor(request)
    this.#groupOf.set(connection, group)
    for (const topic of group.topics) this.topics.add(topic, 1)
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

  /** Forgets a stream, if it is one. Returns whether it was. */
  leave(connection: StreamConnection): boolean {
    const group = this.#groupOf.get(connection)
    if (!group) return false
    this.#groupOf.delete(connection)
    for (const topic of group.topics) this.topics.add(topic, -1)
    if (this.#arrivals.leave(connection)) group.arriving--
    else group.connections.delete(connection)
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

  /** Shows every client that the connection lives, and finds out which does not. */
  beat(): void {
    for (const group of this.#groups.values()) this.#queue(group, group.heartbeat)
    for (const connection of this.#arrivals.stalled()) this.#cut(connection)
  }

  /** Ends all streams; their clients come back, to another process maybe. */
  end(): void {
    const farewell = (encoder: Encoder) => encoder.farewell(this.#retry())
    this.#endAll(farewell)
    const arriving = Array.from(this.#arrivals.entries(), ([connection, { group }]) => [connection, group] as const)
    for (const [connection, { encoder }] of arriving) {
      this.leave(connection)
      this.#finish([connection], () => farewell(encoder))
    }
  }

  #deliver({ topic, value }: Event, id: string): void {
    this.figures.events++
    // Formatted once for each encoder, into one Buffer that all streams share.
    const encoded = new Map<Encoder, Buffer>()
    for (const group of this.#byTopic.get(topic) ?? []) {
      if (group.connections.size === 0) continue
      let bytes = encoded.get(group.encoder)
      if (!bytes) encoded.set(group.encoder, (bytes = Buffer.from(group.encoder.value(id, value))))
      this.figures.deliveries += group.connections.size
      this.#queue(group, bytes)
    }
  }

  #queue(group: Group, bytes: Buffer): void {
    group.pending.push(bytes)
    this.#fanout.queue(group)
  }

  #flush(group: Group): void {
    const { pending } = group
    if (pending.length === 0) return
    group.pending = []
    const chunk = pending.length === 1 ? pending[0]! : Buffer.concat(pending)
    for (const connection of group.connections) {
      if (connection.writableLength > this.#options.streamBuffer) this.#cut(connection)
      else {
        connection.write(chunk)
        this.figures.bytes += chunk.length
      }
    }
  }

  /** Gives up on a client that does not read. It can come back and resume. */
  #cut(connection: StreamConnection): void {
    this.figures.cut++
    this.leave(connection)
    connection.destroy()
  }

  /** A stream that has been told what came before it is one of its group. */
  #settle(connection: StreamConnection, { group, lastWords }: Arrival): void {
    group.arriving--
    this.#join(connection, group)
    if (lastWords === undefined) return
    this.leave(connection)
    this.#finish([connection], () => lastWords)
  }

  /** What the group has yet to send has come to the stream in another way. */
  #join(connection: StreamConnection, group: Group): void {
    this.#flush(group)
    group.connections.add(connection)
  }

  /** Ends all streams that have been told what came before. */
  #endAll(lastWords: (encoder: Encoder) => string): void {
    for (const group of this.#groups.values()) {
      this.#flush(group)
      const ended = [...group.connections]
      for (const connection of ended) this.leave(connection)
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

  #groupFor({ encoder, topics }: StreamRequest): Group {
    const key = JSON.stringify([encoder.contentType, ...topics.toSorted()])
    let group = this.#groups.get(key)
    if (group) return group
    this.#groups.set(key, (group = new Group(key, encoder, topics)))
    for (const topic of topics) {
      const groups = this.#byTopic.get(topic)
      if (groups) groups.add(group)
      else this.#byTopic.set(topic, new Set([group]))
    }
    return group
  }

  #drop(group: Group): void {
    this.#groups.delete(group.key)
    for (const topic of group.topics) {
      const groups = this.#byTopic.get(topic)!
      groups.delete(group)
      if (groups.size === 0) this.#byTopic.delete(topic)
    }
  }
}
