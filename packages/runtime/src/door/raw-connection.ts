import type { Socket } from 'node:net'
import { asReply, isStream, type Answer, type Endpoint } from './endpoint.ts'
import { memoryFull } from '../http/errors.ts'
import type { Reply, StreamReply } from './hot-route.ts'
import { isCounted, isLarge, toLatin1, statusLine, fieldsText, headEnds } from './raw-text.ts'
import { headersOf, isUnchanged } from './reply-head.ts'
import { wholeUnits } from '../memory/budget.ts'
import { LARGEST_HEAD } from './grammar.ts'
import { MOST_HELD, RequestReader, type RawRequest, type Read, type ReaderHost } from './request-reader.ts'

// Requests that are answered before other connections have their turn.
const PER_TURN = 128
// Requests of one connection that are being answered; the next wait until half of them are.
const MOST_PENDING = 64
// A request may come in so many pieces: each is read again with what came before it.
const MOST_PIECES = 8

/** What the connections of a raw door have in common. */
export interface ConnectionHost extends ReaderHost {
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
interface Place {
  /** Nothing as long as it is being made. */
  text: string | undefined
  body: Buffer | undefined
  closes: boolean
  readonly endpoint: Endpoint
}

const sizeOf = ({ text, body }: Place): number => text!.length + (body?.length ?? 0)

/** A reply as text. */
interface ReplyText {
  readonly fields: string
  /** Empty where it does not go out as a part of the text. */
  readonly body: string
}

const kept = new WeakMap<Reply, ReplyText>()

/** What a reply says of itself; kept where it is given again and again. */
function replyText(reply: Reply): ReplyText {
  const known = reply.isKept ? kept.get(reply) : undefined
  if (known) return known
  const text = { fields: fieldsText(headersOf(reply, false)), body: isLarge(reply.body) ? '' : toLatin1(reply.body) }
  if (reply.isKept) kept.set(reply, text)
  return text
}

/** What of a reply is not a part of its text. */
function largeBodyOf({ found, headers }: RawRequest, answer: Answer): Buffer | undefined {
  if (isStream(answer) || !isLarge(answer.body) || found.isHead) return undefined
  return isUnchanged(answer, headers, found.endpoint.route.method === 'GET') ? undefined : answer.body
}

/** A connection that the door reads itself. */
export class RawConnection {
  readonly #socket: Socket
  readonly #host: ConnectionHost
  readonly #reader: RequestReader
  /** The tick at which the client last began to send something, or had read all that it was sent. */
  seen: number
  /** What has come and is not answered. */
  #unread: Buffer | undefined
  #pieces = 0
  /** Whether what has come is a whole head that is to be answered here: it is then, even if a drain begins. */
  #hasBegun = false
  #places: Place[] | undefined
  /** Of the replies that are made and wait for their turn (bytes). */
  #waiting = 0
  /** Taken from the budget (bytes): of what has come, and of large replies that are not sent yet. */
  #heldUnread = 0
  #heldReplies = 0
  /** Replies that are to be written at the end of what has come. */
  #text = ''
  /** Not read from: until other connections had their turn, replies are there, or the client has read them. */
  #isPaused = false
  /** The next request waits until all requests before it are answered. */
  #isInLine = false
  #isForeign = false
  #hasEnded = false
  /** It is no longer the door's. */
  #isGone = false

  constructor(host: ConnectionHost, socket: Socket) {
    this.#host = host
    this.#socket = socket
    this.#reader = new RequestReader(host, socket)
    this.seen = host.tick
  }

  /** Whether a request is being answered, or its reply on its way. */
  get isBusy(): boolean {
    return this.#places !== undefined || this.#isPaused || this.#socket.writableLength > 0
  }

  /** Whether a request has begun that is not answered yet: its head has come, and was taken. */
  get isAnswering(): boolean {
    return this.isBusy || this.#hasBegun
  }

  /** Whether some of a request has come, and no more. */
  get holds(): boolean {
    return this.#unread !== undefined && !this.#isPaused
  }

