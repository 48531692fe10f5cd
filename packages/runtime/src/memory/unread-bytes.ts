import type { StreamConnection } from '../net/stream-connection.ts'
import { roundToUnits, type Budget } from './budget.ts'
import { Chunk } from './chunk.ts'

export interface UnreadBytesOptions {
  readonly budget: Budget
  /** True if each connection copies the bytes that it sends, as TLS does. */
  readonly isCopied: boolean
  /** Closes a stream and calls `UnreadBytes.remove` for it. */
  cut(connection: StreamConnection): void
}

/**
 * Memory that Node and the backlog use for one write that the client has not read (bytes). Measured: 59 of heap after a
 * garbage collection, 180 of RSS.
 */
export const PENDING_WRITE_BYTES = 128
/**
 * Maximum number of socket writes for a chunk in a reply of Node's HTTP server. With chunked encoding, these are the
 * chunk's length, its bytes and its end.
 */
const WRITES_PER_REPLY_CHUNK = 3
/** Memory of a chunk in addition to its content: Buffer, ArrayBuffer and their allocation (bytes). */
const CHUNK_OVERHEAD_BYTES = 250
/**
 * Streams get memory only while the whole process holds less than this share of the budget. Requests can use the rest.
 */
const MAX_SHARE = 1 / 2
/**
 * Share of the budget that streams may use even while the budget is full. Each thread has an equal part of it, which
 * the streams of other threads cannot use.
 */
const GUARANTEED_SHARE = 1 / 8
/**
 * Share by which a reduction lowers the unread bytes. A smaller share would need more reductions, and each one sorts
 * all streams with unread bytes.
 */
const REDUCTION_SHARE = 1 / 8
/** Largest number of unused bytes taken from the budget. If more are unused, all of them are returned at once. */
const MAX_SPARE_BYTES = 65_536
const RELEASE_INTERVAL_MS = 200
/** A backlog removes read chunks from its list once they are at least this many, and at least half of the list. */
const MIN_COMPACT_CHUNKS = 64

/** Unread chunks of a stream. */
interface UnreadBacklog {
  readonly chunks: Chunk[]
  /** Index of the first unread chunk. */
  first: number
  /** Size of the unread chunks (bytes). */
  bytes: number
}

/**
 * Writes chunks to the streams of a thread, and takes memory for unread bytes from the budget: each chunk once, the
 * copies of it if `isCopied`, and a constant for each pending write. If the budget is full, it cuts the streams with
 * the largest number of unread bytes. A stream whose client reads at once costs one comparison.
 */
export class UnreadBytes {
  readonly #options: UnreadBytesOptions
  readonly #backlogs = new Map<StreamConnection, UnreadBacklog>()
  /** Number of different unread chunks. */
  #chunks = 0
  /** Memory that unread chunks and their writes take (bytes). */
  #bytes = 0
  /** Bytes taken from the budget, in whole units. */
  #taken = 0
  #releaseTimer: NodeJS.Timeout | undefined

  constructor(options: UnreadBytesOptions) {
    this.#options = options
  }

  /** Memory that unread chunks and their writes take now (bytes). */
  get bytes(): number {
    this.releaseRead()
    return this.#bytes
  }

  /** True if no stream has unread bytes. */
  get isEmpty(): boolean {
    return this.#backlogs.size === 0
  }

  /** Creates a chunk. Node's pool is faster, and is used while no stream has unread bytes. */
  toChunk(text: string): Chunk {
    return this.isEmpty ? new Chunk(Buffer.from(text)) : Chunk.fromText(text)
  }

