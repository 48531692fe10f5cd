/** How a reply without a length marks its parts and its end. */
export interface Framing {
  /** Frames a text that is sent as a whole. The results can be concatenated. */
  frame(text: string): string
  /** Text after the last part. A reply that ends without it is incomplete. */
  readonly end: string
}

/** Chunks (RFC 9112, 7.1). Some clients pass on a reply without chunks only in large blocks. */
export const CHUNKS: Framing = {
  // An empty chunk would end the reply.
  frame: (text) => (text === '' ? '' : `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`),
  end: '0\r\n\r\n',
}

/** For clients of HTTP/1.0, which know no chunks: the reply ends with the connection. */
export const NO_CHUNKS: Framing = { frame: (text) => text, end: '' }
