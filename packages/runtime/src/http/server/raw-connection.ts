import type { Socket } from 'node:net'
import { isStream, type HotReply, type Endpoint } from './endpoint.ts'
import { createMemoryFull } from '../../errors/common-errors.ts'
import type { BufferedReply, StreamReply } from '../hot-route.ts'
import { isCounted, isLarge, toLatin1, getStatusLine, formatFields, getHeadEnds } from './reply-text.ts'
import { toHeaders, isUnchanged } from './reply-head.ts'
import { roundToUnits } from '../../memory/budget.ts'
import { MAX_HEAD_BYTES } from './request-grammar.ts'
import { MAX_HELD_BYTES, RequestReader, type RawRequest, type ReadOutcome, type ReaderHost } from './request-reader.ts'

// Number of requests of one connection that are answered before other connections continue.
const REQUESTS_PER_TURN = 128
// Number of unanswered requests of one connection. At this number, the next requests wait until half of them are
// answered.
const MAX_PENDING_REPLIES = 64
// Maximum number of pieces of an incomplete request; with more, the connection passes to Node. With each new piece, all
// earlier pieces of the request are read again.
const MAX_REQUEST_CHUNKS = 8

/** Parts that all connections of the raw server adapter share. */
export interface RawAdapterHost extends ReaderHost {
  /** Timeout of an idle connection (ms). */
  readonly keepAliveTimeout: number
  /** Bytes of unwritten replies at which the next requests wait. */
  readonly maxWriteBuffer: number
  /** Number that grows by 1 every 500 ms. */
  readonly tick: number
  /**
   * Passes a connection to Node permanently.
   * @param unread bytes that are not answered
   * @param ended true if no input follows
   */
  handOver(socket: Socket, unread: Buffer | undefined, ended: boolean): void
  /** Disconnects the client if it reads nothing for `sendTimeout`. */
  limitSending(socket: Socket): void
  /** Releases a connection that has become a stream. */
  release(socket: Socket): void
}

/** A reply that is incomplete or waits for earlier ones: replies are sent in the order of their requests. */
interface PendingReply {
  /** Undefined until the reply is complete. */
  text: string | undefined
  body: Buffer | undefined
  closes: boolean
  readonly endpoint: Endpoint
}

const getReplySize = ({ text, body }: PendingReply): number => text!.length + (body?.length ?? 0)

/** A reply as text. */
interface ReplyText {
  /** Fields of the reply, and the end of its head. */
  readonly fields: string
  /** The end of the head in `fields`. */
  readonly end: string
  /** Empty if the body is not sent as a part of the text. */
  readonly body: string
}

const textCache = new WeakMap<BufferedReply, ReplyText>()

/** Formats the fields and the body of a reply. The text is cached if the route returns the reply repeatedly. */
function getReplyText(reply: BufferedReply, end: string): ReplyText {
  const cached = reply.isReused ? textCache.get(reply) : undefined
  if (cached?.end === end) return cached
  const fields = formatFields(toHeaders(reply, false)) + end
  const body = cached?.body ?? (isLarge(reply.body) ? '' : toLatin1(reply.body))
  if (!reply.isReused) return { fields, end, body }
  // V8 stores concatenated text as linked parts, here about 25. The way through a Buffer makes one flat string.
  // Otherwise every reply with this text would copy each part.
  const text = { fields: Buffer.from(fields, 'latin1').toString('latin1'), end, body }
  textCache.set(reply, text)
  return text
}

/** Returns the body of a reply if it is not a part of its text. */
function getLargeBody({ match, headers }: RawRequest, answer: HotReply): Buffer | undefined {
  if (isStream(answer) || !isLarge(answer.body) || match.isHead) return undefined
  return isUnchanged(answer, headers, match.endpoint.route.method === 'GET') ? undefined : answer.body
}

