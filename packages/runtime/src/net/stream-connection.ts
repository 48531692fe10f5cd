/**
 * Output of a stream: a socket, or a reply of Node's HTTP server. A stream need not listen to errors of the connection.
 */
export interface StreamConnection {
  /** Returns `false` if the output is full. The event `drain` then reports that it accepts more data. */
  write(chunk: Buffer | string): unknown
  /** Bytes that are written between `cork` and `uncork` are sent together. */
  cork?(): unknown
  uncork?(): unknown
  end(): unknown
  /** A socket's alternative to `end`: it does not wait for the client to end its side. */
  destroySoon?(): unknown
  destroy(): unknown
  on(event: 'close' | 'drain', listener: (this: this) => void): unknown
  off(event: 'drain', listener: (this: this) => void): unknown
  /** Bytes that the client has not received yet. */
  readonly writableLength: number
}
