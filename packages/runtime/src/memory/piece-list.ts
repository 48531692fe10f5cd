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

/** A list of pieces. `with` returns one object for the same piece in succession, so equal lists share their chunk. */
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

  /** Releases the lists that begin with this one unless they are in use. */
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

/** Streams that get the same pieces. */
export interface PieceRecipient {
  readonly pieces: PieceList
  /** Number of streams. */
  readonly streams: number
}

/**
 * True if one chunk per piece takes much less memory than one chunk per list of pieces, while no client reads.
 * @param length length of all different pieces (characters)
 */
export function isListedSmaller(recipients: Iterable<PieceRecipient>, length: number): boolean {
  const lists = new Set<PieceList>()
  let joined = 0
  let listed = length
  for (const { pieces, streams } of recipients) {
    if (!lists.has(pieces)) joined += pieces.length
    lists.add(pieces)
    joined += streams * PENDING_WRITE_BYTES
    listed += streams * pieces.count * PENDING_WRITE_BYTES
  }
  return joined > MAX_JOINED_RATIO * listed
}