/** A connection that the raw server adapter reads. */
export class ServerConnection {
  readonly #socket: Socket
  readonly #host: RawAdapterHost
  readonly #reader: RequestReader
  /**
   * The tick at which the client last began to send a request, or had read everything that was sent, or at which a late
   * reply was complete.
   */
  lastActiveTick: number
  /** Bytes that have arrived and are not answered. */
  #unread: Buffer | undefined
  /** Number of further pieces of the incomplete request. */
  #chunkCount = 0
  /** True if a whole head has arrived that is answered here, even if a drain begins. */
  #hasBegun = false
  #pendingReplies: PendingReply[] | undefined
  /** Size of the complete replies that wait for earlier ones (bytes). */
  #pendingBytes = 0
  /** Bytes taken from the budget for unread input. */
  #heldUnread = 0
  /** Bytes taken from the budget for large replies that are not sent yet. */
  #heldReplies = 0
  /** Text of replies that is written when all input is processed. */
  #text = ''
  /**
   * True while no input is read: other connections must continue first, the next request must wait for earlier ones, or
   * too many replies are incomplete or unread.
   */
  #isPaused = false
  /** True if the next request waits until all earlier ones are answered. */
  #isWaitingForEarlier = false
  /** True if the connection must pass to Node. */
  #isForeign = false
  /** True if the client sends no more input. */
  #hasEnded = false
  /** True if the connection is no longer part of the adapter. */
  #isReleased = false

  constructor(host: RawAdapterHost, socket: Socket) {
    this.#host = host
    this.#socket = socket
    this.#reader = new RequestReader(host, socket)
    this.lastActiveTick = host.tick
  }

  /** True if a request is being answered, or its reply is being sent. */
  get isBusy(): boolean {
    return this.#pendingReplies !== undefined || this.#isPaused || this.#socket.writableLength > 0
  }

  /** True if a request has begun that is not answered yet: its head has arrived and was accepted. */
  get isAnswering(): boolean {
    return this.isBusy || this.#hasBegun
  }

  /** True if only a part of a request has arrived. */
  get hasPartialRequest(): boolean {
    return this.#unread !== undefined && !this.#isPaused
  }

