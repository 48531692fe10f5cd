import { placeText } from '../core/watch-events.ts'

/** Bytes that are written to streams. All streams that get the same share them. */
export class Chunk {
  readonly bytes: Buffer
  /** Number of streams that have not read all of it. */
  streams = 0

  constructor(bytes: Buffer) {
    this.bytes = bytes
  }

  /** In memory of its own: a chunk from Node's pool keeps 8 KiB allocated for as long as one stream has not read it. */
  static of(text: string): Chunk {
    const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(text))
    bytes.write(text)
    return new Chunk(bytes)
  }
}

/** Makes a chunk of a text. */
export type ToChunk = (text: string) => Chunk

/** The text of one event. Its chunk is created at most once, for all streams. */
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

/** A change as an event: with the id where it is the last one that a stream gets of its place, without it before that. */
export class ChangePieces {
  readonly #change: string
  readonly #seq: number
  #inner: Piece | undefined
  #last: Piece | undefined

  constructor(change: string, seq: number) {
    this.#change = change
    this.#seq = seq
  }

  /** In characters, about. */
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

/** A list of pieces. Lists of the same pieces, added in one order, are one object, and so is their chunk. */
export class PieceList {
  readonly #before: PieceList | undefined
  readonly #piece: Piece | undefined
  readonly count: number
  /** In characters. */
  readonly length: number
  #next: PieceList | undefined
  #joined: Chunk | undefined

  constructor(before?: PieceList, piece?: Piece) {
    this.#before = before
    this.#piece = piece
    this.count = before ? before.count + 1 : 0
    this.length = before ? before.length + piece!.text.length : 0
  }

  /** The same list with one piece more. */
  with(piece: Piece): PieceList {
    if (this.#next && this.#next.#piece === piece) return this.#next
    return (this.#next = new PieceList(this, piece))
  }

  /** All of it as one chunk. */
  joined(toChunk: ToChunk): Chunk {
    return (this.#joined ??=
      this.count === 1 ? this.#piece!.chunk(toChunk) : toChunk(this.#pieces.map(({ text }) => text).join('')))
  }

  /** A chunk for each piece. */
  listed(toChunk: ToChunk): Chunk[] {
    return this.#pieces.map((piece) => piece.chunk(toChunk))
  }

  get #pieces(): Piece[] {
    const pieces = [this.#piece!]
    for (let list = this.#before; list && list.#before; list = list.#before) pieces.push(list.#piece!)
    return pieces.toReversed()
  }
}
