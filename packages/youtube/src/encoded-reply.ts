import { gzipSync } from 'node:zlib'

/** What goes out: head as Node takes it, names and values in turn, and body. */
export interface ReplyMessage {
  readonly head: string[]
  readonly body: string | Buffer
}

/** A ready-made reply, in plain and, once somebody asked for it, in gzip. */
export interface EncodedReply {
  readonly status: number
  readonly text: string
  /** With its quotes, as it stands in the header. */
  readonly etag: string | undefined
  readonly plain: ReplyMessage
  /** Nothing where the reply is too small to gain by it. */
  readonly gzip: (() => ReplyMessage) | undefined
}

const MAX_PLAIN_CHARS = 1024

function encodeMessage(body: string | Buffer, etag: string | undefined, encoding?: string): ReplyMessage {
  const head = ['content-type', 'application/json; charset=UTF-8', 'content-length', String(Buffer.byteLength(body))]
  if (encoding) head.push('content-encoding', encoding)
  if (etag) head.push('etag', etag)
  head.push('vary', 'Accept-Encoding', 'cache-control', 'private', 'x-content-type-options', 'nosniff')
  return { head, body }
}

/** @param tag the ETag without its quotes, for replies that have one */
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

/** The reply to a client that has the body already. */
export function createNotModified({ etag }: EncodedReply): EncodedReply {
  const plain: ReplyMessage = { head: ['etag', etag!, 'vary', 'Accept-Encoding', 'cache-control', 'private'], body: '' }
  return { status: 304, text: '', etag, plain, gzip: undefined }
}
