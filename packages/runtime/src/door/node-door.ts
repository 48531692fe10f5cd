import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { asReply, takesBody, isStream, type Answer, type DoorHost, type Endpoint, type Endpoints } from './endpoint.ts'
import type { HotRequest, Reply, RequestHeaders, StreamReply } from './hot-route.ts'
import type { AddressOf } from '../http/client-address.ts'
import { hasContentFields } from '../http/content-fault.ts'
import { memoryFull } from '../http/errors.ts'
import { whenFirst } from '../http/expect-continue.ts'
import { dropRequestsBehind } from '../http/request-order.ts'
import { BodyBuffer } from '../memory/body-buffer.ts'
import { holdOf, releaseHold } from '../memory/budget.ts'
import { headersOf, isUnchanged } from './reply-head.ts'
import type { Trace } from '../trace.ts'

const EMPTY = Buffer.alloc(0)

// Node joins head and body of a string into one write, which costs 1.5 us less a request than two for a Buffer.
const LARGEST_AS_STRING = 16_384

/** A request as Node has parsed it. */
class NodeRequest implements HotRequest {
  readonly headers: RequestHeaders
  readonly body: Buffer
  trace: Trace | undefined
  readonly #message: IncomingMessage
  readonly #addressOf: AddressOf

  constructor(message: IncomingMessage, body: Buffer, addressOf: AddressOf) {
    this.#addressOf = addressOf
    this.headers = message.headers
    this.body = body
    this.#message = message
  }

  address(): string | undefined {
    return this.#addressOf(this.#message.socket.remoteAddress, this.headers)
  }
}

/** A request that is answered on a reply of Node's. */
interface Exchange {
  readonly message: IncomingMessage
  readonly response: ServerResponse
  readonly body?: Buffer | undefined
  readonly id: string
  readonly startedAt: number
  /** What the reply tells of limits: names and values in turn. */
  readonly limits: readonly string[]
  /** What it is known by, where that is known already. */
  readonly trace?: Trace
}

/** Answers a request whose body is there, on a reply of Node's. @param refusal what is answered instead */
export function answerOnNode(
  host: DoorHost,
  endpoint: Endpoint,
  asked: unknown,
  exchange: Exchange,
  refusal?: Reply,
): void {
  const { message, response, body = EMPTY, id, startedAt, limits } = exchange
  const isHead = message.method === 'HEAD'
  const request = new NodeRequest(message, body, host.addressOf)
  request.trace = exchange.trace
  const answer = refusal ?? endpoint.answer(asked, request, id, startedAt)
  if (answer instanceof Promise) void answer.then(send)
  else send(answer)

  /** A large reply is held until it is sent: more requests may have come behind this one than Node can write replies to. */
  function hasRoom({ body: { length } }: Reply): boolean {
    return length <= LARGEST_AS_STRING || isHead || holdOf(message, host.budget).take(length)
  }

  function send(given: Answer): void {
    const first = ['x-request-id', id, ...host.guard.corsHeaders(message.headers.origin), ...limits]
    if (isStream(given)) return void whenFirst(response, () => open(given, first))
    write(message, response, hasRoom(given) ? given : endpoint.fault(memoryFull(), id), first)
    endpoint.observe(response.statusCode, { asked, isHead }, id, startedAt, request)
  }

  function open(given: StreamReply, first: readonly string[]): void {
    ignoreRest(message.socket)
    dropRequestsBehind(response)
    response.on('error', ignore)
    // The connection ends with the stream, which needs no chunks then.
    response.removeHeader('transfer-encoding')
    response.writeHead(given.status, [...first, ...given.headers, 'connection', 'close'])
    given.open(response, '')
    endpoint.observe(response.statusCode, { asked, isHead }, id, startedAt, request)
  }
}

/** What the client of a stream still sends is dropped: requests that nobody will answer would be kept for ever. */
function ignoreRest(socket: Socket): void {
  socket.on('data', ignore)
  for (const listener of socket.listeners('data')) if (listener !== ignore) socket.off('data', listener as () => void)
}

function ignore(): void {}

function write(message: IncomingMessage, response: ServerResponse, reply: Reply, first: readonly string[]): void {
  const { method, headers } = message
  const unchanged = isUnchanged(reply, headers, method === 'GET' || method === 'HEAD')
  const { body } = reply
  // Node takes one flat list as it is, which costs 1 us less than building it up.
  response.writeHead(unchanged ? 304 : reply.status, [...first, ...headersOf(reply, unchanged)])
  if (unchanged || method === 'HEAD' || body.length === 0) response.end()
  // What is ASCII is written as it lies in memory.
  else if (typeof body === 'string') response.end(body, Buffer.byteLength(body) === body.length ? 'latin1' : 'utf8')
  else if (body.length <= LARGEST_AS_STRING) response.end(body.toString('latin1'), 'latin1')
  else response.end(body)
}

/**
 * Answers plain requests of hot routes ahead of Fastify. Whatever is not plain, or would be refused before it is read,
 * goes on to Fastify untouched.
 * @returns whether it is answered, or will be
 */
export function createNodeDoor(endpoints: Endpoints, host: DoorHost) {
  const { lifecycle, addressOf } = host

  return function answerHot(message: IncomingMessage, response: ServerResponse): boolean {
    const found = endpoints.find(message.method!, message.url!)
    if (!found || lifecycle.phase !== 'ready') return false
    const { endpoint, asked } = found
    const { route } = endpoint
    const { headers } = message
    if (hasContentFields(message)) return false
    const length = lengthOf(headers['content-length'], headers['transfer-encoding'])
    if (length === undefined || !takesBody(route, length, headers['content-type'])) return false
    if (endpoint.refusal(message, asked)) return false
    const startedAt = performance.now()
    const { fields = [], refusal } = host.limits?.take(headers, addressOf(message.socket.remoteAddress, headers)) ?? {}
    const exchange = { message, response, id: host.idOf(headers), startedAt, limits: fields }
    if (refusal) answerOnNode(host, endpoint, asked, exchange, asReply(refusal))
    else if (length === 0) answerOnNode(host, endpoint, asked, exchange)
    else {
      readBody(message, length, host, (body) => {
        if (body) answerOnNode(host, endpoint, asked, { ...exchange, body })
        else answerOnNode(host, endpoint, asked, exchange, endpoint.fault(memoryFull(), exchange.id))
      })
    }
    return true
  }
}

/** The length of a body, in bytes; nothing where it is not known before it has come. */
function lengthOf(length: string | undefined, transferEncoding: string | undefined): number | undefined {
  if (transferEncoding !== undefined) return undefined
  return length === undefined ? 0 : Number(length)
}

/**
 * Reads a body of a known length: `end` would come a turn later than its last piece. Who leaves before that gets no
 * answer, and Node's own time-outs cut who is too slow.
 */
function readBody(message: IncomingMessage, length: number, { budget }: DoorHost, done: (body?: Buffer) => void): void {
  const body = new BodyBuffer(() => holdOf(message, budget), length)
  message.on('data', function onData(piece: Buffer) {
    if (!body.add(piece)) {
      message.off('data', onData).resume()
      releaseHold(message)
      done()
    } else if (body.length === length) done(body.bytes)
  })
}
