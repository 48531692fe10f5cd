import type { StreamConnection } from '@influencer-stats/runtime/hot-route'
import { threadId } from 'node:worker_threads'
import { errors } from './errors.ts'
import { Expiry } from './expiry.ts'
import { Hub, type HubOptions } from './hub.ts'
import type { ThreadCount } from './messages.ts'
import type { Places } from './places.ts'
import type { StreamRequest } from './stream-request.ts'

export interface StreamsOptions extends HubOptions {
  /** How many streams there may be on all threads. */
  readonly places: Places
  /** On this thread. */
  readonly maxPerAddress: number
  /** ms */
  readonly heartbeat: number
}

/** An address from which there are streams. */
interface Origin {
  readonly address: string
  streams: number
}

/** The streams of a thread and how many there may be. */
export class Streams {
  readonly hub: Hub
  readonly #options: StreamsOptions
  readonly #origins = new Map<string, Origin>()
  /** A closed socket no longer knows its address. */
  readonly #originOf = new Map<StreamConnection, Origin>()
  readonly #expiry: Expiry
  readonly #beating: NodeJS.Timeout
  readonly #onClose: (this: StreamConnection) => void

  constructor(options: StreamsOptions) {
    this.#options = options
    this.hub = new Hub(options)
    // One timer for all streams.
    this.#expiry = new Expiry((connection) => this.hub.finish(connection))
    this.#beating = setInterval(() => this.hub.beat(), options.heartbeat).unref()
    this.#onClose = onCloseOf((connection) => this.#forget(connection))
  }

  /** Whether there is room for one more. */
  hasRoom(address: string | undefined): boolean {
    const { places, maxPerAddress } = this.#options
    if (places.isFull) return false
    return (this.#origins.get(address ?? '')?.streams ?? 0) < maxPerAddress
  }

  /** Opens a stream for which there was room; cuts it should another thread have taken that. @param head goes before everything */
  open(connection: StreamConnection, address: string | undefined, request: StreamRequest, head?: string): void {
    if (!this.#options.places.take()) return void connection.destroy()
    this.#countAddress(connection, address ?? '')
    connection.on('close', this.#onClose)
    if (request.expiresAt !== undefined) this.#expiry.add(connection, request.expiresAt)
    this.hub.open(connection, request, head)
  }

  count(asked: readonly string[]): ThreadCount {
    const { size, topics } = this.hub
    return {
      thread: threadId,
      streams: size,
      topics: asked.map((topic) => [topic, topics.of(topic)]),
      allTopics: topics.total,
    }
  }

  /** Ends all streams. Idempotent. */
  close(): void {
    clearInterval(this.#beating)
    this.#expiry.close()
    this.hub.end()
  }

  #forget(connection: StreamConnection): void {
    this.hub.leave(connection)
    this.#expiry.delete(connection)
    this.#options.places.giveBack()
    const origin = this.#originOf.get(connection)!
    this.#originOf.delete(connection)
    if (--origin.streams === 0) this.#origins.delete(origin.address)
  }

  #countAddress(connection: StreamConnection, address: string): void {
    let origin = this.#origins.get(address)
    if (!origin) this.#origins.set(address, (origin = { address, streams: 0 }))
    origin.streams++
    this.#originOf.set(connection, origin)
  }
}

/** One listener shared by all streams, so that one costs no closure. */
function onCloseOf(forget: (connection: StreamConnection) => void) {
  return function onClose(this: StreamConnection): void {
    forget(this)
  }
}

export const tooManyStreams = () => errors.TOO_MANY_STREAMS(undefined, { headers: { 'retry-after': '5' } })
