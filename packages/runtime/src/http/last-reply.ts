import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { releaseHold } from '../memory/budget.ts'
import type { Lifecycle } from '../service.ts'

// Not imported by name: an ESM import of node:http runs its lazy getters, which load 10 MB of WebSocket.
const http = process.getBuiltinModule('node:http')

/** On a socket, the reply to the last request that has come, as long as that has not been sent. */
const LAST = Symbol('last reply')

interface Connection extends Duplex {
  [LAST]?: ServerResponse | undefined
}

/**
 * Makes the replies of a server. In a drain the last one that a connection waits for says `Connection: close`: with one
 * that says so Node ends the connection, and whatever was to be answered behind it would be lost.
 */
export function replyClass(lifecycle: Lifecycle): typeof ServerResponse {
  return class Reply extends http.ServerResponse {
    constructor(...args: [IncomingMessage]) {
      super(...args)
      ;(args[0].socket as Connection)[LAST] = this
    }

    override writeHead(...args: unknown[]): this {
      if (lifecycle.phase === 'draining' && (this.req.socket as Connection)[LAST] === this) this.shouldKeepAlive = false
      return Reflect.apply(super.writeHead, this, args) as this
    }

    override detachSocket(socket: Connection & never): void {
      super.detachSocket(socket)
      const connection: Connection = socket
      if (connection[LAST] === this) connection[LAST] = undefined
      releaseHold(this.req)
    }
  } as never
}
