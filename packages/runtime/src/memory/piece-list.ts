import type { Chunk, ToChunk } from './chunk.ts'
import { PENDING_WRITE_BYTES } from './unread-bytes.ts'

/** Text of one event. All streams share its chunk, which is created at the first use. */
export class Piece {
  readonly text: string
  #chunk: Chunk | undefined

  constructor(text: string) {
    this.text = text
  }

  getChunk(toChunk: ToChunk): Chunk {
    return (this.#chunk ??= toChunk(this.text))
  }
}

/**
 * A list of pieces. Consecutive calls of `with` with the same piece return the same list object, so streams with equal
 * lists share one joined chunk.
 */
export class PieceList {
  readonly #before: PieceList | undefined
  readonly #piece: Piece | undefined
  readonly count: number
  /** Length (characters). */
  readonly length: number
  #next: PieceList | undefined
  #joined: Chunk | undefined

  constructor(before?: PieceList, piece?: Piece) {
    this.#before = before
    this.#piece = piece
    this.count = before ? before.count + 1 : 0
    this.length = before ? before.length + piece!.text.length : 0
  }

  /** Returns this list with one more piece. */
  with(piece: Piece): PieceList {
    if (this.#next && this.#next.#piece === piece) return this.#next
    return (this.#next = new PieceList(this, piece))
  }

  /** Drops the cached longer list. It is garbage-collected unless something else refers to it. */
  releaseNext(): void {
    this.#next = undefined
  }

  /** Returns all pieces as one chunk. */
  toJoinedChunk(toChunk: ToChunk): Chunk {
    return (this.#joined ??=
      this.count === 1 ? this.#piece!.getChunk(toChunk) : toChunk(this.#pieces.map(({ text }) => text).join('')))
  }

  /** Returns one chunk per piece. */
  toChunkList(toChunk: ToChunk): Chunk[] {
    return this.#pieces.map((piece) => piece.getChunk(toChunk))
  }

  get #pieces(): Piece[] {
    const pieces = [this.#piece!]
    for (let list = this.#before; list && list.#before; list = list.#before) pieces.push(list.#piece!)
    return pieces.toReversed()
  }
}

/**
 * Largest memory of joined chunks, as a multiple of the memory of one chunk per piece. Above it, streams get one chunk
 * per piece.
 */
const MAX_JOINED_RATIO = 2

/** A group of streams that get the same pieces. */
export interface PieceRecipient {
  readonly pieces: PieceList
  /** Number of streams. */
  readonly streams: number
}

/**
 * True if, while no client has read anything, one joined chunk per list would take more than `MAX_JOINED_RATIO` times
 * the memory of one chunk per piece.
 * @param length total length of all different pieces (characters)
 */
export function shouldSendPieces(recipients: Iterable<PieceRecipient>, length: number): boolean {
  const lists = new Set<PieceList>()
  let joined = 0
  let separate = length
  for (const { pieces, streams } of recipients) {
    if (!lists.has(pieces)) joined += pieces.length
    lists.add(pieces)
    joined += streams * PENDING_WRITE_BYTES
    separate += streams * pieces.count * PENDING_WRITE_BYTES
  }
  return joined > MAX_JOINED_RATIO * separate
}
