/** The head of a request as it came: target as sent, header names in lower case, each at most once. */
export interface RawHead {
  readonly target: string
  readonly headers: Readonly<Record<string, string>>
}

// A whole GET request and nothing after it: CRLF, origin-form, HTTP/1.1. Anything laxer is for Node's own parser, so that
// the two can never disagree about what a request says. Nothing in it can match in two ways: it runs in linear time.
const HEAD =
  /^GET (\/[A-Za-z0-9\-._~:/?@!$&'()*+,;=%]*) HTTP\/1\.1\r\n((?:[A-Za-z0-9!#$%&'*+\-.^_`|~]+:[\t -~]*\r\n)+)\r\n$/

// Each of these may mean that there is more to the request than its head.
const REFUSED = new Set(['content-length', 'transfer-encoding', 'expect', 'upgrade'])
const LARGEST = 8_192

/** Reads a chunk that is one whole, plain GET request; nothing if it is anything else. */
export function readHead(chunk: Buffer): RawHead | undefined {
  if (chunk.length > LARGEST) return undefined
  const match = HEAD.exec(chunk.toString('latin1'))
  if (!match) return undefined
  const headers: Record<string, string> = Object.create(null)
  for (const line of match[2]!.slice(0, -2).split('\r\n')) {
    const colon = line.indexOf(':')
    const name = line.slice(0, colon).toLowerCase()
    if (name in headers || REFUSED.has(name)) return undefined
    headers[name] = line.slice(colon + 1).trim()
  }
  return headers.host ? { target: match[1]!, headers } : undefined
}
