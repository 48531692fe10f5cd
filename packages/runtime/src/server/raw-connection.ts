import type { Socket } from 'node:net'
import { toReply, isStream, type HotReply, type Endpoint } from './endpoint.ts'
import { createMemoryFull } from '../http/common-errors.ts'
import type { BufferedReply, StreamReply } from './hot-route.ts'
import { isCounted, isLarge, toLatin1, getStatusLine, formatFields, getHeadEnds } from './reply-text.ts'
import { toHeaders, isUnchanged } from './reply-head.ts'
import { roundToUnits } from '../memory/budget.ts'
import { MAX_HEAD_BYTES } from './request-grammar.ts'
import { MAX_HELD_BYTES, RequestReader, type RawRequest, type ReadOutcome, type ReaderHost } from './request-reader.ts'

// Requests that are answered before other connections have their turn.
const REQUESTS_PER_TURN = 128
// Requests of one connection that are being answered; the next wait until half of them are.
const MAX_PENDING_REPLIES = 64
// A request may come in so many pieces: each is read again with what came before it.
const MAX_REQUEST_CHUNKS = 8

/** What the connections of a raw door have in common. */
export interface RawAdapterHost extends ReaderHost {
  /** For how long an idle connection is kept (ms). */
  readonly keepAliveTimeout: number
  /** Bytes of replies that may wait to be written before the next requests do. */
  readonly maxWriteBuffer: number
  /** A client that reads nothing for so long is cut off (ms). */
  readonly sendTimeout: number
  /** Counts up while the server runs. */
  readonly tick: number
  /** Gives a connection to Node for good. @param unread what it begins with @param ended whether nothing follows it */
  handOver(socket: Socket, unread: Buffer | undefined, ended: boolean): void
  /** Lets go of a connection that has become a stream. */
  release(socket: Socket): void
}

/** A reply that waits for its turn: replies go out in the order of their requests. */
interface PendingReply {
  /** Nothing as long as it is being made. */
  text: string | undefined
  body: Buffer | undefined
  closes: boolean
  readonly endpoint: Endpoint
}

const getReplySize = ({ text, body }: PendingReply): number => text!.length + (body?.length ?? 0)

/** A reply as text. */
interface ReplyText {
  readonly fields: string
  /** Empty where it does not go out as a part of the text. */
  readonly body: string
}

const textCache = new WeakMap<BufferedReply, ReplyText>()

/** What a reply says of itself; kept where it is given again and again. */
function getReplyText(reply: BufferedReply): ReplyText {
  const cached = reply.isReused ? textCache.get(reply) : undefined
  if (cached) return cached
  const text = { fields: formatFields(toHeaders(reply, false)), body: isLarge(reply.body) ? '' : toLatin1(reply.body) }
  if (reply.isReused) textCache.set(reply, text)
  return text
}

/** What of a reply is not a part of its text. */
function getLargeBody({ match, headers }: RawRequest, answer: HotReply): Buffer | undefined {
  if (isStream(answer) || !isLarge(answer.body) || match.isHead) return undefined
  return isUnchanged(answer, headers, match.endpoint.route.method === 'GET') ? undefined : answer.body
}

/** A connection that the door reads itself. */
export class ServerConnection {
  readonly #socket: Socket
  readonly #host: RawAdapterHost
  readonly #reader: RequestReader
  /** The tick at which the client last began to send something, or had read all that it was sent. */
  lastActiveTick: number
  /** What has come and is not answered. */
  #unread: Buffer | undefined
  #chunkCount = 0
  /** Whether what has come is a whole head that is to be answered here: it is then, even if a drain begins. */
  #hasBegun = false
  #pendingReplies: PendingReply[] | undefined
  /** Of the replies that are made and wait for their turn (bytes). */
  #pendingBytes = 0
  /** Taken from the budget (bytes): of what has come, and of large replies that are not sent yet. */
  #heldUnread = 0
  #heldReplies = 0
  /** Replies that are to be written at the end of what has come. */
  #text = ''
  /** Not read from: until other connections had their turn, replies are there, or the client has read them. */
  #isPaused = false
  /** The next request waits until all requests before it are answered. */
  #isWaitingForEarlier = false
  #isForeign = false
  #hasEnded = false
  /** It is no longer the door's. */
  #isReleased = false

  constructor(host: RawAdapterHost, socket: Socket) {
    this.#host = host
    this.#socket = socket
    this.#reader = new RequestReader(host, socket)
    this.lastActiveTick = host.tick
  }

  /** Whether a request is being answered, or its reply on its way. */
  get isBusy(): boolean {
    return this.#pendingReplies !== undefined || this.#isPaused || this.#socket.writableLength > 0
  }

  /** Whether a request has begun that is not answered yet: its head has come, and was taken. */
  get isAnswering(): boolean {
    return this.isBusy || this.#hasBegun
  }

  /** Whether some of a request has come, and no more. */
  get hasPartialRequest(): boolean {
    return this.#unread !== undefined && !this.#isPaused
  }

