import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { canAcceptBody, isStream, type HotReply, type AdapterHost, type Endpoint, type Endpoints } from './endpoint.ts'
import type { HotRequest, BufferedReply, RequestHeaders, StreamReply } from '../hot-route.ts'
import type { ClientAddressResolver } from '../request/client-address.ts'
import { hasContentFields } from '../request/content-check.ts'
import { createMemoryFull } from '../../errors/common-errors.ts'
import { CHUNKS, NO_CHUNKS } from '../../net/framing.ts'
import { runAfterEarlierReplies } from '../request/expect-continue.ts'
import { skipLaterRequests } from '../request/request-order.ts'
import { BodyBuffer } from '../../memory/body-buffer.ts'
import { getHold, releaseHold } from '../../memory/budget.ts'
import { toHeaders, isUnchanged } from './reply-head.ts'
import type { Trace } from '../../trace.ts'

const EMPTY_BODY = Buffer.alloc(0)

// Larger bodies remain Buffers. Node joins a head and a string body into one write, which costs 1.5 us less per request
// than the two writes for a Buffer.
const MAX_STRING_BYTES = 16_384

/** A request as Node has parsed it. */
class NodeRequest implements HotRequest {
  readonly headers: RequestHeaders
  readonly body: Buffer
  trace: Trace | undefined
  readonly #message: IncomingMessage
  readonly #getClientAddress: ClientAddressResolver

  constructor(message: IncomingMessage, body: Buffer, getClientAddress: ClientAddressResolver) {
    this.#getClientAddress = getClientAddress
    this.headers = message.headers
    this.body = body
    this.#message = message
  }

  getAddress(): string | undefined {
    return this.#getClientAddress(this.#message.socket.remoteAddress, this.headers)
  }
}

/** A request and Node's object for its reply. */
interface NodeExchange {
  readonly message: IncomingMessage
  readonly response: ServerResponse
  readonly body?: Buffer | undefined
  readonly id: string
  readonly startedAt: number
  /** Header fields of the limits for the reply: names and values alternate. */
  readonly limits: readonly string[]
  /** Ids of the request, if already known. */
  readonly trace?: Trace
}

/**
 * Answers a request whose body has arrived, through Node's `ServerResponse`.
 * @param refusal reply that is sent instead of the answer of the route
 */
export function replyOnNode(
  host: AdapterHost,
  endpoint: Endpoint,
  query: unknown,
  exchange: NodeExchange,
  refusal?: BufferedReply,
): void {
  const { message, response, body = EMPTY_BODY, id, startedAt, limits } = exchange
  const isHead = message.method === 'HEAD'
  const request = new NodeRequest(message, body, host.getClientAddress)
  request.trace = exchange.trace
  const reply = refusal ?? endpoint.answer(query, request, id, startedAt)
  if (reply instanceof Promise) void reply.then(send)
  else send(reply)

  /**
   * Takes memory for a large reply from the budget until the reply is sent. A client may send requests faster than Node
   * can write the replies. Returns false if the budget is full.
   */
  function hasMemory({ body: { length } }: BufferedReply): boolean {
    return length <= MAX_STRING_BYTES || isHead || getHold(message, host.budget).take(length)
  }

  function send(reply: HotReply): void {
    const leadingFields = ['x-request-id', id].concat(host.guard.getCorsHeaders(message.headers.origin), limits)
    if (isStream(reply)) return void runAfterEarlierReplies(response, () => open(reply, leadingFields))
    write(message, response, hasMemory(reply) ? reply : endpoint.toErrorReply(createMemoryFull(), id), leadingFields)
    endpoint.observe(response.statusCode, { query, isHead }, id, startedAt, request)
  }

  function open(reply: StreamReply, leadingFields: readonly string[]): void {
    discardInput(message.socket)
    skipLaterRequests(response)
    response.on('error', doNothing)
    const isChunked = message.httpVersionMinor > 0
    // Without this, Node would add the header itself.
    if (!isChunked) response.removeHeader('transfer-encoding')
    const framing = isChunked ? ['transfer-encoding', 'chunked'] : []
    response.writeHead(reply.status, [...leadingFields, ...reply.headers, ...framing, 'connection', 'close'])
    // The stream writes whole chunks, which all streams share. Node would write each chunk in three pieces.
    response.chunkedEncoding = false
    reply.open(response, '', isChunked ? CHUNKS : NO_CHUNKS)
    endpoint.observe(response.statusCode, { query, isHead }, id, startedAt, request)
  }
}

