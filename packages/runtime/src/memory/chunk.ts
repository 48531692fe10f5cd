/** Bytes that are written to streams. All streams with the same events share them. */
export class Chunk {
  readonly bytes: Buffer
  /** Chunk whose memory holds the bytes: the chunk itself, or the larger chunk that it is a slice of. */
  readonly whole: Chunk
  /** Of a whole chunk: number of writes of it or its slices that clients have not read yet. Unused in a slice. */
  unread = 0

  constructor(bytes: Buffer, whole?: Chunk) {
    this.bytes = bytes
    this.whole = whole ?? this
  }

  slice(start: number, end: number): Chunk {
    return new Chunk(this.bytes.subarray(start, end), this.whole)
  }

  /** Creates a chunk in separate memory. In Node's pool, it would retain 8 KiB until every client has read it. */
  static fromText(text: string): Chunk {
    const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(text))
    bytes.write(text)
    return new Chunk(bytes)
  }
}

/** Creates a chunk from a text. */
export type ToChunk = (text: string) => Chunk
