import type { Socket } from 'node:net'
import { isStream, type HotReply } from './endpoint.ts'
import { ConnectionMemory } from './connection-memory.ts'
import type { StreamReply } from '../hot-route.ts'
import { CHUNKS } from '../../net/framing.ts'
import type { RawAdapterHost } from './raw-host.ts'
import {
  checkLimits,
  formatReply,
  formatStreamHead,
  getLargeBody,
  getReplySize,
  shouldWait,
  type PendingReply,
} from './raw-reply.ts'
import { MAX_HELD_BYTES, RequestReader, type RawRequest, type ReadOutcome } from './request-reader.ts'

// Requests of one connection that are answered before others continue. `yieldTurn` would make the loop asynchronous.
const REQUESTS_PER_TURN = 128
// Number of unanswered requests of a connection at which the next ones wait until half of them are answered.
const MAX_PENDING_REPLIES = 64
// Maximum number of pieces of an incomplete request; with more, the connection passes to Node. With each new piece, all
// earlier pieces of the request are read again.
const MAX_REQUEST_CHUNKS = 8

/** A connection that the raw server adapter reads. */
export class ServerConnection {
  readonly #socket: Socket
  readonly #host: RawAdapterHost
  readonly #reader: RequestReader
  readonly #memory: ConnectionMemory
  /** The tick at which a request last began, the client had read all replies, or a late reply was complete. */
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
    this.#memory = new ConnectionMemory(host.budget, socket)
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
    this.#memory.releaseUnread()
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
    this.#memory.releaseUnread()
    this.#memory.releaseReplies()
  }

  /** Releases the memory of the replies if all are written and the buffer of the socket is not full. */
  #releaseWritten(): void {
    if (this.#pendingBytes === 0) this.#memory.releaseWritten()
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
      if (this.#pendingReplies !== undefined && shouldWait(read, this.#pendingReplies)) {
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

  #read(text: string, bytes: Buffer, at: number): ReadOutcome {
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
      this.#memory.holdUnread(unread.length)
    )
      return
    this.#hasBegun = false
    this.#isForeign = true
    this.#socket.pause()
  }

  /** Answers a request, or begins to answer it. @param isLast true if no input has arrived after the request */
  #answer(request: RawRequest, isLast: boolean): void {
    const { endpoint, query } = request.match
    const reply = checkLimits(this.#host, request) ?? endpoint.answer(query, request, request.id, request.startedAt)
    if (reply instanceof Promise) {
      const pendingReply: PendingReply = { text: undefined, body: undefined, closes: false, endpoint }
      ;(this.#pendingReplies ??= []).push(pendingReply)
      void reply.then((late) => this.#completeReply(pendingReply, request, this.#memory.chargeReply(request, late)))
      return
    }
    const answer = this.#memory.chargeReply(request, reply)
    const closes = isLast && this.#host.lifecycle.phase !== 'ready'
    const text = this.#formatReply(request, answer, closes)
    const body = getLargeBody(request, answer)
    if (!this.#pendingReplies) return this.#append(text, body, closes)
    this.#pendingReplies.push({ text, body, closes, endpoint })
    this.#pendingBytes += text.length + (body?.length ?? 0)
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
    if (!isStream(answer)) return formatReply(this.#host, request, answer, closes)
    this.#open(answer, formatStreamHead(this.#host, request, answer.headers))
    return ''
  }

  #open({ open }: StreamReply, head: string): void {
    if (this.#isReleased || this.#socket.destroyed) return
    this.#flush()
    this.#isReleased = true
    this.#host.release(this.#socket)
    // Later requests get no reply. The socket is read because, unread, it would not report that its client is gone.
    if (this.#isPaused) this.#socket.resume()
    // Clients of HTTP/1.0 are not served here.
    open(this.#socket, head, CHUNKS)
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
