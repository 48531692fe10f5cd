/** Head of an HTTP reply. Header names are in lower case. */
export interface ReplyHead {
  readonly status: number
  readonly headers: ReadonlyMap<string, string>
}

export interface ReplyEvents {
  onHead(head: ReplyHead): void
  /** Called with a whole chunk of the chunked coding, or with bytes of any other body. */
  onPiece(piece: Buffer): void
  onEnd(): void
}

const HEAD_END = '\r\n\r\n'
const STATUS_LINE = /^HTTP\/1\.1 (\d{3}) /

function parseHead(text: string): ReplyHead {
  const [statusLine, ...lines] = text.split('\r\n')
  const status = STATUS_LINE.exec(statusLine!)?.[1]
  if (status === undefined) throw new Error(`not a status line: ${statusLine}`)
  const headers = new Map<string, string>()
  for (const line of lines) {
    const colon = line.indexOf(':')
    if (colon < 1) throw new Error(`not a header: ${line}`)
    headers.set(line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim())
  }
  return { status: Number(status), headers }
}

/** Parses the replies of one connection in order. The parser is strict: any unexpected input is an error. */
export class ReplyParser {
  readonly #hasBody: (head: ReplyHead) => boolean
  readonly #events: ReplyEvents
  #rest: Buffer = Buffer.alloc(0)
  #state: 'head' | 'length' | 'chunks' | 'until-close' = 'head'
  #length = 0

  /** @param hasBody returns false for a reply without a body, such as the reply to a HEAD */
  constructor(hasBody: (head: ReplyHead) => boolean, events: ReplyEvents) {
    this.#hasBody = hasBody
    this.#events = events
  }

  /** @throws Error for bytes that are not an HTTP reply */
  push(bytes: Buffer): void {
    this.#rest = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes])
    while (this.#rest.length > 0 && this.#parseNext());
  }

  /** @returns true if the parser can continue with the remaining bytes */
  #parseNext(): boolean {
    if (this.#state === 'head') return this.#parseHead()
    if (this.#state === 'chunks') return this.#parseChunk()
    if (this.#state === 'until-close') {
      this.#events.onPiece(this.#readBytes(this.#rest.length))
      return false
    }
    if (this.#rest.length < this.#length) return false
    this.#events.onPiece(this.#readBytes(this.#length))
    this.#end()
    return true
  }

  #parseHead(): boolean {
    const end = this.#rest.indexOf(HEAD_END)
    if (end < 0) return false
    const head = parseHead(this.#readBytes(end + HEAD_END.length).toString('latin1', 0, end))
    if (head.status < 200) return true
    this.#events.onHead(head)
    const length = head.headers.get('content-length')
    if (!this.#hasBody(head) || length === '0') this.#end()
    else if (head.headers.get('transfer-encoding') === 'chunked') this.#state = 'chunks'
    else if (length !== undefined) {
      this.#state = 'length'
      this.#length = Number(length)
    } else this.#state = 'until-close'
    return true
  }

  #parseChunk(): boolean {
    const lineEnd = this.#rest.indexOf('\r\n')
    if (lineEnd < 0) return false
    const digits = this.#rest.toString('latin1', 0, lineEnd)
    if (!/^[0-9a-fA-F]+$/.test(digits)) throw new Error(`not the size of a chunk: ${digits.slice(0, 40)}`)
    const size = Number.parseInt(digits, 16)
    const end = lineEnd + 2 + size
    if (this.#rest.length < end + 2) return false
    const chunk = this.#readBytes(end + 2)
    if (chunk.toString('latin1', end) !== '\r\n') throw new Error('a chunk is longer than its size')
    if (size > 0) this.#events.onPiece(chunk.subarray(lineEnd + 2, end))
    else this.#end()
    return true
  }

  #readBytes(length: number): Buffer {
    const taken = this.#rest.subarray(0, length)
    this.#rest = this.#rest.subarray(length)
    return taken
  }

  #end(): void {
    this.#state = 'head'
    this.#events.onEnd()
  }
}
