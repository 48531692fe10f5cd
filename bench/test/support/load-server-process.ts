import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getValue } from '../../src/load/requests/kv-entries.ts'

/** Entry of a server with a behavior per path. With `stalling` it stops for the first second of every five. */
const { createServer } = process.getBuiltinModule('node:http')

type RouteHandler = (request: IncomingMessage, response: ServerResponse) => void

const counts: Record<string, number> = {}
const later = (delay: number, route: RouteHandler): RouteHandler => {
  return (request, response) => void setTimeout(() => route(request, response), delay)
}
const reply = (status: number, body: string): RouteHandler => {
  return (_, response) => response.writeHead(status, { 'content-length': Buffer.byteLength(body) }).end(body)
}
const raw = (text: string): RouteHandler => {
  return ({ socket }) => void socket.end(text)
}

/** The usual reply takes 2 ms, so that a closed loop of a few connections leaves both processors to others. */
const routes: Record<string, RouteHandler> = {
  '/a': later(2, reply(200, 'value a')),
  '/b': later(2, reply(200, 'value b')),
  '/empty': later(2, (_, response) => response.writeHead(204).end()),
  '/failing': later(2, reply(500, 'value a')),
  '/slow': later(50, reply(200, 'value a')),
  '/slower': later(500, reply(200, 'value a')),
  '/chunked': later(2, (_, response) => {
    response.write('val')
    setImmediate(() => {
      response.write('ue ')
      setImmediate(() => response.end('a'))
    })
  }),
  '/echo': (request, response) => {
    let body = ''
    request.on('data', (text) => (body += text))
    request.on('end', () => later(2, reply(request.method === 'PUT' ? 201 : 405, body))(request, response))
  },
  '/closing': later(2, (_, response) => response.writeHead(200, { connection: 'close' }).end('value a')),
  '/cut': later(2, raw('HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\nval')),
  '/cut-at-once': later(2, ({ socket }) => void socket.destroy()),
  '/malformed': later(2, raw('no such protocol\r\n\r\n')),
  '/hanging': () => {},
  // Reads are correct only below 1,000.
  '/v0/entity': (request, response) => {
    const id = Number(new URL(request.url!, 'http://localhost').searchParams.get('id'))
    if (request.method === 'GET') return later(2, reply(200, getValue(id < 1_000 ? id : id + 1)))(request, response)
    let length = 0
    request.on('data', (bytes) => (length += bytes.length))
    request.on('end', () => later(2, reply(length >= 100 && length <= 200 ? 201 : 400, ''))(request, response))
  },
  '/counts': (request, response) => reply(200, JSON.stringify(counts))(request, response),
}

const server = createServer((request, response) => {
  const path = request.url!
  if (path !== '/counts') counts[path] = (counts[path] ?? 0) + 1
  const route = routes[path] ?? routes[path.split('?')[0]!]
  route!(request, response)
})
server.listen(0, '127.0.0.1', () => process.send!((server.address() as AddressInfo).port))
process.once('disconnect', () => process.exit())

if (process.argv[2] === 'stalling') {
  // The first pause comes while its clients run, and not at the edge of their window.
  const start = performance.now() + 1500
  const cell = new Int32Array(new SharedArrayBuffer(4))
  // Uses the clock, so that the cycle neither drifts nor depends on timers.
  const stall = (cycle: number): void => {
    const begin = start + cycle * 5000
    Atomics.wait(cell, 0, 0, Math.max(0, begin + 1000 - performance.now()))
    setTimeout(stall, begin + 5000 - performance.now(), cycle + 1)
  }
  setTimeout(stall, 1500, 0)
}