  /** Writes chunks to a stream. @returns true if the stream accepts more; otherwise it emits `drain` later */
  write(connection: StreamConnection, chunks: readonly Chunk[]): boolean {
    let isReady = true
    if (chunks.length > 1) connection.cork?.()
    for (const { bytes } of chunks) isReady = connection.write(bytes) !== false
    if (chunks.length > 1) connection.uncork?.()
    if (connection.writableLength > 0) this.#add(connection, chunks)
    else if (this.#backlogs.size > 0) this.remove(connection)
    return isReady
  }

  /** Releases the unread bytes of a stream. Idempotent. */
  remove(connection: StreamConnection): void {
    const backlog = this.#backlogs.get(connection)
    if (!backlog) return
    this.#backlogs.delete(connection)
    this.#release(connection, backlog, 0)
    this.#releaseSpare()
  }

  /** Releases bytes that clients have read meanwhile. A socket itself reports only that it has sent all bytes. */
  releaseRead(): void {
    for (const [connection, backlog] of this.#backlogs) {
      this.#release(connection, backlog, connection.writableLength)
      if (backlog.first === backlog.chunks.length) this.#backlogs.delete(connection)
    }
    this.#releaseSpare()
  }

  #add(connection: StreamConnection, chunks: readonly Chunk[]): void {
    const known = this.#backlogs.get(connection)
    const backlog = known ?? { chunks: [], first: 0, bytes: 0 }
    if (!known) this.#backlogs.set(connection, backlog)
    for (const chunk of chunks) {
      backlog.chunks.push(chunk)
      backlog.bytes += chunk.bytes.length
      this.#bytes += this.#getWriteCost(connection, chunk)
      if (chunk.whole.unread++ > 0) continue
      this.#bytes += chunk.whole.bytes.length + CHUNK_OVERHEAD_BYTES
      this.#chunks++
    }
    if (known) this.#release(connection, backlog, connection.writableLength)
    if (this.#bytes > this.#taken && !this.#take()) this.#reduce()
    this.#releaseTimer ??= setTimeout(() => this.#releaseReadLater(), RELEASE_INTERVAL_MS).unref()
  }

  #releaseReadLater(): void {
    this.releaseRead()
    if (this.isEmpty) this.#releaseTimer = undefined
    else this.#releaseTimer!.refresh()
  }

  /** Releases the chunks that the client has read. @param unread number of unread bytes at the end of the backlog */
  #release(connection: StreamConnection, backlog: UnreadBacklog, unread: number): void {
    const { chunks } = backlog
    while (backlog.first < chunks.length) {
      const chunk = chunks[backlog.first]!
      if (backlog.bytes - chunk.bytes.length < unread) break
      backlog.first++
      backlog.bytes -= chunk.bytes.length
      this.#bytes -= this.#getWriteCost(connection, chunk)
      if (--chunk.whole.unread > 0) continue
      this.#bytes -= chunk.whole.bytes.length + CHUNK_OVERHEAD_BYTES
      this.#chunks--
    }
    if (backlog.first < MIN_COMPACT_CHUNKS || 2 * backlog.first < chunks.length) return
    chunks.splice(0, backlog.first)
    backlog.first = 0
  }

  #getWriteCost({ destroySoon }: StreamConnection, { bytes }: Chunk): number {
    const writes = destroySoon ? 1 : WRITES_PER_REPLY_CHUNK
    return writes * PENDING_WRITE_BYTES + (this.#options.isCopied ? bytes.length : 0)
  }

  get #guaranteed(): number {
    const { limit, threads } = this.#options.budget
    return (limit * GUARANTEED_SHARE) / threads
  }

  /** Takes the missing bytes from the budget. Returns false if the budget is full. */
  #take(): boolean {
    const { budget } = this.#options
    const missing = roundToUnits(this.#bytes - this.#taken)
    // A full budget limits neither the guaranteed share nor a single chunk. So a stream continues even if its chunks
    // are larger than the free budget.
    const isExempt = this.#bytes <= this.#guaranteed || this.#chunks === 1
    if (!budget.take(missing, isExempt ? Infinity : budget.limit * MAX_SHARE)) return false
    this.#taken += missing
    return true
  }

  /**
   * Cuts the streams with the largest number of unread bytes, until the memory of all unread bytes reaches the goal.
   */
  #reduce(): void {
    this.releaseRead()
    if (this.#bytes <= this.#taken) return
    const goal = Math.max(this.#taken, this.#guaranteed) * (1 - REDUCTION_SHARE)
    const unread = Array.from(this.#backlogs.keys(), (connection) => [connection.writableLength, connection] as const)
    for (const [, connection] of unread.sort(([one], [other]) => other - one)) {
      if (this.#bytes <= goal || this.#chunks === 1) break
      this.#options.cut(connection)
    }
    if (this.#bytes > this.#taken) this.#take()
  }

  #releaseSpare(): void {
    const spare = this.#bytes === 0 ? this.#taken : this.#taken - roundToUnits(this.#bytes)
    if (spare <= (this.#bytes === 0 ? 0 : MAX_SPARE_BYTES)) return
    this.#options.budget.release(spare)
    this.#taken -= spare
  }
}
