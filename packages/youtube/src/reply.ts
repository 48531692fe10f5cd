import { gzipSync } from 'node:zlib'

/** What goes out: head as Node takes it, names and values in turn, and body. */
export interface Outgoing {
  readonly head: string[]
  readonly body: string | Buffer
}

/** A ready-made reply, in plain and, once somebody asked for it, in gzip. */
export interface Reply {
  readonly status: number
  readonly text: string
  /** With its quotes, as it stands in the header. */
  readonly etag: string | undefined
  readonly plain: Outgoing
  /** Nothing where the reply is too small to gain by it. */
  readonly gzip: (() => Outgoing) | undefined
}

const GZIP_ABOVE = 1024

function outgoing(body: string | Buffer, etag: string | undefined, encoding?: string): Outgoing {
  const head = ['content-type', 'application/json; charset=UTF-8', 'content-length', String(Buffer.byteLength(body))]
  if (encoding) head.push('content-encoding', encoding)
  if (etag) head.push('etag', etag)
  head.push('vary', 'Accept-Encoding', 'cache-control', 'private', 'x-content-type-options', 'nosniff')
  return { head, body }
}

/** @param tag the ETag without its quotes, for replies that have one */
export function createReply(status: number, text: string, tag?: string): Reply {
  const etag = tag && `"${tag}"`
  const plain = outgoing(text, etag)
  let zipped: Outgoing | undefined
  return {
    status,
    text,
    etag,
    plain,
    gzip: text.length > GZIP_ABOVE ? () => (zipped ??= outgoing(gzipSync(text), etag, 'gzip')) : undefined,
  }
}

/** The reply to a client that has the body already. */
export function notModified({ etag }: Reply): Reply {
  const plain: Outgoing = { head: ['etag', etag!, 'vary', 'Accept-Encoding', 'cache-control', 'private'], body: '' }
  return { status: 304, text: '', etag, plain, gzip: undefined }
}
