import { gzipSync } from 'node:zlib'
import type { BufferedReply } from '@influencer-stats/runtime/hot-route'

/** A prepared reply, plain and with gzip. The gzip body is created at its first use. */
export interface EncodedReply {
  readonly plain: BufferedReply & { readonly body: string }
  /** Creates the reply with gzip; undefined if the body is too small to benefit. */
  readonly gzip: (() => BufferedReply) | undefined
}

/** Only longer texts are compressed (characters). */
const MAX_PLAIN_CHARS = 1024
const HEADERS = ['vary', 'Accept-Encoding', 'cache-control', 'private', 'x-content-type-options', 'nosniff']

/** Creates a reply. @param tag the ETag without its quotes, if the reply has one */
export function createReply(status: number, text: string, tag?: string): EncodedReply {
  const plain = {
    status,
    headers: HEADERS,
    ...(tag !== undefined && { etag: `"${tag}"` }),
    type: 'application/json; charset=UTF-8',
    body: text,
    isReused: true,
  }
  let zipped: BufferedReply | undefined
  const zip = () => ({ ...plain, headers: [...HEADERS, 'content-encoding', 'gzip'], body: gzipSync(text) })
  return { plain, gzip: text.length > MAX_PLAIN_CHARS ? () => (zipped ??= zip()) : undefined }
}
