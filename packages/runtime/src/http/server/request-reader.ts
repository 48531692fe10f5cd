import type { Socket } from 'node:net'
import { performance } from 'node:perf_hooks'
import { canAcceptBody, type EndpointMatch } from './endpoint.ts'
import type { RawAdapterHost } from './raw-host.ts'
import {
  findDigitsEnd,
  isBeginning,
  MAX_HEAD_BYTES,
  readFields,
  readRequestLine,
  type FieldBlock,
} from './request-grammar.ts'
import { parseRequestId, type Trace } from '../../trace.ts'
import type { HotRequest, RequestHeaders } from '../hot-route.ts'

const EMPTY_BODY = Buffer.alloc(0)
const NO_HEADERS: RequestHeaders = {}

// A slice of a text retains the whole text in memory. For a longer text, the block of fields is copied.
const MAX_SHARED_TEXT_BYTES = 8_192

/** Maximum size of an incomplete request that is held in memory (bytes). */
export const MAX_HELD_BYTES = 131_072

/** A request that the raw server adapter has read. */
export class RawRequest implements HotRequest {
  readonly headers: RequestHeaders
  readonly body: Buffer
  readonly match: EndpointMatch
  /** Position in the input after the request. */
  readonly end: number
  readonly startedAt = performance.now()
  readonly id: string
  readonly #socket: Socket
  /** Header fields of the rate limits, as text. */
  limits = ''
  trace: Trace | undefined

  constructor(match: EndpointMatch, headers: RequestHeaders, body: Buffer, end: number, id: string, socket: Socket) {
    this.headers = headers
    this.body = body
    this.match = match
    this.end = end
    this.id = id
    this.#socket = socket
  }

  getAddress(): string | undefined {
    const address = this.#socket.remoteAddress
    // Node caches the address on each socket, which takes 90 bytes.
    ;(this.#socket as { _peername?: unknown })._peername = undefined
    return this.match.endpoint.getClientAddress(address, this.headers)
  }
}

/**
 * A complete request, or the reason why there is none. `held`: a part of the head is missing. `begun`: the head is
 * complete and accepted, but a part of the body is missing. `foreign`: Node must read the request.
 */
export type ReadOutcome = RawRequest | 'held' | 'begun' | 'foreign'

/** Reads the requests of one connection. */
export class RequestReader {
  readonly #host: RawAdapterHost
  readonly #socket: Socket
  /** Fields of the last request. If the next request has the same text, it needs no second check. */
  #fields: FieldBlock | undefined
  /** Length of the body of the last request (bytes). */
  #length = 0
  /** Id that the client gave its requests in these fields. */
  #id: string | undefined
  /** True if the guard accepts a read with these fields. Undefined if it was not checked yet. */
  #canRead: boolean | undefined
  /** True if the guard accepts a change with these fields. Undefined if it was not checked yet. */
  #canChange: boolean | undefined

  constructor(host: RawAdapterHost, socket: Socket) {
    this.#host = host
    this.#socket = socket
  }

  /**
   * Reads the request that begins at a position.
   * @param text the input, with one character per byte of `bytes`
   */
  read(text: string, bytes: Buffer, at: number): ReadOutcome {
    const line = readRequestLine(text, at)
    if (!line) return isBeginning(text, at) ? 'held' : 'foreign'
    let bodyAt = this.#matchLastFields(text, line.end)
    if (bodyAt < 0) {
      const end = text.indexOf('\r\n\r\n', line.end - 2)
      if (end < 0) return isBeginning(text, at) ? 'held' : 'foreign'
      if (end + 4 - at > MAX_HEAD_BYTES || !this.#parseFields(text.slice(line.end, end + 4), text.length))
        return 'foreign'
      bodyAt = this.#matchLastFields(text, line.end)
    }
    const length = this.#length
    const { headers } = this.#fields!
    const match = this.#host.endpoints.find(line.method, line.target)
    if (!match || !this.#canAccept(match, this.#fields!)) return 'foreign'
    if (!canAcceptBody(match.endpoint.route, length, headers['content-type'] as string | undefined)) return 'foreign'
    const end = bodyAt + length
    if (end > text.length) return end - at > MAX_HELD_BYTES ? 'foreign' : 'begun'
    const body = length > 0 ? bytes.subarray(bodyAt, end) : EMPTY_BODY
    const id = this.#id ?? this.#host.getRequestId(NO_HEADERS)
    return new RawRequest(match, headers, body, end, id, this.#socket)
  }

  /**
   * Returns the position of the body if the fields equal those of the last request, apart from `content-length`.
   * Otherwise -1.
   */
  #matchLastFields(text: string, at: number): number {
    if (!this.#fields) return -1
    const { before, after } = this.#fields
    const lengthAt = at + before.length
    // Slices are compared, because `startsWith` takes three times as long for 400 characters.
    if (text.slice(at, lengthAt) !== before) return -1
    if (after === '') {
      this.#length = 0
      return lengthAt
    }
    const lengthEnd = findDigitsEnd(text, lengthAt)
    const end = lengthEnd + after.length
    if (lengthEnd === lengthAt || text.slice(lengthEnd, end) !== after) return -1
    this.#length = Number(text.slice(lengthAt, lengthEnd))
    return end
  }

  /** Reads and stores a block of fields. Returns true if it belongs to the adapter's grammar. */
  #parseFields(block: string, length: number): boolean {
    this.#fields = readFields(length > MAX_SHARED_TEXT_BYTES ? Buffer.from(block, 'latin1').toString('latin1') : block)
    this.#canRead = this.#canChange = undefined
    this.#id = this.#fields && parseRequestId(this.#fields.headers)
    return this.#fields !== undefined
  }

  #canAccept({ endpoint, query }: EndpointMatch, fields: FieldBlock): boolean {
    const { access, route } = endpoint
    const { guard } = this.#host
    if (route.getToken || route.hasServiceToken?.(fields.headers)) return !endpoint.checkAccess(fields as never, query)
    if (access === 'read') return (this.#canRead ??= !guard.check(fields as never, access))
    if (access === 'change') return (this.#canChange ??= !guard.check(fields as never, access))
    return !guard.check(fields as never, access)
  }
}
