/** Maximum length of a cached reply (bytes). A copy of a longer reply costs more than its scan. */
const MAX_CACHED_BYTES = 16_384
/** Number of successive mismatches after which the replies to a request are not cached any more. */
const MAX_MISSES = 64

const HEAD_END = '\r\n\r\n'
const CR = 13
const LF = 10
const SPACE = 32
const DELETE = 127
const HEADER = /^([\w-]+):[ \t]*/
/** Headers that determine the end of a reply or of its connection. */
const FRAMING_HEADERS = /^(?:content-length|transfer-encoding|connection)$/i

/**
 * A complete and correct reply. A later reply that matches it needs no scan: the match takes 0.1 us, a scan 1 us. A reply
 * matches if all bytes are equal, except for the value of one header, such as the id of the request. This header must
 * not be a framing header.
 */
export class CachedReply {
  readonly #bytes: Buffer
  /** Begin and end of the value that may differ; both are the end of the reply if no value may differ. */
  readonly #from: number
  readonly #to: number

  /** @param before cached reply that did not match. The first difference shows which value may differ */
  constructor(bytes: Buffer, before?: CachedReply) {
    this.#bytes = bytes
    const [from, to] = (before && findHeaderValue(bytes, findDifference(bytes, before.#bytes))) ?? [
      bytes.length,
      bytes.length,
    ]
    this.#from = from
    this.#to = to
  }

  get length(): number {
    return this.#bytes.length
  }

  /** True if the bytes at the offset match this reply. */
  isLike(bytes: Buffer, at: number): boolean {
    const [from, to] = [this.#from, this.#to]
    if (this.#bytes.compare(bytes, at, at + from, 0, from) !== 0) return false
    if (from === this.length) return true
    if (this.#bytes.compare(bytes, at + to, at + this.length, to) !== 0) return false
    for (let i = at + from; i < at + to; i++) if (bytes[i]! < SPACE || bytes[i] === DELETE) return false
    return true
  }
}

/** Cached reply to a request. */
export interface ReplyCache {
  /** The last reply that was scanned and correct. */
  cached: CachedReply | undefined
  /** Number of successive mismatches. */
  misses: number
}

/** Caches a correct reply to a request, unless too many replies did not match. Copies the bytes. */
export function cacheReply(request: ReplyCache, bytes: Buffer): void {
  if (bytes.length > MAX_CACHED_BYTES || request.misses >= MAX_MISSES) return
  request.misses++
  request.cached = new CachedReply(Buffer.from(bytes), request.cached)
}

function findDifference(a: Buffer, b: Buffer): number {
  let at = 0
  while (at < a.length && a[at] === b[at]) at++
  return at
}

/** Returns begin and end of the value of the header at an offset; undefined if the value may not differ. */
function findHeaderValue(bytes: Buffer, offset: number): readonly [from: number, to: number] | undefined {
  if (offset >= bytes.indexOf(HEAD_END)) return undefined
  const start = bytes.lastIndexOf(LF, offset) + 1
  const to = bytes.indexOf(CR, offset)
  const [head, name] = HEADER.exec(bytes.toString('latin1', start, to)) ?? []
  if (head === undefined || FRAMING_HEADERS.test(name!) || offset < start + head.length) return undefined
  return [start + head.length, to]
}
