import type { Chunk, ToChunk } from '@influencer-stats/runtime/chunk'
import type { StreamConnection } from '@influencer-stats/runtime/hot-route'
import type { StreamReplay } from './stream-replay.ts'

// Maximum slices written per turn of the event loop: together 1 MB. The limit is one of bytes; `yieldTurn` limits time.
const MAX_SLICES_PER_TURN = 16

export interface StreamReplaysOptions {
  /** Maximum unread bytes of a client. A replay is complete only when its client has fewer. */
  readonly streamBuffer: number
  /** Time after which a stream that accepts no further data is cut (ms). */
  readonly sendTimeout: number
  /** Creates chunks of text. */
  readonly toChunk: ToChunk
  /** Writes chunks. Returns false if the stream accepts no more data until it emits `drain`. */
  write(connection: StreamConnection, chunks: readonly Chunk[]): boolean
  /**
   * Called when a replay is complete and is no longer in this set. The callee must add the stream to its group in the
   * same turn, so that the stream misses no value.
   */
  onCaughtUp(connection: StreamConnection, replay: StreamReplay): void
  /** Called when a replay cannot continue (`ReplaySlice.isBroken`). */
  onBroken(connection: StreamConnection): void
}

/** Streams whose replay is not complete. Each replay continues when its client has received the previous slice. */
export class StreamReplays {
  readonly #options: StreamReplaysOptions
  readonly #replays = new Map<StreamConnection, StreamReplay>()
  /** Streams that accept more data, in the order in which they continue. */
  #ready: StreamConnection[] = []
  readonly #onDrain: (this: StreamConnection) => void

  constructor(options: StreamReplaysOptions) {
    this.#options = options
    const enqueue = (connection: StreamConnection) => this.#enqueue(connection)
    this.#onDrain = function onDrain(this: StreamConnection): void {
      enqueue(this)
    }
  }

  /**
   * Starts a replay.
   * @param head head of the HTTP reply
   * @param opening text that precedes the replay
   */
  open(connection: StreamConnection, replay: StreamReplay, head: string, opening: string): void {
    this.#replays.set(connection, replay)
    connection.on('drain', this.#onDrain)
    this.#writeNext(connection, replay, head, opening)
  }

  /** Removes a stream. Returns false if it has no replay. */
  remove(connection: StreamConnection): boolean {
    if (!this.#replays.delete(connection)) return false
    connection.off('drain', this.#onDrain)
    return true
  }

  /** True if a stream must not end now (see `StreamReplay.isWithinValue`). */
  isWithinValue(connection: StreamConnection): boolean {
    return this.#replays.get(connection)?.isWithinValue === true
  }

  entries(): IterableIterator<[StreamConnection, StreamReplay]> {
    return this.#replays.entries()
  }

  /** Returns the streams that have accepted no further data for `sendTimeout`, because their clients read too slowly. */
  findStalled(): StreamConnection[] {
    const since = performance.now() - this.#options.sendTimeout
    return Array.from(this.#replays)
      .filter(([, { progressAt }]) => progressAt < since)
      .map(([connection]) => connection)
  }

  #enqueue(connection: StreamConnection): void {
    if (this.#ready.push(connection) === 1) setImmediate(() => this.#runTurn())
  }

  #runTurn(): void {
    const turn = this.#ready
    this.#ready = turn.splice(MAX_SLICES_PER_TURN)
    for (const connection of turn) {
      const replay = this.#replays.get(connection)
      if (!replay) continue
      replay.progressAt = performance.now()
      this.#writeNext(connection, replay)
    }
    if (this.#ready.length > 0) setImmediate(() => this.#runTurn())
  }

  #writeNext(connection: StreamConnection, replay: StreamReplay, head?: string, opening?: string): void {
    const { chunks, isLast, isBroken } = replay.readSlice(this.#options.toChunk, head, opening)
    const isFull = !this.#options.write(connection, chunks)
    // If the memory for unread bytes is used up, the write may have cut this stream.
    if (!this.#replays.has(connection)) return
    if (isBroken) this.#options.onBroken(connection)
    else if (isLast && !(isFull && connection.writableLength > this.#options.streamBuffer)) {
      this.remove(connection)
      this.#options.onCaughtUp(connection, replay)
    } else if (!isFull) this.#enqueue(connection)
  }
}
