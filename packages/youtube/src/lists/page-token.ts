/** Position of a page. */
export interface PageToken {
  /** Position of the page's first item; of a page before another one, of the first item after it. */
  readonly offset: number
  /** True for `prevPageToken`. */
  readonly isBackward: boolean
}

/** A varint of protocol buffers: 7 bits per byte, the lowest first. */
function encodeVarint(value: number): number[] {
  return value < 128 ? [value] : [(value & 127) | 128, ...encodeVarint(Math.floor(value / 128))]
}

/** Formats a token as Google does: `EAAaBlBUOkNESQ` is the page from position 50. */
function encode({ offset, isBackward }: PageToken): string {
  const position = Buffer.from([8, ...encodeVarint(offset)]).toString('base64url')
  const text = `PT:${position}`
  return Buffer.from([16, Number(isBackward), 26, text.length, ...Buffer.from(text)]).toString('base64url')
}

const MAX_OFFSET = 1_000_000
/** Length of the bytes before the position, and of the whole token. */
const HEAD_BYTES = 7
const MAX_TOKEN_BYTES = 20

/** Returns undefined for a text that is no token. */
export function parsePageToken(text: string): PageToken | undefined {
  const bytes = Buffer.from(text, 'base64url')
  if (bytes.length <= HEAD_BYTES || bytes.length > MAX_TOKEN_BYTES) return undefined
  const position = Buffer.from(bytes.toString('latin1', HEAD_BYTES), 'base64url').subarray(1)
  const offset = position.reduceRight((sum, byte) => sum * 128 + (byte & 127), 0)
  const token = { offset, isBackward: bytes[1] === 1 }
  // Formatting again excludes every text that only resembles a token.
  return offset <= MAX_OFFSET && encode(token) === text ? token : undefined
}

/** Part of a list that a page contains. */
export interface PageRange {
  readonly start: number
  readonly count: number
}

export function getPageRange(token: PageToken | undefined, count: number): PageRange {
  if (!token?.isBackward) return { start: token?.offset ?? 0, count }
  const start = Math.max(0, token.offset - count)
  return { start, count: token.offset - start }
}

/** Returns the tokens of the pages before and after a page. */
export function buildPageTokens({ start, count }: PageRange, total: number) {
  const end = start + count
  return {
    ...(end < total && count > 0 && { nextPageToken: encode({ offset: end, isBackward: false }) }),
    ...(start > 0 && { prevPageToken: encode({ offset: start, isBackward: true }) }),
  }
}
