import type { FastifyContentTypeParser, FastifyInstance, FastifyRequest } from 'fastify'
import { bytesParser } from './bytes-parser.ts'
import { expectsContinue } from '../http/expect-continue.ts'
import type { DoorHost, Endpoint, Endpoints } from './endpoint.ts'
import { answerOnNode } from './node-door.ts'

/** Registers the hot routes with Fastify, which answers whatever the doors ahead of it leave to it. */
export async function registerHotRoutes(app: FastifyInstance, endpoints: Endpoints, host: DoorHost): Promise<void> {
  for (const endpoint of endpoints.all) await app.register(async (scope) => registerHotRoute(scope, endpoint, host))
}

function registerHotRoute(app: FastifyInstance, endpoint: Endpoint, host: DoorHost): void {
  const { route, access } = endpoint
  const { method, url, schema, validatorCompiler, body } = route
  if (body || method !== 'GET') {
    app.removeAllContentTypeParsers()
    app.addContentTypeParser(body?.type ?? '*', body ? bytesParser(body, host.budget) : ignoreBody)
  }
  /** @throws Problem */
  function readHead(request: FastifyRequest): unknown {
    const asked = route.read(request)
    const refused = route.token && endpoint.refusal(request.raw, asked)
    if (refused) throw refused
    return asked
  }
  app.route({
    method,
    url,
    schema,
    ...(validatorCompiler && { validatorCompiler }),
    exposeHeadRoute: method === 'GET' && route.head !== false,
    // The endpoint evaluates or refuses conditions. It checks a token of the query once the query is parsed.
    config: { access: route.token || route.judges ? 'host' : access, isTaken: true, isConditional: true },
    onRequest(request, _reply, done) {
      const refused = route.judges && !route.token && endpoint.refusal(request.raw)
      if (refused) return done(refused)
      // Its client sends the body only if the head is right.
      if (expectsContinue(request.raw)) readHead(request)
      done()
    },
    handler(request, reply) {
      const asked = readHead(request)
      const served = route.serve?.(asked, request, reply)
      if (served) return served
      reply.hijack()
      answerOnNode(host, endpoint, asked, {
        message: request.raw,
        response: reply.raw,
        body: request.body as Buffer | undefined,
        id: request.id,
        startedAt: takeFigures(request),
        limits: request.limits,
        trace: request.trace,
      })
    },
  })
}

/** Clients send a type with nothing, too: a route that takes no body does not look at it, as none that reads does. */
const ignoreBody: FastifyContentTypeParser = (_request, _payload, done) => done(null)

/** The endpoint keeps the figures of what it answers; Fastify those of what was refused before. */
function takeFigures(request: FastifyRequest): number {
  request.figures = undefined
  return request.startedAt
}
