import type { Chunk, ToChunk } from '@influencer-stats/runtime/chunk'
import type { StreamConnection } from '@influencer-stats/runtime/hot-route'
import type { StreamReplay } from './stream-replay.ts'

// Slices written before everything else has its turn: 1 MB.
const MAX_SLICES_PER_TURN = 16

export interface StreamReplaysOptions {
  /** Most bytes that a client may leave unread. */
  readonly streamBuffer: number
  /** A client that takes nothing for so long is given up (ms). */
  readonly sendTimeout: number
  /** Creates chunks of text. */
  readonly toChunk: ToChunk
  /** @returns true if the stream accepts more; otherwise it emits `drain` */
  write(connection: StreamConnection, chunks: readonly Chunk[]): boolean
  /** The stream has been told all, and is no longer here: it must have its place among the others now. */
  onCaughtUp(connection: StreamConnection, replay: StreamReplay): void
  /** The stream cannot go on. */
  onBroken(connection: StreamConnection): void
}

/** The streams that have yet to be told what came before them; each goes on when its client has taken what it was sent. */
export class StreamReplays {
  readonly #options: StreamReplaysOptions
  readonly #replays = new Map<StreamConnection, StreamReplay>()
  /** They can take more. */
  #ready: StreamConnection[] = []
  readonly #onDrain: (this: StreamConnection) => void

  constructor(options: StreamReplaysOptions) {
    this.#options = options
    const enqueue = (connection: StreamConnection) => this.#enqueue(connection)
    this.#onDrain = function onDrain(this: StreamConnection): void {
      enqueue(this)
    }
  }

  /** @param text goes before everything */
  open(connection: StreamConnection, replay: StreamReplay, text: string): void {
    this.#replays.set(connection, replay)
    connection.on('drain', this.#onDrain)
    this.#writeNext(connection, replay, text)
  }

  /** Forgets a stream, if it is here. Returns whether it was. */
  remove(connection: StreamConnection): boolean {
    if (!this.#replays.delete(connection)) return false
    connection.off('drain', this.#onDrain)
    return true
  }

  entries(): IterableIterator<[StreamConnection, StreamReplay]> {
    return this.#replays.entries()
  }

  /** Those whose clients have stopped reading. */
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
