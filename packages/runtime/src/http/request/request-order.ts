import { AsyncLocalStorage } from 'node:async_hooks'
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { getPendingReply } from './in-flight.ts'

/** Number of unanswered requests of one connection at which the server stops reading the connection. */
const MAX_UNANSWERED = 64

/** On a socket, the order of its requests while several are unanswered. */
const ORDER = Symbol('request order')

interface OrderedSocket extends Socket {
  /** Node's flag for a connection that is not read. Without it, the parser resumes the socket at each request. */
  _paused?: boolean
  /** Node's parser. Node pauses it together with the socket. */
  parser?: { resume(): void } | null
  [ORDER]?: RequestOrder | undefined
}

interface HeldRequest {
  readonly response: ServerResponse
  readonly isUnsafe: boolean
  start(): void
}

/** True if the connection ends with a reply. The server must not execute later requests (RFC 9112, 9.6). */
export const isLast = (response: ServerResponse) => (response as { _last?: boolean })._last === true

/** The requests of one connection: an unsafe one runs alone, safe ones run concurrently (RFC 9112, 9.3.2). */
class RequestOrder {
  readonly #socket: OrderedSocket
  readonly #running = new Set<ServerResponse>()
  readonly #held: HeldRequest[] = []
  #isUnsafeRunning = false
  #isAdvancing = false
  #isPaused = false
  #isClosed = false

  /** @param first the pending reply of the connection */
  constructor(socket: OrderedSocket, first: ServerResponse | undefined, isUnsafe: boolean) {
    this.#socket = socket
    if (!first) return
    if (first.writableEnded) this.#isClosed = isLast(first)
    else this.#run(first, isUnsafe)
  }

  /** Starts a request, or holds it until the earlier requests are answered. */
  add(request: HeldRequest): void {
    if (this.#isClosed) return
    this.#held.push(request)
    this.#startNext()
    if (this.#unanswered >= MAX_UNANSWERED) this.#pause()
  }

  finish(response: ServerResponse): void {
    if (!this.#running.delete(response)) return
    if (isLast(response)) this.close()
    this.#startNext()
    if (this.#unanswered <= MAX_UNANSWERED / 2) this.#resume()
    if (this.#unanswered === 0 && !this.#isClosed) this.#socket[ORDER] = undefined
  }

  /** Discards the requests that have not started, and all later ones. */
  close(): void {
    this.#isClosed = true
    this.#held.length = 0
    this.#resume()
  }

  get #unanswered(): number {
    return this.#running.size + this.#held.length
  }

  #run(response: ServerResponse, isUnsafe: boolean): void {
    this.#running.add(response)
    this.#isUnsafeRunning = isUnsafe
  }

  #startNext(): void {
    // A request that is answered at once calls `#startNext` again.
    if (this.#isAdvancing) return
    this.#isAdvancing = true
    for (let [next] = this.#held; next && this.#canStart(next); [next] = this.#held) {
      this.#held.shift()
      this.#run(next.response, next.isUnsafe)
      next.start()
    }
    this.#isAdvancing = false
  }

  #canStart({ isUnsafe }: HeldRequest): boolean {
    if (!this.#socket.writable) return false
    return this.#running.size === 0 || !(isUnsafe || this.#isUnsafeRunning)
  }

  #pause(): void {
    this.#isPaused = true
    this.#socket._paused = true
    this.#socket.pause()
  }

  #resume(): void {
    if (!this.#isPaused) return
    this.#isPaused = this.#socket._paused = false
    this.#socket.parser?.resume()
    this.#socket.resume()
  }
}

/**
 * Calls a listener of `request` in the order of the requests of each connection. A request without unanswered earlier
 * requests costs only a few property reads.
 */
export function withRequestOrder(
  listener: RequestListener,
  isUnsafe: (message: IncomingMessage) => boolean,
): RequestListener {
  return (message, response) => {
    const socket = message.socket as OrderedSocket
    // The server has ended the connection with the previous reply.
    if (!socket.writable) return
    // Node assigns the socket only to the reply that it sends next. So all earlier requests are answered.
    if (response.socket) return listener(message, response)
    const first = getPendingReply(socket)
    socket[ORDER] ??= new RequestOrder(socket, first, first !== undefined && isUnsafe(first.req))
    // A held request must not start in the trace of the previous request.
    const start = AsyncLocalStorage.bind(() => listener(message, response))
    socket[ORDER].add({ response, isUnsafe: isUnsafe(message), start })
  }
}

/**
 * Discards the requests after a stream, which has no end. The socket is still read, so that it reports a disconnect of
 * the client.
 */
export function skipLaterRequests(response: ServerResponse): void {
  ;(response.req.socket as OrderedSocket)[ORDER]?.close()
}

/** Call this when a reply is complete. The next request of its connection may then start. */
export function finishRequest(response: ServerResponse): void {
  ;(response.req.socket as OrderedSocket)[ORDER]?.finish(response)
}
