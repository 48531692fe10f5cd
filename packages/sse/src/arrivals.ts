import type { Chunk, ToChunk } from '@influencer-stats/runtime/chunk'
import type { StreamConnection } from '@influencer-stats/runtime/hot-route'
import type { Arrival } from './arrival.ts'

// Slices written before everything else has its turn: 1 MB.
const PER_TURN = 16

export interface ArrivalsOptions {
  /** Most bytes that a client may leave unread. */
  readonly streamBuffer: number
  /** A client that takes nothing for so long is given up (ms). */
  readonly sendTimeout: number
  /** Creates chunks of text. */
  readonly toChunk: ToChunk
  /** @returns true if the stream accepts more; otherwise it emits `drain` */
  write(connection: StreamConnection, chunks: readonly Chunk[]): boolean
  /** The stream has been told all, and is no longer here: it must have its place among the others now. */
  arrived(connection: StreamConnection, arrival: Arrival): void
  /** The stream cannot go on. */
  broke(connection: StreamConnection): void
}

/** The streams that have yet to be told what came before them; each goes on when its client has taken what it was sent. */
export class Arrivals {
  readonly #options: ArrivalsOptions
  readonly #arrivals = new Map<StreamConnection, Arrival>()
  /** They can take more. */
  #ready: StreamConnection[] = []
  readonly #onDrain: (this: StreamConnection) => void

  constructor(options: ArrivalsOptions) {
    this.#options = options
    const enqueue = (connection: StreamConnection) => this.#enqueue(connection)
    this.#onDrain = function onDrain(this: StreamConnection): void {
      enqueue(this)
    }
  }

  /** @param text goes before everything */
  open(connection: StreamConnection, arrival: Arrival, text: string): void {
    this.#arrivals.set(connection, arrival)
    connection.on('drain', this.#onDrain)
    this.#goOn(connection, arrival, text)
  }

  /** Forgets a stream, if it is here. Returns whether it was. */
  leave(connection: StreamConnection): boolean {
    if (!this.#arrivals.delete(connection)) return false
    connection.off('drain', this.#onDrain)
    return true
  }

  entries(): IterableIterator<[StreamConnection, Arrival]> {
    return this.#arrivals.entries()
  }

  /** Those whose clients have stopped reading. */
  stalled(): StreamConnection[] {
    const since = performance.now() - this.#options.sendTimeout
    return Array.from(this.#arrivals)
      .filter(([, { movedAt }]) => movedAt < since)
      .map(([connection]) => connection)
  }

  #enqueue(connection: StreamConnection): void {
    if (this.#ready.push(connection) === 1) setImmediate(() => this.#takeTurn())
  }

  #takeTurn(): void {
    const turn = this.#ready
    this.#ready = turn.splice(PER_TURN)
    for (const connection of turn) {
      const arrival = this.#arrivals.get(connection)
      if (!arrival) continue
      arrival.movedAt = performance.now()
      this.#goOn(connection, arrival)
    }
    if (this.#ready.length > 0) setImmediate(() => this.#takeTurn())
  }

  #goOn(connection: StreamConnection, arrival: Arrival, text?: string): void {
    const { chunks, isLast, isBroken } = arrival.next(this.#options.toChunk, text)
    const isFull = !this.#options.write(connection, chunks)
    // The write may have cut the stream, if the memory for unread bytes is used up.
    if (!this.#arrivals.has(connection)) return
    if (isBroken) this.#options.broke(connection)
    else if (isLast && !(isFull && connection.writableLength > this.#options.streamBuffer)) {
      this.leave(connection)
      this.#options.arrived(connection, arrival)
    } else if (!isFull) this.#enqueue(connection)
  }
}
