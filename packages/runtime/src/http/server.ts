import type { FastifyServerFactory } from 'fastify'
import type { IncomingMessage, RequestListener, Server, ServerOptions } from 'node:http'
import type { DoorHost, Endpoints } from '../door/endpoint.ts'
import { createNodeDoor } from '../door/node-door.ts'
import { installRawDoor } from '../door/raw-door.ts'
import { limitConnections } from '../limits/connection-limit.ts'
import type { RouteMetrics } from '../metrics/metrics.ts'
import type { AppHost } from '../service.ts'
import type { KeyPair } from '../tls/certificate.ts'
import { errors } from './errors.ts'
import { continueWhenRead } from './expect-continue.ts'
import { replyClass } from './last-reply.ts'
import { endWithProblem, type ProblemFormat } from './problem-replies.ts'
import { PROBLEM_TYPE } from './problems.ts'
import { inRequestOrder } from './request-order.ts'

const CHECK_CONNECTIONS_EVERY = 500

/** Makes the HTTP server that listens, with the door that the configuration names before Fastify. */
export function serverFactory(
  { config, certificate, registry }: Pick<AppHost, 'config' | 'certificate' | 'registry'>,
  endpoints: Endpoints,
  host: DoorHost,
): FastifyServerFactory {
  return (handler) => {
    const server = createServer(certificate, {
      ServerResponse: replyClass(host.lifecycle, config.sendTimeout),
      keepAliveTimeout: config.keepAliveTimeout,
      requestTimeout: config.requestTimeout,
      // Below 60 s Node cuts a slow body at the larger of the two time-outs.
      headersTimeout: Math.min(config.headersTimeout, config.requestTimeout),
      // Node answers a missing Host and an unknown expectation itself, not as a problem: both are ours.
      requireHostHeader: false,
      connectionsCheckingInterval: CHECK_CONNECTIONS_EVERY,
      highWaterMark: config.maxWriteBuffer,
      handshakeTimeout: config.headersTimeout,
    })
    server.maxConnections = config.maxConnections
    const isUnsafe = (message: IncomingMessage) => endpoints.isUnsafe(message.method!, message.url!)
    if (config.server === 'fastify' || endpoints.all.length === 0)
      server.on('request', inRequestOrder(handler, isUnsafe))
    else {
      const answerHot = createNodeDoor(endpoints, host)
      const answer: RequestListener = (message, response) => {
        if (!answerHot(message, response)) handler(message, response)
      }
      server.on('request', inRequestOrder(answer, isUnsafe))
      if (config.server === 'raw') installRawDoor(server, endpoints, host, config)
    }
    limitConnections(server, config, registry)
    return server
  }
}

function createServer(certificate: KeyPair | undefined, options: ServerOptions & { handshakeTimeout: number }): Server {
  // Not imported by name: an ESM import of node:http runs its lazy getters, which load 10 MB of WebSocket.
  if (!certificate) return process.getBuiltinModule('node:http').createServer(options)
  const { createServer: createSecure } = process.getBuiltinModule('node:https')
  const server = createSecure({ ...options, ...certificate, allowHalfOpen: true } as object)
  // Who does not speak TLS could not read a reply.
  server.removeAllListeners('tlsClientError')
  return server.on('tlsClientError', (_error, socket) => socket.destroy())
}

/** Answers what Node would answer without a problem, or not at all. @param figures of what no route is asked for */
export function answerOddRequests(server: Server, figures: RouteMetrics, format?: ProblemFormat): void {
  continueWhenRead(server)
  server.on('checkExpectation', (request, response) => {
    const problem = errors.EXPECTATION_FAILED()
    const body = problem.body()
    const headers = { 'content-type': PROBLEM_TYPE, 'content-length': Buffer.byteLength(body), connection: 'close' }
    response.writeHead(problem.status, headers).end(body)
    request.resume()
  })
  // Node would end the connection without a word. Nothing here takes CONNECT, so nothing is allowed.
  server.on('connect', async (_request, socket) => {
    // Node no longer looks after it.
    socket.on('error', () => socket.destroy())
    const problem = errors.METHOD_NOT_ALLOWED(undefined, { headers: { allow: '' } })
    const status = await endWithProblem(socket, problem, format)
    if (status) figures.observe(status, 0)
  })
}
