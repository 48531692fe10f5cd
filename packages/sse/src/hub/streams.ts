import { setCloseHandler } from '@influencer-stats/runtime/connections'
import type { StreamConnection } from '@influencer-stats/runtime/hot-route'
import { threadId } from 'node:worker_threads'
import { errors } from '../errors.ts'
import { StreamExpiry } from './stream-expiry.ts'
import { endNewStream } from './end-streams.ts'
import { Hub } from './hub.ts'
import type { HubOptions } from './hub-options.ts'
import type { ThreadCount } from '../messages.ts'
import type { StreamSlots } from './stream-slots.ts'
import type { StreamRequest } from './stream-request.ts'

export interface StreamsOptions extends HubOptions {
  /** Limits the streams on all threads. */
  readonly slots: StreamSlots
  /** Maximum streams per address on this thread. */
  readonly maxPerAddress: number
  /** Interval of heartbeats (ms). */
  readonly heartbeat: number
}

/** Number of streams from an address. */
interface AddressStreams {
  readonly address: string
  streams: number
}

const ADDRESS = Symbol('address of the client')

/** The connection of a stream, with its address, because a closed socket no longer knows it. */
interface AddressedConnection extends StreamConnection {
  [ADDRESS]?: AddressStreams
}

/** The open streams of a thread, with their limits, heartbeats and expiry. */
export class Streams {
  readonly hub: Hub
  readonly #options: StreamsOptions
  readonly #addresses = new Map<string, AddressStreams>()
  readonly #expiry: StreamExpiry
  readonly #heartbeatTimer: NodeJS.Timeout
  readonly #onClose: (this: StreamConnection) => void
  #isClosed = false

  constructor(options: StreamsOptions) {
    this.#options = options
    this.hub = new Hub(options)
    this.#expiry = new StreamExpiry((connection) => this.hub.finish(connection))
    this.#heartbeatTimer = setInterval(() => this.hub.sendHeartbeats(), options.heartbeat).unref()
    this.#onClose = createOnClose((connection) => this.#remove(connection))
  }

  /** True if the limits allow one more stream of this address. */
  canOpen(address: string | undefined): boolean {
    const { slots, maxPerAddress } = this.#options
    if (slots.isFull) return false
    return (this.#addresses.get(address ?? '')?.streams ?? 0) < maxPerAddress
  }

  /**
   * Opens a stream. Call `canOpen` first. If another thread has acquired the last slot since then, the connection is
   * destroyed: the client reconnects, which it would not do after an error reply. After `close` the stream ends at once.
   * @param head head of the HTTP reply
   */
  open(connection: StreamConnection, address: string | undefined, request: StreamRequest, head?: string): void {
    if (this.#isClosed) return endNewStream(connection, request, this.#options, head ?? '')
    if (!this.#options.slots.tryAcquire()) return void connection.destroy()
    this.#countAddress(connection, address ?? '')
    setCloseHandler(connection, this.#onClose)
    if (request.expiresAt !== undefined) this.#expiry.add(connection, request.expiresAt)
    this.hub.open(connection, request, head)
  }

  /** Counts the streams, in total and by topic. */
  count(names: readonly string[]): ThreadCount {
    const { size, topics } = this.hub
    return {
      thread: threadId,
      streams: size,
      topics: names.map((topic) => [topic, topics.getCount(topic)]),
      allTopics: topics.total,
    }
  }

  /** Ends all streams. Idempotent. */
  close(): void {
    this.#isClosed = true
    clearInterval(this.#heartbeatTimer)
    this.#expiry.close()
    this.hub.end()
  }

  #remove(connection: AddressedConnection): void {
    this.hub.remove(connection)
    this.#expiry.delete(connection)
    this.#options.slots.release()
    const entry = connection[ADDRESS]!
    if (--entry.streams === 0) this.#addresses.delete(entry.address)
  }

  #countAddress(connection: AddressedConnection, address: string): void {
    let entry = this.#addresses.get(address)
    if (!entry) this.#addresses.set(address, (entry = { address, streams: 0 }))
    entry.streams++
    connection[ADDRESS] = entry
  }
}

/** Creates one listener for all streams, so that a stream needs no closure. */
function createOnClose(remove: (connection: StreamConnection) => void) {
  return function onClose(this: StreamConnection): void {
    remove(this)
  }
}

export const createTooManyStreamsError = () => errors.TOO_MANY_STREAMS(undefined, { headers: { 'retry-after': '5' } })