  /** Processes input. */
  take(chunk: Buffer): void {
    const held = this.#unread
    this.#unread = undefined
    if (this.#heldUnread > 0) this.#releaseUnread()
    // Later pieces of a request do not extend its time.
    if (held) this.#chunkCount++
    else this.lastActiveTick = this.#host.tick
    this.#handleAll(held ? Buffer.concat([held, chunk]) : chunk)
  }

  /** Called when the client sends no more input. */
  end(): void {
    this.#hasEnded = true
    this.#proceed()
  }

  /** Called when the client has read everything. */
  onDrain(): void {
    this.lastActiveTick = this.#host.tick
    this.#socket.setTimeout(0)
    this.#releaseWritten()
    this.#proceed()
  }

  /** Releases all memory. Called when the connection is closed, or is no longer part of the adapter. */
  releaseMemory(): void {
    this.#releaseUnread()
    this.#releaseReplies()
  }

  #releaseUnread(): void {
    if (this.#heldUnread > 0) this.#host.budget.release(this.#heldUnread)
    this.#heldUnread = 0
  }

  /** Releases the memory of the replies if all are written and the buffer of the socket is not full. */
  #releaseWritten(): void {
    if (this.#heldReplies === 0 || this.#pendingBytes > 0) return
    if (!this.#socket.writableNeedDrain && this.#socket.writableCorked === 0) this.#releaseReplies()
  }

  #releaseReplies(): void {
    if (this.#heldReplies > 0) this.#host.budget.release(this.#heldReplies)
    this.#heldReplies = 0
  }

  /** Passes the connection to Node as soon as the pending requests are answered. */
  moveToNode(): void {
    this.#hasBegun = false
    this.#isForeign = true
    this.#proceed()
  }

  /** Continues work that had to wait. */
  #proceed(): void {
    if (this.#isReleased || this.#socket.destroyed) return
    if (this.#isPaused && !this.#isForeign) return this.#resume()
    if (this.#pendingReplies) return
    if (this.#isForeign || (this.#hasEnded && this.#unread)) {
      this.#isReleased = true
      this.#host.handOver(this.#socket, this.#unread, this.#hasEnded)
    } else if (this.#hasEnded) this.#socket.end()
  }

  #resume(): void {
    if (this.#isFull(MAX_PENDING_REPLIES / 2) || (this.#isWaitingForEarlier && this.#pendingReplies)) return
    const unread = this.#unread!
    this.#unread = undefined
    this.#isPaused = this.#isWaitingForEarlier = false
    this.#handleAll(unread)
    if (!this.#isPaused && !this.#isForeign && !this.#isReleased) this.#socket.resume()
  }

  /**
   * True if replies must be sent before more requests are answered.
   * @param maxPending maximum number of pending replies
   */
  #isFull(maxPending: number): boolean {
    if (this.#socket.writableNeedDrain) return true
    return (
      this.#pendingReplies !== undefined &&
      (this.#pendingReplies.length >= maxPending || this.#pendingBytes > this.#host.maxWriteBuffer)
    )
  }

  #pause(unread: Buffer): void {
    this.#unread = unread
    this.#isPaused = true
    this.#socket.pause()
  }

  #handleAll(bytes: Buffer): void {
    const text = bytes.toString('latin1')
    let at = 0
    for (let count = 0; at < text.length && !this.#isReleased; count++) {
      if (this.#text.length > this.#host.maxWriteBuffer) this.#flush()
      if (count === REQUESTS_PER_TURN) setImmediate(() => this.#proceed())
      if (count === REQUESTS_PER_TURN || this.#isFull(MAX_PENDING_REPLIES)) {
        this.#pause(bytes.subarray(at))
        break
      }
      const read = this.#read(text, bytes, at)
      this.#hasBegun = read === 'begun'
      if (typeof read === 'string') {
        this.#holdUnread(bytes.subarray(at), read)
        break
      }
      if (this.#pendingReplies !== undefined && this.#shouldWait(read)) {
        this.#isWaitingForEarlier = true
        this.#pause(bytes.subarray(at))
        break
      }
      this.#chunkCount = 0
      at = read.end
      this.#answer(read, at === text.length)
    }
    this.#flush()
    if (this.#isForeign || this.#hasEnded) this.#proceed()
  }

  /**
   * True if the earlier requests must be answered first. An unsafe request runs alone (RFC 9112, 9.3.2), unless it and
   * the first pending request are ordered (see `HotRoute.isOrdered`). The first pending reply is never complete.
   */
  #shouldWait({ match: { endpoint } }: RawRequest): boolean {
    const first = this.#pendingReplies?.[0]?.endpoint
    return first !== undefined && (endpoint.isUnsafe || first.isUnsafe) && !(endpoint.isOrdered && first.isOrdered)
  }

  #read(text: string, bytes: Buffer, at: number): ReadOutcome {
    // During a drain, no new request begins here.
    if (this.#host.lifecycle.phase !== 'ready' && !this.#hasBegun) return 'foreign'
    const read = this.#reader.read(text, bytes, at)
    if (typeof read === 'string' || !read.match.endpoint.route.canStream) return read
    // A stream must be the last request of its connection, and no earlier reply may be pending.
    return read.end < text.length || this.#pendingReplies ? 'foreign' : read
  }

  #holdUnread(unread: Buffer, why: Exclude<ReadOutcome, RawRequest>): void {
    this.#unread = unread
    if (
      why !== 'foreign' &&
      this.#chunkCount < MAX_REQUEST_CHUNKS &&
      unread.length <= MAX_HELD_BYTES &&
      this.#canHold(unread)
    )
      return
    this.#hasBegun = false
    this.#isForeign = true
    this.#socket.pause()
  }

  #canHold({ length }: Buffer): boolean {
    // A head needs no memory from the budget: it is short, and an incomplete one soon passes to Node.
    if (length <= MAX_HEAD_BYTES) return true
    if (!this.#host.budget.take(length)) return false
    this.#heldUnread = length
    return true
  }

  /**
   * Takes memory for a large reply from the budget until the reply is written and the socket accepts more. Returns the
   * reply, or an error reply if the budget is full.
   */
  #chargeReply({ match: { endpoint, isHead }, id }: RawRequest, answer: HotReply): HotReply {
    if (isStream(answer) || isHead || !isCounted(answer.body) || this.#socket.destroyed) return answer
    // Rounded up to whole units, so that the sum of several replies can be released at once.
    const bytes = roundToUnits(answer.body.length)
    if (!this.#host.budget.take(bytes)) return endpoint.toErrorReply(createMemoryFull(), id)
    this.#heldReplies += bytes
    return answer
  }

  /** Answers a request, or begins to answer it. @param isLast true if no input has arrived after the request */
  #answer(request: RawRequest, isLast: boolean): void {
    const { endpoint, query } = request.match
    const reply = this.#checkLimits(request) ?? endpoint.answer(query, request, request.id, request.startedAt)
    if (reply instanceof Promise) {
      const pendingReply: PendingReply = { text: undefined, body: undefined, closes: false, endpoint }
      ;(this.#pendingReplies ??= []).push(pendingReply)
      void reply.then((late) => this.#completeReply(pendingReply, request, this.#chargeReply(request, late)))
      return
    }
    const answer = this.#chargeReply(request, reply)
    const closes = isLast && this.#host.lifecycle.phase !== 'ready'
    const text = this.#formatReply(request, answer, closes)
    const body = getLargeBody(request, answer)
    if (!this.#pendingReplies) return this.#append(text, body, closes)
    this.#pendingReplies.push({ text, body, closes, endpoint })
    this.#pendingBytes += text.length + (body?.length ?? 0)
  }

  /** Returns the refusal of a request that exceeds a rate limit. Undefined if the request may be answered. */
  #checkLimits(request: RawRequest): HotReply | undefined {
    const { limits } = this.#host
    if (!limits) return undefined
    const { fields, refusal } = limits.take(request.headers, request.getAddress())
    request.limits = formatFields(fields)
    return refusal && request.match.endpoint.toReply(refusal)
  }

  #completeReply(pendingReply: PendingReply, request: RawRequest, answer: HotReply): void {
    // During a drain, a connection ends after its last reply, and that reply announces the end.
    pendingReply.closes =
      this.#host.lifecycle.phase !== 'ready' && !this.#unread && this.#pendingReplies?.at(-1) === pendingReply
    pendingReply.text = this.#formatReply(request, answer, pendingReply.closes)
    pendingReply.body = getLargeBody(request, answer)
    this.lastActiveTick = this.#host.tick
    const pendingReplies = this.#pendingReplies!
    if (this.#isReleased || this.#socket.destroyed) return
    this.#pendingBytes += getReplySize(pendingReply)
    for (let first = pendingReplies[0]; first?.text !== undefined; first = pendingReplies[0]) {
      pendingReplies.shift()
      this.#pendingBytes -= getReplySize(first)
      this.#append(first.text, first.body, first.closes)
    }
    if (pendingReplies.length === 0) this.#pendingReplies = undefined
    this.#flush()
    this.#proceed()
  }

  /** Formats the text of a reply, without a large body. A stream takes over the connection instead. */
  #formatReply(request: RawRequest, answer: HotReply, closes: boolean): string {
    const { match, headers, id, startedAt } = request
    const { endpoint, isHead } = match
    const cors = formatFields(this.#host.guard.getCorsHeaders(headers.origin as string | undefined))
    const leadingFields = `x-request-id: ${id}\r\n${cors}${request.limits}`
    const ends = getHeadEnds(this.#host.keepAliveTimeout)
    if (isStream(answer)) {
      endpoint.observe(200, match, id, startedAt, request)
      this.#open(
        answer,
        `${getStatusLine(200)}${leadingFields}${formatFields(answer.headers)}connection: close\r\n${ends.bare}`,
      )
      return ''
    }
    const unchanged = isUnchanged(answer, headers, isHead || endpoint.route.method === 'GET')
    const status = unchanged ? 304 : answer.status
    endpoint.observe(status, match, id, startedAt, request)
    const end = closes ? ends.closes : ends.keepAlive
    if (unchanged) return getStatusLine(status) + leadingFields + formatFields(toHeaders(answer, true)) + end
    const { fields, body } = getReplyText(answer, end)
    return getStatusLine(status) + leadingFields + fields + (isHead ? '' : body)
  }

  #open({ open }: StreamReply, head: string): void {
    if (this.#isReleased || this.#socket.destroyed) return
    this.#flush()
    this.#isReleased = true
    this.#host.release(this.#socket)
    // Requests after a stream get no reply. The socket is read nevertheless, because a socket that is not read does not
    // report that its client has disconnected.
    if (this.#isPaused) this.#socket.resume()
    open(this.#socket, head)
  }

  #append(text: string, body: Buffer | undefined, closes: boolean): void {
    this.#text += text
    if (body) {
      this.#socket.cork()
      this.#flush()
      this.#write(body)
      this.#socket.uncork()
      this.#releaseWritten()
    }
    if (!closes) return
    this.#flush()
    this.#isReleased = true
    this.#socket.destroySoon()
  }

  #flush(): void {
    if (this.#text === '' || this.#isReleased) return
    const text = this.#text
    this.#text = ''
    this.#write(text)
  }

  #write(chunk: string | Buffer): void {
    if (!this.#socket.write(chunk, 'latin1')) this.#host.limitSending(this.#socket)
    else this.#releaseWritten()
  }
}