/**
 * Discards further input from the client of a stream. Otherwise requests without a reply would stay in memory forever.
 */
function discardInput(socket: Socket): void {
  socket.on('data', doNothing)
  for (const listener of socket.listeners('data'))
    if (listener !== doNothing) socket.off('data', listener as () => void)
}

function doNothing(): void {}

function write(
  message: IncomingMessage,
  response: ServerResponse,
  reply: BufferedReply,
  leadingFields: readonly string[],
): void {
  const { method, headers } = message
  const unchanged = isUnchanged(reply, headers, method === 'GET' || method === 'HEAD')
  const { body } = reply
  // Node uses a flat list of headers directly. Building such a list from an object would cost it 1 us.
  response.writeHead(unchanged ? 304 : reply.status, leadingFields.concat(toHeaders(reply, unchanged)))
  if (unchanged || method === 'HEAD' || body.length === 0) response.end()
  // ASCII text has the same bytes in V8's memory, in `latin1` and in `utf8`. So `latin1` needs no conversion.
  else if (typeof body === 'string') response.end(body, Buffer.byteLength(body) === body.length ? 'latin1' : 'utf8')
  else if (body.length <= MAX_STRING_BYTES) response.end(body.toString('latin1'), 'latin1')
  else response.end(body)
}

/**
 * Answers plain requests of hot routes ahead of Fastify. All other requests pass to Fastify unchanged. So Fastify also
 * refuses the requests whose head is not accepted: access, or the length or media type of the body.
 * @returns true if the request is answered or will be
 */
export function createNodeAdapter(endpoints: Endpoints, host: AdapterHost) {
  const { getClientAddress } = host

  return function handleHot(message: IncomingMessage, response: ServerResponse): boolean {
    const match = endpoints.find(message.method!, message.url!)
    if (!match) return false
    const { endpoint, query } = match
    const { route } = endpoint
    const { headers } = message
    if (hasContentFields(message)) return false
    const length = getBodyLength(headers['content-length'], headers['transfer-encoding'])
    if (length === undefined || !canAcceptBody(route, length, headers['content-type'])) return false
    if (endpoint.checkAccess(message, query)) return false
    const startedAt = performance.now()
    const { fields = [], refusal } =
      host.limits?.take(headers, getClientAddress(message.socket.remoteAddress, headers)) ?? {}
    const exchange = { message, response, id: host.getRequestId(headers), startedAt, limits: fields }
    if (refusal) replyOnNode(host, endpoint, query, exchange, endpoint.toReply(refusal))
    else if (length === 0) replyOnNode(host, endpoint, query, exchange)
    else {
      readBody(message, length, host, (body) => {
        if (body) replyOnNode(host, endpoint, query, { ...exchange, body })
        else replyOnNode(host, endpoint, query, exchange, endpoint.toErrorReply(createMemoryFull(), exchange.id))
      })
    }
    return true
  }
}

/** Returns the length of a body (bytes). Undefined if it is unknown until the body has arrived. */
function getBodyLength(length: string | undefined, transferEncoding: string | undefined): number | undefined {
  if (transferEncoding !== undefined) return undefined
  return length === undefined ? 0 : Number(length)
}

/**
 * Reads a body of known length. Does not wait for the event `end`, which occurs one turn later than the last piece. A
 * client that disconnects earlier gets no reply. Node's own timeouts disconnect a client that is too slow.
 */
function readBody(
  message: IncomingMessage,
  length: number,
  { budget }: AdapterHost,
  done: (body?: Buffer) => void,
): void {
  const body = new BodyBuffer(() => getHold(message, budget), length)
  message.on('data', function onData(piece: Buffer) {
    if (!body.add(piece)) {
      message.off('data', onData).resume()
      releaseHold(message)
      done()
    } else if (body.length === length) done(body.bytes)
  })
}
