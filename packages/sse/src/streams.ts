import type { StreamConnection } from '@influencer-stats/runtime/hot-route'
import { threadId } from 'node:worker_threads'
import { errors } from './errors.ts'
import { Hub, type HubOptions } from './hub.ts'
import type { ThreadCount } from './messages.ts'
import type { StreamRequest } from './stream-request.ts'

export interface StreamsOptions extends HubOptions {
  /** How many streams are open on all threads. */
  readonly cell: SharedArrayBuffer
  readonly maxStreams: number
  /** On this thread; 0 for no limit. */
  readonly maxPerAddress: number
  /** ms */
  readonly heartbeat: number
}

/** The streams of a thread and how many there may be. */
export class Streams {
  readonly hub: Hub
  readonly #options: StreamsOptions
  readonly #open: Int32Array
  readonly #perAddress = new Map<string, number>()
  /** Kept where addresses are counted, alone: a closed socket no longer knows its own. */
  readonly #addressOf = new Map<StreamConnection, string>()
  readonly #beating: NodeJS.Timeout
  readonly #onClose: (this: StreamConnection) => void

  constructor(options: StreamsOptions) {
    this.#options = options
    this.#open = new Int32Array(options.cell)
    this.hub = new Hub(options)
    // One timer for all streams.
    this.#beating = setInterval(() => this.hub.beat(), options.heartbeat).unref()
    this.#onClose = onCloseOf((connection) => this.#forget(connection))
  }

  /** Whether it matters where a stream comes from. */
  get countsAddresses(): boolean {
    return this.#options.maxPerAddress > 0
  }

  /** Whether there is room for one more. */
  hasRoom(address: string | undefined): boolean {
    const { maxStreams, maxPerAddress } = this.#options
    if (Atomics.load(this.#open, 0) >= maxStreams) return false
    return !maxPerAddress || (this.#perAddress.get(address ?? '') ?? 0) < maxPerAddress
  }

  /** Opens a stream for which there is room. @param head goes before everything */
  open(connection: StreamConnection, address: string | undefined, request: StreamRequest, head?: string): void {
    Atomics.add(this.#open, 0, 1)
    if (this.countsAddresses) this.#countAddress(connection, address ?? '')
    connection.on('close', this.#onClose)
    this.hub.open(connection, request, head)
  }

  count(): ThreadCount {
    return { thread: threadId, streams: this.hub.size, topics: [...this.hub.topics()] }
  }

  /** Ends all streams. Idempotent. */
  close(): void {
    clearInterval(this.#beating)
    this.hub.end()
  }

  #forget(connection: StreamConnection): void {
    this.hub.leave(connection)
    Atomics.sub(this.#open, 0, 1)
    const address = this.#addressOf.get(connection)
    if (address === undefined) return
    this.#addressOf.delete(connection)
    const left = this.#perAddress.get(address)! - 1
    if (left > 0) this.#perAddress.set(address, left)
    else this.#perAddress.delete(address)
  }

  #countAddress(connection: StreamConnection, address: string): void {
    this.#addressOf.set(connection, address)
    this.#perAddress.set(address, (this.#perAddress.get(address) ?? 0) + 1)
  }
}

/** One listener shared by all streams, so that one costs no closure. */
function onCloseOf(forget: (connection: StreamConnection) => void) {
  return function onClose(this: StreamConnection): void {
    forget(this)
  }
}

export const tooManyStreams = () => errors.TOO_MANY_STREAMS(undefined, { headers: { 'retry-after': '5' } })
