import type { Chunk, ToChunk } from '@influencer-stats/runtime/chunk'
import type { StreamConnection } from '@influencer-stats/runtime/hot-route'
import type { StreamReplay } from './stream-replay.ts'

// Slices written per turn of the event loop: 1 MB.
const MAX_SLICES_PER_TURN = 16

export interface StreamReplaysOptions {
  /** Maximum unread bytes of a client. */
  readonly streamBuffer: number
  /** Time after which a client that reads nothing is disconnected (ms). */
  readonly sendTimeout: number
  /** Creates chunks of text. */
  readonly toChunk: ToChunk
  /** @returns true if the stream accepts more; otherwise it emits `drain` */
  write(connection: StreamConnection, chunks: readonly Chunk[]): boolean
  /**
   * Called after a complete replay is removed from here. The callee must add the stream to its group in the same turn.
   */
  onCaughtUp(connection: StreamConnection, replay: StreamReplay): void
  /** Called when a stream cannot continue. */
  onBroken(connection: StreamConnection): void
}

/** Streams whose replay is not complete. Each continues when its client has taken the previous slice. */
export class StreamReplays {
  readonly #options: StreamReplaysOptions
  readonly #replays = new Map<StreamConnection, StreamReplay>()
  /** Streams that accept more data. */
  #ready: StreamConnection[] = []
  readonly #onDrain: (this: StreamConnection) => void

  constructor(options: StreamReplaysOptions) {
    this.#options = options
    const enqueue = (connection: StreamConnection) => this.#enqueue(connection)
    this.#onDrain = function onDrain(this: StreamConnection): void {
      enqueue(this)
    }
  }

  /** @param text text that is sent first */
  open(connection: StreamConnection, replay: StreamReplay, text: string): void {
    this.#replays.set(connection, replay)
    connection.on('drain', this.#onDrain)
    this.#writeNext(connection, replay, text)
  }

  /** Removes a stream. Returns true if it was here. */
  remove(connection: StreamConnection): boolean {
    if (!this.#replays.delete(connection)) return false
    connection.off('drain', this.#onDrain)
    return true
  }

  entries(): IterableIterator<[StreamConnection, StreamReplay]> {
    return this.#replays.entries()
  }

  /** Returns the streams whose clients have stopped reading. */
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

  #writeNext(connection: StreamConnection, replay: StreamReplay, text?: string): void {
    const { chunks, isLast, isBroken } = replay.readSlice(this.#options.toChunk, text)
    const isFull = !this.#options.write(connection, chunks)
    // The write may have cut the stream, if the memory for unread bytes is used up.
    if (!this.#replays.has(connection)) return
    if (isBroken) this.#options.onBroken(connection)
    else if (isLast && !(isFull && connection.writableLength > this.#options.streamBuffer)) {
      this.remove(connection)
      this.#options.onCaughtUp(connection, replay)
    } else if (!isFull) this.#enqueue(connection)
  }
}