  /** Takes what has come. */
  take(chunk: Buffer): void {
    const held = this.#unread
    this.#unread = undefined
    if (this.#heldUnread > 0) this.#releaseUnread()
    // A request that comes in many pieces gets no longer than one that breaks off.
    if (held) this.#chunkCount++
    else this.lastActiveTick = this.#host.tick
    this.#handleAll(held ? Buffer.concat([held, chunk]) : chunk)
  }

  /** The client sends no more. */
  end(): void {
    this.#hasEnded = true
    this.#proceed()
  }

  /** The client has read all. */
  onDrain(): void {
    this.lastActiveTick = this.#host.tick
    this.#socket.setTimeout(0)
    this.#releaseWritten()
    this.#proceed()
  }

  /** It is closed, or no longer the door's: holds nothing any more. */
  releaseMemory(): void {
    this.#releaseUnread()
    this.#releaseReplies()
  }

  #releaseUnread(): void {
    if (this.#heldUnread > 0) this.#host.budget.release(this.#heldUnread)
    this.#heldUnread = 0
  }

  /** Gives back what replies held, unless some have yet to be written, or to be read. */
  #releaseWritten(): void {
    if (this.#heldReplies === 0 || this.#pendingBytes > 0) return
    if (!this.#socket.writableNeedDrain && this.#socket.writableCorked === 0) this.#releaseReplies()
  }

  #releaseReplies(): void {
    if (this.#heldReplies > 0) this.#host.budget.release(this.#heldReplies)
    this.#heldReplies = 0
  }

  /** Gives the connection to Node, as soon as what is being answered is. */
  moveToNode(): void {
    this.#hasBegun = false
    this.#isForeign = true
    this.#proceed()
  }

  /** Does what had to wait. */
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

  /** Whether replies have to go before more are made. @param maxPending requests that may be being answered */
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
   * True if earlier requests must be answered first: an unsafe request runs alone (RFC 9112, 9.3.2), unless both
   * have effect in the order in which they are begun. The first place is one whose reply is being made.
   */
  #shouldWait({ match: { endpoint } }: RawRequest): boolean {
    const first = this.#pendingReplies?.[0]?.endpoint
    return first !== undefined && (endpoint.isUnsafe || first.isUnsafe) && !(endpoint.isOrdered && first.isOrdered)
  }

  #read(text: string, bytes: Buffer, at: number): ReadOutcome {
    // In a drain nothing more begins here.
    if (this.#host.lifecycle.phase !== 'ready' && !this.#hasBegun) return 'foreign'
    const read = this.#reader.read(text, bytes, at)
    if (typeof read === 'string' || !read.match.endpoint.route.canStream) return read
    // A stream is the last that is answered here.
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
    // Heads are short, and soon Node's.
    if (length <= MAX_HEAD_BYTES) return true
    if (!this.#host.budget.take(length)) return false
    this.#heldUnread = length
    return true
  }

  /** What is answered where there is no room for a reply until the client takes it. */
  #chargeReply({ match: { endpoint, isHead }, id }: RawRequest, answer: HotReply): HotReply {
    if (isStream(answer) || isHead || !isCounted(answer.body) || this.#socket.destroyed) return answer
    // In whole units, so that all can be given back in one.
    const bytes = roundToUnits(answer.body.length)
    if (!this.#host.budget.take(bytes)) return endpoint.toErrorReply(createMemoryFull(), id)
    this.#heldReplies += bytes
    return answer
  }

  /** Answers a request, or begins to. @param isLast whether nothing has come behind it */
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

  /** What is answered to one of too many requests; nothing where it may be answered. */
  #checkLimits(request: RawRequest): HotReply | undefined {
    const { limits } = this.#host
    if (!limits) return undefined
    const { fields, refusal } = limits.take(request.headers, request.getAddress())
    request.limits = formatFields(fields)
    return refusal && toReply(refusal)
  }

  #completeReply(pendingReply: PendingReply, request: RawRequest, answer: HotReply): void {
    // After its last reply in a drain a connection ends, and its client knows.
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

  /** Makes the text of a reply, but for a large body; a stream takes the connection instead. */
  #formatReply(request: RawRequest, answer: HotReply, closes: boolean): string {
    const { match, headers, id, startedAt } = request
    const { endpoint, isHead } = match
    const cors = formatFields(this.#host.guard.getCorsHeaders(headers.origin as string | undefined))
    const first = `x-request-id: ${id}\r\n${cors}${request.limits}`
    const ends = getHeadEnds(this.#host.keepAliveTimeout)
    if (isStream(answer)) {
      endpoint.observe(200, match, id, startedAt, request)
      this.#open(
        answer,
        `${getStatusLine(200)}${first}${formatFields(answer.headers)}connection: close\r\n${ends.bare}`,
      )
      return ''
    }
    const unchanged = isUnchanged(answer, headers, isHead || endpoint.route.method === 'GET')
    const status = unchanged ? 304 : answer.status
    endpoint.observe(status, match, id, startedAt, request)
    const end = closes ? ends.closes : ends.keepAlive
    if (unchanged) return getStatusLine(status) + first + formatFields(toHeaders(answer, true)) + end
    const { fields, body } = getReplyText(answer)
    return getStatusLine(status) + first + fields + end + (isHead ? '' : body)
  }

  #open({ open }: StreamReply, head: string): void {
    if (this.#isReleased || this.#socket.destroyed) return
    this.#flush()
    this.#isReleased = true
    this.#host.release(this.#socket)
    // Requests after a stream get no reply. A socket that is not read does not report that its client has disconnected.
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
    // Node sees whether the client takes any of it before the time is over.
    if (!this.#socket.write(chunk, 'latin1')) this.#socket.setTimeout(this.#host.sendTimeout)
    else this.#releaseWritten()
  }
}
