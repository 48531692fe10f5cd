import type { FastifyServerFactory } from 'fastify'
import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import type { Manners } from './app.ts'
import { readHead, type RawHead } from './raw-head.ts'

// Not imported by name: an ESM import of node:http runs its lazy getters, which load 10 MB of WebSocket.
const { createServer } = process.getBuiltinModule('node:http')

export interface RawListenerOptions {
  /** What a request must begin with to be looked at, `GET /wait` for instance. */
  readonly prefix: string
  /**
   * Makes what answers. It returns whether it has taken the connection, for good and with all of the guard's manners;
   * a request that it would refuse is not its own: Fastify makes every error reply.
   */
  answerer(manners: Manners): (head: RawHead, socket: Socket) => boolean
}

// A connection that says nothing goes to Node's server, whose time-outs end it.
const SILENT_FOR = 1_000

/**
 * A server that looks at the first bytes of every connection before Node's HTTP parser does: what is exactly one whole
 * request that the service answers itself never costs a parser, a request and a reply object (16 KB a stream). All other
 * connections go on unread. It is one `http.Server`, so listening, draining, time-outs and counting connections hold.
 */
export function rawListener({ prefix, answerer }: RawListenerOptions): (manners: Manners) => FastifyServerFactory {
  const start = Buffer.from(prefix)
  return (manners) => (handler, options) => {
    const answer = answerer(manners)
    const { http, ...rest } = options as { http?: object }
    const server = createServer({ ...rest, ...http }, handler)
    const next = server.listeners('connection') as ((this: Server, socket: Socket) => void)[]
    server.removeAllListeners('connection')

    const silent = new Map<Socket, number>()
    const sweep = setInterval(() => {
      const before = performance.now() - SILENT_FOR
      for (const [socket, since] of silent) {
        if (since > before) break
        handOn(socket)
      }
    }, SILENT_FOR / 2).unref()
    server.once('close', () => clearInterval(sweep))

    function handOn(socket: Socket, chunk?: Buffer): void {
      release(socket)
      socket.off('error', ignore)
      socket.off('end', destroy)
      socket.pause()
      if (chunk) socket.unshift(chunk)
      for (const listener of next) Reflect.apply(listener, server, [socket])
      socket.resume()
    }

    function release(socket: Socket): void {
      silent.delete(socket)
      socket.off('data', onFirst)
      socket.off('close', onClose)
    }

    // Shared by all sockets, so that a connection costs no closure.
    function onFirst(this: Socket, chunk: Buffer): void {
      const head = chunk.subarray(0, start.length).equals(start) ? readHead(chunk) : undefined
      if (head && answer(head, this)) release(this)
      else handOn(this, chunk)
    }
    function onClose(this: Socket): void {
      silent.delete(this)
    }

    server.on('connection', (socket) => {
      silent.set(socket, performance.now())
      socket.on('error', ignore)
      socket.on('end', destroy)
      socket.on('close', onClose)
      socket.on('data', onFirst)
    })
    return server
  }
}

function ignore(): void {}

function destroy(this: Socket): void {
  this.destroy()
}
