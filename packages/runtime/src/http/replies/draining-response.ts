import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { cutStalled } from './cut-stalled.ts'
import type { Duplex } from 'node:stream'
import { releaseHold } from '../../memory/budget.ts'
import type { Lifecycle } from '../lifecycle.ts'
import { isExpectingContinue } from '../request/expect-continue.ts'
import { finishRequest, isLast } from '../request/request-order.ts'
import { lingerOnClose } from './lingering-close.ts'

// Not imported by name: an ESM import of node:http runs its lazy getters, which load 10 MB of WebSocket.
const http = process.getBuiltinModule('node:http')

/** On a socket: the reply to its latest request, until it is sent. */
const LAST_REPLY = Symbol('last reply')

interface ReplySocket extends Duplex {
  [LAST_REPLY]?: ServerResponse | undefined
}

/**
 * Creates the class of a server's replies. A client that receives no bytes for `sendTimeout` (ms) is disconnected.
 * During a drain, only the last pending reply of a connection has `Connection: close`: Node ends the connection after
 * such a reply, so later replies would be lost.
 */
export function createResponseClass(lifecycle: Lifecycle, sendTimeout: number): typeof ServerResponse {
  return class DrainingResponse extends http.ServerResponse {
    constructor(...args: [IncomingMessage]) {
      super(...args)
      ;(args[0].socket as ReplySocket)[LAST_REPLY] = this
    }

    override write(chunk: any, encoding?: any, callback?: any): boolean {
      const acceptsMore = super.write(chunk, encoding, callback)
      this.#watch()
      return acceptsMore
    }

    override end(chunk?: any, encoding?: any, callback?: any): this {
      super.end(chunk, encoding, callback)
      this.#watch()
      finishRequest(this)
      return this
    }

    // Node calls this when all earlier replies are sent. It then writes the output that this reply has collected.
    override assignSocket(socket: Socket): void {
      super.assignSocket(socket)
      this.#watch()
    }

    #watch(): void {
      const { socket, req } = this
      if (socket?.writableNeedDrain) cutStalled(socket, sendTimeout, req)
    }

    override writeHead(status: number, reason?: any, headers?: any): this {
      if (lifecycle.phase === 'draining' && (this.req.socket as ReplySocket)[LAST_REPLY] === this)
        this.shouldKeepAlive = false
      // After a reply instead of `100 Continue`, the client may send the body or the next request. The server cannot
      // distinguish them, so it ends the connection.
      if (isExpectingContinue(this.req)) this.shouldKeepAlive = false
      return super.writeHead(status, reason, headers)
    }

    // Node closes the connection directly afterwards, if this was its last reply.
    override detachSocket(socket: ReplySocket & never): void {
      const { req } = this
      if (!req.complete && isLast(this) && !isExpectingContinue(req)) lingerOnClose(req.socket, req)
      super.detachSocket(socket)
      const connection: ReplySocket = socket
      if (connection[LAST_REPLY] === this) connection[LAST_REPLY] = undefined
      releaseHold(req)
    }
  } as never
}
