import { placeText } from '../core/watch-events.ts'

/** Bytes that are written to streams. All streams with the same events share them. */
export class Chunk {
  readonly bytes: Buffer
  /** Number of streams that have not read all of it. */
  streams = 0

  constructor(bytes: Buffer) {
    this.bytes = bytes
  }

  /** Allocates separate memory: a chunk from Node's pool would hold 8 KiB until every stream has read it. */
  static of(text: string): Chunk {
    const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(text))
    bytes.write(text)
    return new Chunk(bytes)
  }
}

/** Creates a chunk from a text. */
export type ToChunk = (text: string) => Chunk

/** Text of one event. All streams share its chunk, which is created at the first use. */
export class Piece {
  readonly text: string
  #chunk: Chunk | undefined

  constructor(text: string) {
    this.text = text
  }

  chunk(toChunk: ToChunk): Chunk {
    return (this.#chunk ??= toChunk(this.text))
  }
}

/** A change as an event. `last` has the id, for the last change that a stream gets of a sequence; `inner` has none. */
export class ChangePieces {
  readonly #change: string
  readonly #seq: number
  #inner: Piece | undefined
  #last: Piece | undefined

  constructor(change: string, seq: number) {
    this.#change = change
    this.#seq = seq
  }

  /** Approximate length (characters). */
  get length(): number {
    return this.#change.length
  }

  get inner(): Piece {
    return (this.#inner ??= new Piece(`${this.#change}\n`))
  }

  get last(): Piece {
    return (this.#last ??= new Piece(this.#change + placeText(this.#seq)))
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

  /** Returns all pieces as one chunk. */
  joined(toChunk: ToChunk): Chunk {
    return (this.#joined ??=
      this.count === 1 ? this.#piece!.chunk(toChunk) : toChunk(this.#pieces.map(({ text }) => text).join('')))
  }

  /** Returns one chunk per piece. */
  listed(toChunk: ToChunk): Chunk[] {
    return this.#pieces.map((piece) => piece.chunk(toChunk))
  }

  get #pieces(): Piece[] {
    const pieces = [this.#piece!]
    for (let list = this.#before; list && list.#before; list = list.#before) pieces.push(list.#piece!)
    return pieces.toReversed()
  }
}
