import type { StreamConnection } from '@influencer-stats/runtime/hot-route'
import { eventId, closingId } from './core/event-id.ts'
import { isClosing, type Entry, type Event } from './core/event.ts'
import type { Encoder } from './encoder/encoder.ts'
import type { CreateFanout, Fanout } from './fanout/fanout.ts'
import { Group } from './group.ts'
import type { History } from './history/history.ts'

/** What a stream is to be. */
export interface StreamRequest {
  readonly encoder: Encoder
  /** Without doubles. */
  readonly topics: readonly string[]
  /** Begin with each topic's current value. */
  readonly last: boolean
  /** Where the client was when it lost its stream; `NaN` if that is not known here. */
  readonly resumeAfter: number | undefined
}

export interface HubOptions {
  readonly history: History
  /** When clients are to come back (ms). */
  readonly retry: number
  /** When values are written to streams. */
  readonly createFanout: CreateFanout
  /** Most bytes that a client may leave unread. */
  readonly streamBuffer: number
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
  readonly #options: HubOptions
  /** By what they get. */
  readonly #groups = new Map<string, Group>()
  readonly #byTopic = new Map<string, Set<Group>>()
  readonly #groupOf = new Map<StreamConnection, Group>()
  readonly #fanout: Fanout

  constructor(options: HubOptions) {
    this.#options = options
    this.#fanout = options.createFanout((group) => this.#flush(group))
  }

  get size(): number {
    return this.#groupOf.size
  }

  /** How many streams each topic has. */
  topics(): Map<string, number> {
    const counts = new Map<string, number>()
    for (const [topic, groups] of this.#byTopic) {
      let streams = 0
      for (const group of groups) streams += group.connections.size
      counts.set(topic, streams)
    }
    return counts
  }

  /** Opens a stream; what it has to be told first is told at once. @param head goes before everything */
  open(connection: StreamConnection, request: StreamRequest, head = ''): void {
    const group = this.#groupFor(request)
    // What the group has yet to send is in the history, from which the stream gets what came before it.
    this.#flush(group)
    connection.write(head + this.#opening(request))
    group.connections.add(connection)
    this.#groupOf.set(connection, group)
  }

  /** Forgets a stream, if it is one. Returns whether it was. */
  leave(connection: StreamConnection): boolean {
    const group = this.#groupOf.get(connection)
    if (!group) return false
    this.#groupOf.delete(connection)
    group.connections.delete(connection)
    if (group.connections.size === 0) this.#drop(group)
    return true
  }

  /** Brings entries, in order, to the streams; when they are written the fan-out decides. */
  deliver(entries: readonly Entry[]): void {
    const { epoch } = this.#options.history
    for (const entry of entries) {
      if (isClosing(entry)) {
        const id = closingId(epoch, entry.seq)
        this.#endAll(({ closed }) => closed(id))
      } else {
        this.#deliver(entry, eventId(epoch, entry.seq))
      }
    }
  }

  /** Shows every client that the connection lives, and finds out which does not. */
  beat(): void {
    for (const group of this.#groups.values()) this.#queue(group, group.heartbeat)
  }

  /** Ends all streams; their clients come back, to another process maybe. */
  end(): void {
    this.#endAll(({ farewell }) => farewell(this.#options.retry))
  }

  #deliver({ topic, value }: Event, id: string): void {
    this.figures.events++
    // Formatted once for each encoder, into one Buffer that all streams share.
    const encoded = new Map<Encoder, Buffer>()
    for (const group of this.#byTopic.get(topic) ?? []) {
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

  #endAll(lastWords: (encoder: Encoder) => string): void {
    const ended: StreamConnection[] = []
    for (const group of this.#groups.values()) {
      this.#flush(group)
      const bytes = Buffer.from(lastWords(group.encoder))
      for (const connection of group.connections) {
        if (bytes.length > 0) connection.write(bytes)
        if (connection.destroySoon) connection.destroySoon()
        else connection.end()
        ended.push(connection)
      }
      group.connections.clear()
    }
    this.#groups.clear()
    this.#byTopic.clear()
    this.#groupOf.clear()
    // Who does not read does not get the end, either.
    if (ended.length > 0) setTimeout(() => ended.forEach((connection) => connection.destroy()), LINGER).unref()
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

  #opening({ encoder, topics, last, resumeAfter }: StreamRequest): string {
    const { history, retry } = this.#options
    const id = (seq: number) => eventId(history.epoch, seq)
    const missed = resumeAfter === undefined ? undefined : history.since(topics, resumeAfter || 0)
    const first = missed?.events ?? (last ? currentOf(history, topics) : [])
    let text = encoder.opening(retry)
    // The client is right before what follows, should the stream break in between.
    if (missed && (Number.isNaN(resumeAfter) || !missed.complete)) {
      text += encoder.gap(id(first[0] ? first[0].seq - 1 : history.seq))
    }
    for (const { seq, value } of first) text += encoder.value(id(seq), value)
    return text + encoder.position(id(history.seq))
  }
}

function currentOf(history: History, topics: readonly string[]): Event[] {
  const events = topics.map((topic) => history.current(topic)).filter((event) => event !== undefined)
  return events.sort((a, b) => a.seq - b.seq)
}
