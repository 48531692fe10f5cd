import type { FastifyServerFactory } from 'fastify'
import type { IncomingMessage, RequestListener, Server, ServerOptions } from 'node:http'
import type { AdapterHost, Endpoints } from '../server/endpoint.ts'
import { createNodeAdapter } from '../server/node-adapter.ts'
import { installRawAdapter } from '../server/raw-adapter.ts'
import { limitConnections } from '../../limits/connection-limit.ts'
import type { RouteMetrics } from '../../metrics/request-metrics.ts'
import type { AppHost } from './app-host.ts'
import type { KeyPair } from '../../tls/certificate.ts'
import { formatReceived } from '../../received-value.ts'
import { commonErrors } from '../../errors/common-errors.ts'
import { sendContinueOnRead } from '../request/expect-continue.ts'
import { createResponseClass } from '../replies/draining-response.ts'
import { endWithProblem, type ProblemFormat } from '../replies/problem-replies.ts'
import { PROBLEM_TYPE } from '../../errors/problems.ts'
import { withRequestOrder } from '../request/request-order.ts'

const CONNECTION_CHECK_INTERVAL_MS = 500

/** Returns the function that creates Fastify's HTTP server, with the configured server adapter ahead of Fastify. */
export function createServerFactory(
  { config, certificate, registry }: Pick<AppHost, 'config' | 'certificate' | 'registry'>,
  endpoints: Endpoints,
  host: AdapterHost,
): FastifyServerFactory {
  return (handler) => {
    const server = createServer(certificate, {
      ServerResponse: createResponseClass(host.lifecycle, config.sendTimeout),
      keepAliveTimeout: config.keepAliveTimeout,
      requestTimeout: config.requestTimeout,
      // Node throws if `headersTimeout` is larger than `requestTimeout`.
      headersTimeout: Math.min(config.headersTimeout, config.requestTimeout),
      // Node itself would answer a missing `Host`, without a problem body. The guard checks it instead.
      requireHostHeader: false,
      connectionsCheckingInterval: CONNECTION_CHECK_INTERVAL_MS,
      highWaterMark: config.maxWriteBuffer,
      handshakeTimeout: config.headersTimeout,
    })
    server.maxConnections = config.maxConnections
    const isUnsafe = (message: IncomingMessage) => endpoints.isUnsafe(message.method!, message.url!)
    if (config.server === 'fastify' || endpoints.all.length === 0)
      server.on('request', withRequestOrder(handler, isUnsafe))
    else {
      const handleHot = createNodeAdapter(endpoints, host)
      const handleRequest: RequestListener = (message, response) => {
        if (!handleHot(message, response)) handler(message, response)
      }
      server.on('request', withRequestOrder(handleRequest, isUnsafe))
      if (config.server === 'raw') installRawAdapter(server, endpoints, host, config)
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
  // A client that does not speak TLS could not read a reply.
  server.removeAllListeners('tlsClientError')
  return server.on('tlsClientError', (_error, socket) => socket.destroy())
}

/**
 * Answers requests that Node would answer without a problem body, or not at all.
 * @param metrics counts the CONNECT requests
 */
export function handleOddRequests(server: Server, metrics: RouteMetrics, format?: ProblemFormat): void {
  sendContinueOnRead(server)
  server.on('checkExpectation', (request, response) => {
    const received = formatReceived(request.headers.expect)
    const problem = commonErrors.EXPECTATION_FAILED(`Expect must be 100-continue; received ${received}`)
    const body = problem.toBody()
    const headers = { 'content-type': PROBLEM_TYPE, 'content-length': Buffer.byteLength(body), connection: 'close' }
    response.writeHead(problem.status, headers).end(body)
    request.resume()
  })
  // Node would close the connection without a reply. No route accepts CONNECT, so `Allow` is empty.
  server.on('connect', async (_request, socket) => {
    // Node no longer handles errors of this socket.
    socket.on('error', () => socket.destroy())
    const problem = commonErrors.METHOD_NOT_ALLOWED(undefined, { headers: { allow: '' } })
    const status = await endWithProblem(socket, problem, format)
    if (status) metrics.observe(status, 0)
  })
}