  /** Takes what has come. */
  take(chunk: Buffer): void {
    const held = this.#unread
    this.#unread = undefined
    if (this.#heldUnread > 0) this.#giveUnread()
    // A request that comes in many pieces gets no longer than one that breaks off.
    if (held) this.#pieces++
    else this.seen = this.#host.tick
    this.#answerAll(held ? Buffer.concat([held, chunk]) : chunk)
  }

  /** The client sends no more. */
  end(): void {
    this.#hasEnded = true
    this.#goOn()
  }

  /** The client has read all. */
  drained(): void {
    this.seen = this.#host.tick
    this.#socket.setTimeout(0)
    this.#written()
    this.#goOn()
  }

  /** It is closed, or no longer the door's: holds nothing any more. */
  forget(): void {
    this.#giveUnread()
    this.#giveReplies()
  }

  #giveUnread(): void {
    if (this.#heldUnread > 0) this.#host.budget.give(this.#heldUnread)
    this.#heldUnread = 0
  }

  /** Gives back what replies held, unless some have yet to be written, or to be read. */
  #written(): void {
    if (this.#heldReplies === 0 || this.#waiting > 0) return
    if (!this.#socket.writableNeedDrain && this.#socket.writableCorked === 0) this.#giveReplies()
  }

  #giveReplies(): void {
    if (this.#heldReplies > 0) this.#host.budget.give(this.#heldReplies)
    this.#heldReplies = 0
  }

  /** Gives the connection to Node, as soon as what is being answered is. */
  leave(): void {
    this.#hasBegun = false
    this.#isForeign = true
    this.#goOn()
  }

  /** Does what had to wait. */
  #goOn(): void {
    if (this.#isGone || this.#socket.destroyed) return
    if (this.#isPaused && !this.#isForeign) return this.#resume()
    if (this.#places) return
    if (this.#isForeign || (this.#hasEnded && this.#unread)) {
      this.#isGone = true
      this.#host.handOver(this.#socket, this.#unread, this.#hasEnded)
    } else if (this.#hasEnded) this.#socket.end()
  }

  #resume(): void {
    if (this.#isFull(MOST_PENDING / 2) || (this.#isInLine && this.#places)) return
    const unread = this.#unread!
    this.#unread = undefined
    this.#isPaused = this.#isInLine = false
    this.#answerAll(unread)
    if (!this.#isPaused && !this.#isForeign && !this.#isGone) this.#socket.resume()
  }

  /** Whether replies have to go before more are made. @param most requests that may be being answered */
  #isFull(most: number): boolean {
    if (this.#socket.writableNeedDrain) return true
    return this.#places !== undefined && (this.#places.length >= most || this.#waiting > this.#host.maxWriteBuffer)
  }

  #pause(unread: Buffer): void {
    this.#unread = unread
    this.#isPaused = true
    this.#socket.pause()
  }

  #answerAll(bytes: Buffer): void {
    const text = bytes.toString('latin1')
    let at = 0
    for (let count = 0; at < text.length && !this.#isGone; count++) {
      if (this.#text.length > this.#host.maxWriteBuffer) this.#flush()
      if (count === PER_TURN) setImmediate(() => this.#goOn())
      if (count === PER_TURN || this.#isFull(MOST_PENDING)) {
        this.#pause(bytes.subarray(at))
        break
      }
      const read = this.#read(text, bytes, at)
      this.#hasBegun = read === 'begun'
      if (typeof read === 'string') {
        this.#keep(bytes.subarray(at), read)
        break
      }
      if (this.#places !== undefined && this.#mustWait(read)) {
        this.#isInLine = true
        this.#pause(bytes.subarray(at))
        break
      }
      this.#pieces = 0
      at = read.end
      this.#answer(read, at === text.length)
    }
    this.#flush()
    if (this.#isForeign || this.#hasEnded) this.#goOn()
  }

  /**
   * True if earlier requests must be answered first: an unsafe request runs alone (RFC 9112, 9.3.2), unless both
   * have effect in the order in which they are begun. The first place is one whose reply is being made.
   */
  #mustWait({ found: { endpoint } }: RawRequest): boolean {
    const first = this.#places?.[0]?.endpoint
    return first !== undefined && (endpoint.isUnsafe || first.isUnsafe) && !(endpoint.isOrdered && first.isOrdered)
  }

  #read(text: string, bytes: Buffer, at: number): Read {
    // In a drain nothing more begins here.
    if (this.#host.lifecycle.phase !== 'ready' && !this.#hasBegun) return 'foreign'
    const read = this.#reader.read(text, bytes, at)
    if (typeof read === 'string' || !read.found.endpoint.route.streams) return read
    // A stream is the last that is answered here.
    return read.end < text.length || this.#places ? 'foreign' : read
  }

  #keep(unread: Buffer, why: Exclude<Read, RawRequest>): void {
    this.#unread = unread
    if (why !== 'foreign' && this.#pieces < MOST_PIECES && unread.length <= MOST_HELD && this.#mayHold(unread)) return
    this.#hasBegun = false
    this.#isForeign = true
    this.#socket.pause()
  }

  #mayHold({ length }: Buffer): boolean {
    // Heads are short, and soon Node's.
    if (length <= LARGEST_HEAD) return true
    if (!this.#host.budget.take(length)) return false
    this.#heldUnread = length
    return true
  }

  /** What is answered where there is no room for a reply until the client takes it. */
  #affordable({ found: { endpoint, isHead }, id }: RawRequest, answer: Answer): Answer {
    if (isStream(answer) || isHead || !isCounted(answer.body) || this.#socket.destroyed) return answer
    // In whole units, so that all can be given back in one.
    const bytes = wholeUnits(answer.body.length)
    if (!this.#host.budget.take(bytes)) return endpoint.fault(memoryFull(), id)
    this.#heldReplies += bytes
    return answer
  }

  /** Answers a request, or begins to. @param isLast whether nothing has come behind it */
  #answer(request: RawRequest, isLast: boolean): void {
    const { endpoint, asked } = request.found
    const given = this.#refusal(request) ?? endpoint.answer(asked, request, request.id, request.startedAt)
    if (given instanceof Promise) {
      const place: Place = { text: undefined, body: undefined, closes: false, endpoint }
      ;(this.#places ??= []).push(place)
      void given.then((late) => this.#settle(place, request, this.#affordable(request, late)))
      return
    }
    const answer = this.#affordable(request, given)
    const closes = isLast && this.#host.lifecycle.phase !== 'ready'
    const text = this.#textOf(request, answer, closes)
    const body = largeBodyOf(request, answer)
    if (!this.#places) return this.#put(text, body, closes)
    this.#places.push({ text, body, closes, endpoint })
    this.#waiting += text.length + (body?.length ?? 0)
  }

  /** What is answered to one of too many requests; nothing where it may be answered. */
  #refusal(request: RawRequest): Answer | undefined {
    const { limits } = this.#host
    if (!limits) return undefined
    const { fields, refusal } = limits.take(request.headers, request.address())
    request.limits = fieldsText(fields)
    return refusal && asReply(refusal)
  }

  #settle(place: Place, request: RawRequest, answer: Answer): void {
    // After its last reply in a drain a connection ends, and its client knows.
    place.closes = this.#host.lifecycle.phase !== 'ready' && !this.#unread && this.#places?.at(-1) === place
    place.text = this.#textOf(request, answer, place.closes)
    place.body = largeBodyOf(request, answer)
    this.seen = this.#host.tick
    const places = this.#places!
    if (this.#isGone || this.#socket.destroyed) return
    this.#waiting += sizeOf(place)
    for (let first = places[0]; first?.text !== undefined; first = places[0]) {
      places.shift()
      this.#waiting -= sizeOf(first)
      this.#put(first.text, first.body, first.closes)
    }
    if (places.length === 0) this.#places = undefined
    this.#flush()
    this.#goOn()
  }

  /** Makes the text of a reply, but for a large body; a stream takes the connection instead. */
  #textOf(request: RawRequest, answer: Answer, closes: boolean): string {
    const { found, headers, id, startedAt } = request
    const { endpoint, isHead } = found
    const cors = fieldsText(this.#host.guard.corsHeaders(headers.origin as string | undefined))
    const first = `x-request-id: ${id}\r\n${cors}${request.limits}`
    const ends = headEnds(this.#host.keepAliveTimeout)
    if (isStream(answer)) {
      endpoint.observe(200, found, id, startedAt, request)
      this.#open(answer, `${statusLine(200)}${first}${fieldsText(answer.headers)}connection: close\r\n${ends.bare}`)
      return ''
    }
    const unchanged = isUnchanged(answer, headers, isHead || endpoint.route.method === 'GET')
    const status = unchanged ? 304 : answer.status
    endpoint.observe(status, found, id, startedAt, request)
    const end = closes ? ends.closes : ends.keepsAlive
    if (unchanged) return statusLine(status) + first + fieldsText(headersOf(answer, true)) + end
    const { fields, body } = replyText(answer)
    return statusLine(status) + first + fields + end + (isHead ? '' : body)
  }

  #open({ open }: StreamReply, head: string): void {
    if (this.#isGone || this.#socket.destroyed) return
    this.#flush()
    this.#isGone = true
    this.#host.release(this.#socket)
    // Requests after a stream get no reply. A socket that is not read does not report that its client has disconnected.
    if (this.#isPaused) this.#socket.resume()
    open(this.#socket, head)
  }

  #put(text: string, body: Buffer | undefined, closes: boolean): void {
    this.#text += text
    if (body) {
      this.#socket.cork()
      this.#flush()
      this.#write(body)
      this.#socket.uncork()
      this.#written()
    }
    if (!closes) return
    this.#flush()
    this.#isGone = true
    this.#socket.destroySoon()
  }

  #flush(): void {
    if (this.#text === '' || this.#isGone) return
    const text = this.#text
    this.#text = ''
    this.#write(text)
  }

  #write(chunk: string | Buffer): void {
    // Node sees whether the client takes any of it before the time is over.
    if (!this.#socket.write(chunk, 'latin1')) this.#socket.setTimeout(this.#host.sendTimeout)
    else this.#written()
  }
}
