/** Where a stream's bytes go: a socket, or a reply of Node's. */
export interface Sink {
  write(chunk: Buffer | string): unknown
  end(): unknown
  /** What a socket has in place of `end`: it does not wait for the client to end its side, too. */
  destroySoon?(): unknown
  destroy(): unknown
  /** Bytes that the client has not taken yet. */
  readonly writableLength: number
}
