/** Result of a scan: the reply is incomplete, complete, or not valid HTTP/1.1. */
export type ScanResult = 'more' | 'done' | 'broken'

type ReplyState = 'head' | 'sized' | 'to-the-end' | 'chunk-size' | 'chunk' | 'chunk-end' | 'trailer' | 'done'

const EMPTY_BUFFER = Buffer.alloc(0)
const HEAD_END = Buffer.from('\r\n\r\n')
const LINE_END = Buffer.from('\r\n')
const MAX_HEAD_BYTES = 16_384

const STATUS_LINE = /^HTTP\/1\.([01]) (\d{3})(?: [^\r\n]*)?\r\n/
const CONTENT_LENGTH = /\r\ncontent-length:[ \t]*(\d+)[ \t]*\r\n/i
const CHUNKED = /\r\ntransfer-encoding:[ \t]*(?:[^\r\n]*,[ \t]*)?chunked[ \t]*\r\n/i
const CLOSE_HEADER = /\r\nconnection:[ \t]*close[ \t]*\r\n/i
const KEEP_ALIVE_HEADER = /\r\nconnection:[ \t]*keep-alive[ \t]*\r\n/i
const CHUNK_SIZE = /^([0-9a-f]{1,8})[ \t]*(?:;.*)?$/i

/**
 * Parses the replies of a connection one after the other. A reply may arrive in any number of pieces. Only the status,
 * the body and the end of the reply are parsed, which takes about 1 us for a small reply in one piece.
 */
export class ReplyScanner {
  status = 0
  /** True if the server ends the connection after this reply. */
  closes = false
  /** The head, once it is complete. */
  head = ''
  /** The body of a complete reply; empty unless bodies are buffered. It may be a view of the last fed bytes. */
  body: Buffer = EMPTY_BUFFER
  /** Number of bytes of the body that have arrived, buffered or not. */
  bodyBytes = 0
  /** Number of the last bytes given to `feed` that follow the end of the reply. */
  left = 0
  readonly #bodies: boolean | ((part: Buffer) => void)
  #state: ReplyState = 'done'
  #bodiless = false
  /** Remaining bytes of the body or of the chunk. */
  #missing = 0
  /** An incomplete head or line. */
  #partialInput = EMPTY_BUFFER
  readonly #parts: Buffer[] = []

  /** @param bodies true to buffer bodies, or a function that receives their parts */
  constructor(bodies: boolean | ((part: Buffer) => void)) {
    this.#bodies = bodies
  }

  /** Prepares for the next reply. @param bodiless true if it is the reply to a HEAD request */
  begin(bodiless: boolean): void {
    this.#state = 'head'
    this.#bodiless = bodiless
    this.#partialInput = EMPTY_BUFFER
    this.#parts.length = 0
    this.head = ''
    this.body = EMPTY_BUFFER
    this.bodyBytes = 0
  }

  /**
   * Parses bytes up to the end of the reply. The remaining `left` bytes belong to the next reply. The caller may
   * overwrite the bytes afterwards, but that also changes `body`.
   */
  feed(bytes: Buffer): ScanResult {
    let rest = bytes
    this.left = 0
    if (this.#partialInput.length > 0) {
      rest = Buffer.concat([this.#partialInput, bytes])
      this.#partialInput = EMPTY_BUFFER
    }
    while (!this.#isDone) {
      const used = this.#readNext(rest)
      if (used < 0) return 'broken'
      if (used === 0 && !this.#isDone) {
        this.#partialInput = Buffer.from(rest)
        return rest.length > MAX_HEAD_BYTES ? 'broken' : 'more'
      }
      rest = rest.subarray(used)
      if (rest.length === 0 && !this.#isDone) return 'more'
    }
    this.left = rest.length
    return 'done'
  }

  /** Handles the end of the connection. @returns true if the reply is complete then */
  end(): boolean {
    if (this.#state !== 'to-the-end') return false
    this.#finish()
    return true
  }

  get #isDone(): boolean {
    return this.#state === 'done'
  }

  /** Parses the next part. @returns number of parsed bytes, 0 if more bytes are needed, -1 if the reply is not valid */
  #readNext(bytes: Buffer): number {
    switch (this.#state) {
      case 'head':
        return this.#readHead(bytes)
      case 'chunk-size':
        return this.#readChunkSize(bytes)
      case 'chunk-end':
        if (bytes.length < 2) return 0
        this.#state = 'chunk-size'
        return bytes.indexOf(LINE_END) === 0 ? 2 : -1
      case 'trailer':
        return this.#readTrailer(bytes)
      case 'to-the-end':
        this.#take(bytes, false)
        return bytes.length
      default:
        return this.#readData(bytes)
    }
  }

  #readHead(bytes: Buffer): number {
    const end = bytes.indexOf(HEAD_END)
    if (end < 0) return 0
    // Includes the line end of the last header, so that every header is between two line ends.
    const head = bytes.toString('latin1', 0, end + 2)
    const line = STATUS_LINE.exec(head)
    if (!line) return -1
    this.status = Number(line[2])
    const used = end + HEAD_END.length
    // 100 and 103 precede the final reply. 101 is invalid, because no request has an `Upgrade` header.
    if (this.status < 200) return this.status === 101 ? -1 : used
    this.head = head
    this.closes = line[1] === '0' ? !KEEP_ALIVE_HEADER.test(head) : CLOSE_HEADER.test(head)
    if (this.#bodiless || this.status === 204 || this.status === 304) this.#finish()
    else if (CHUNKED.test(head)) this.#state = 'chunk-size'
    else this.#beginSized(CONTENT_LENGTH.exec(head)?.[1])
    return used
  }

  #beginSized(length: string | undefined): void {
    this.#missing = Number(length)
    if (length === undefined) {
      this.#state = 'to-the-end'
      this.closes = true
    } else if (this.#missing === 0) this.#finish()
    else this.#state = 'sized'
  }

  #readData(bytes: Buffer): number {
    const used = Math.min(bytes.length, this.#missing)
    this.#missing -= used
    const sized = this.#state === 'sized'
    this.#take(bytes.subarray(0, used), sized && this.#missing === 0)
    if (this.#missing === 0) {
      if (sized) this.#finish()
      else this.#state = 'chunk-end'
    }
    return used
  }

  #readChunkSize(bytes: Buffer): number {
    const end = bytes.indexOf(LINE_END)
    if (end < 0) return 0
    const size = CHUNK_SIZE.exec(bytes.toString('latin1', 0, end))?.[1]
    if (size === undefined) return -1
    this.#missing = Number.parseInt(size, 16)
    this.#state = this.#missing === 0 ? 'trailer' : 'chunk'
    return end + LINE_END.length
  }

  #readTrailer(bytes: Buffer): number {
    const end = bytes.indexOf(LINE_END)
    if (end < 0) return 0
    if (end === 0) this.#finish()
    return end + LINE_END.length
  }

  /** Buffers a part of the body. Only the last part needs no copy, because the caller overwrites earlier parts. */
  #take(part: Buffer, last: boolean): void {
    this.bodyBytes += part.length
    if (typeof this.#bodies === 'function') this.#bodies(part)
    else if (this.#bodies) this.#parts.push(last ? part : Buffer.from(part))
  }

  #finish(): void {
    this.#state = 'done'
    this.body = this.#parts.length === 1 ? this.#parts[0]! : Buffer.concat(this.#parts)
  }
}
