import type { FastifyContentTypeParser, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { createBytesParser } from './bytes-parser.ts'
import { isExpectingContinue } from '../request/expect-continue.ts'
import type { ReplyObserver } from './request-hooks.ts'
import { runInTrace } from '../../trace.ts'
import type { AdapterHost, Endpoint, Endpoints } from './endpoint.ts'
import { replyOnNode } from './node-adapter.ts'

/** Registers the hot routes with Fastify, which answers all requests that the other server adapters pass on. */
export async function registerHotRoutes(
  app: FastifyInstance,
  endpoints: Endpoints,
  host: AdapterHost,
  observeReply: ReplyObserver,
): Promise<void> {
  for (const endpoint of endpoints.all)
    await app.register(async (scope) => registerHotRoute(scope, endpoint, host, observeReply))
}

function registerHotRoute(
  app: FastifyInstance,
  endpoint: Endpoint,
  host: AdapterHost,
  observeReply: ReplyObserver,
): void {
  const { route, access } = endpoint
  const { method, url, schema, validatorCompiler, body } = route
  if (body || method !== 'GET') {
    app.removeAllContentTypeParsers()
    app.addContentTypeParser(body?.type ?? '*', body ? createBytesParser(body, host.budget) : ignoreBody)
  }
  /** Parses the target of a request, and checks a token in it. @throws Problem */
  function readHead(request: FastifyRequest): unknown {
    const query = route.read(request)
    const refused = route.getToken && endpoint.checkAccess(request.raw, query)
    if (refused) throw refused
    return query
  }
  function checkHead(request: FastifyRequest, _reply: FastifyReply, done: (error?: Error) => void): void {
    const refused = route.hasServiceToken && !route.getToken && endpoint.checkAccess(request.raw)
    if (refused) return done(refused)
    // The client sends the body only if the head is valid.
    if (isExpectingContinue(request.raw)) readHead(request)
    done()
  }
  app.route({
    method,
    url,
    schema,
    ...(validatorCompiler && { validatorCompiler }),
    exposeHeadRoute: method === 'GET' && route.head !== false,
    // The endpoint evaluates or refuses conditions. It checks a token of the query once the query is parsed.
    config: {
      access: route.getToken || route.hasServiceToken ? 'host' : access,
      skipsShedding: true,
      isHot: true,
      contentEncodings: body?.acceptsGzip ? ['gzip'] : [],
      isConditional: true,
    },
    // A GET needs this hook only for a token of the service: the body of a GET is never read.
    ...((method !== 'GET' || route.hasServiceToken) && { onRequest: checkHead }),
    handler(request, reply) {
      const query = readHead(request)
      const served = route.serve && runInTrace(request.trace, () => route.serve!(query, request, reply))
      if (served) {
        observeReply(request, reply)
        return served
      }
      reply.hijack()
      replyOnNode(host, endpoint, query, {
        message: request.raw,
        response: reply.raw,
        body: request.body as Buffer | undefined,
        id: request.id,
        startedAt: takeStartTime(request),
        limits: request.limits,
        trace: request.trace,
      })
    },
  })
}

/**
 * Parser for routes without a body. It accepts any media type, because some clients send one without a body. A GET
 * needs no parser: Fastify ignores its media type.
 */
const ignoreBody: FastifyContentTypeParser = (_request, _payload, done) => done(null)

/**
 * Returns the time when a request arrived, and excludes it from Fastify's metrics. The endpoint counts the requests
 * that it answers. Fastify counts only those that were refused before.
 */
function takeStartTime(request: FastifyRequest): number {
  request.metrics = undefined
  return request.startedAt
}
