import { gzipSync } from 'node:zlib'

/** Headers and body of a reply. `head` has alternating names and values, a form that Node's `writeHead` accepts. */
export interface ReplyMessage {
  readonly head: string[]
  readonly body: string | Buffer
}

/** A prepared reply, plain and with gzip. The gzip body is created at its first use. */
export interface EncodedReply {
  readonly status: number
  readonly text: string
  /** Value of the header `ETag`, with its quotes; undefined if the reply has none. */
  readonly etag: string | undefined
  readonly plain: ReplyMessage
  /** Creates the message with gzip; undefined if the reply is too small to benefit. */
  readonly gzip: (() => ReplyMessage) | undefined
}

/** Only longer texts are compressed (characters). */
const MAX_PLAIN_CHARS = 1024

function encodeMessage(body: string | Buffer, etag: string | undefined, encoding?: string): ReplyMessage {
  const head = ['content-type', 'application/json; charset=UTF-8', 'content-length', String(Buffer.byteLength(body))]
  if (encoding) head.push('content-encoding', encoding)
  if (etag) head.push('etag', etag)
  head.push('vary', 'Accept-Encoding', 'cache-control', 'private', 'x-content-type-options', 'nosniff')
  return { head, body }
}

/** Creates a reply. @param tag the ETag without its quotes, if the reply has one */
export function createReply(status: number, text: string, tag?: string): EncodedReply {
  const etag = tag && `"${tag}"`
  const plain = encodeMessage(text, etag)
  let zipped: ReplyMessage | undefined
  return {
    status,
    text,
    etag,
    plain,
    gzip: text.length > MAX_PLAIN_CHARS ? () => (zipped ??= encodeMessage(gzipSync(text), etag, 'gzip')) : undefined,
  }
}

/** Creates the reply to a client that already has the body. */
export function createNotModified({ etag }: EncodedReply): EncodedReply {
  const plain: ReplyMessage = { head: ['etag', etag!, 'vary', 'Accept-Encoding', 'cache-control', 'private'], body: '' }
  return { status: 304, text: '', etag, plain, gzip: undefined }
}
