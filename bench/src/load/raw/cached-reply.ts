/** Longer replies are not cached: the copy would cost more than the scan. */
const MAX_CACHED_BYTES = 16_384
/** Number of successive mismatches after which comparing stops. */
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
 * A whole, correct reply. A reply that matches it needs no scan: 0.1 us instead of 1. It matches if all bytes are
 * equal, except for the value of one header that is not framing, such as an id of each reply.
 */
export class CachedReply {
  readonly #bytes: Buffer
  /** Begin and end of that value; both are the reply's end if there is none. */
  readonly #from: number
  readonly #to: number

  /** @param before the cached reply that did not match: the first difference locates the variable value */
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

/** Reply cache of a request. */
export interface ReplyCache {
  /** The last whole reply that was scanned and correct. */
  cached: CachedReply | undefined
  /** Successive mismatches; at the limit no reply is cached any more. */
  misses: number
}

/** Caches a correct reply to a request, unless too many did not match. @param bytes are copied */
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

/** Begin and end of the value of the header at an offset, if its value may differ. */
function findHeaderValue(bytes: Buffer, offset: number): readonly [from: number, to: number] | undefined {
  if (offset >= bytes.indexOf(HEAD_END)) return undefined
  const start = bytes.lastIndexOf(LF, offset) + 1
  const to = bytes.indexOf(CR, offset)
  const [head, name] = HEADER.exec(bytes.toString('latin1', start, to)) ?? []
  if (head === undefined || FRAMING_HEADERS.test(name!) || offset < start + head.length) return undefined
  return [start + head.length, to]
}
