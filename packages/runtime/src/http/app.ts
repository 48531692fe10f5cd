import type { JsonSchemaToTsProvider } from '@fastify/type-provider-json-schema-to-ts'
import Fastify, {
  type FastifyContentTypeParser,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type FastifyServerFactory,
} from 'fastify'
import { performance } from 'node:perf_hooks'
import { bytesParser } from '../door/bytes-parser.ts'
import { Endpoints, type DoorHost } from '../door/endpoint.ts'
import { registerHotRoutes } from '../door/fastify-door.ts'
import type { HotRoute } from '../door/hot-route.ts'
import { createNodeDoor, whenFirst } from '../door/node-door.ts'
import { installRawDoor } from '../door/raw-door.ts'
import type { Budget } from '../memory/budget.ts'
import { faultCounter, RequestMetrics, type RouteMetrics } from '../metrics/metrics.ts'
import type { AppHost } from '../service.ts'
import { errors } from './errors.ts'
import { CORS_EXPOSED, createGuard, type Access } from './guard.ts'
import { houseRoutes } from './house-routes.ts'
import { indexPage } from './index-page.ts'
import { allowedMethods, type KnownRoute } from './known-routes.ts'
import { replyClass } from './last-reply.ts'
import { openApi } from './openapi.ts'
import {
  endWithProblem,
  reportFault,
  sendParserProblem,
  sendProblem,
  toProblem,
  type ProblemFormat,
} from './problem-replies.ts'
import { PROBLEM_TYPE, type Problem } from './problems.ts'
import { misfitText, validatorOf, type Misfit } from './validation.ts'

// Not imported by name: an ESM import of node:http runs its lazy getters, which load 10 MB of WebSocket.
const { createServer } = process.getBuiltinModule('node:http')

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Who may call the route; by default `read` for GET and HEAD, `change` for the rest. */
    access?: Access
    /** The route's figures: the runtime's own. */
    figures?: RouteMetrics
  }
  interface FastifyRequest {
    /** When the head was received (ms, `performance.now()`). */
    startedAt: number
    /** Where the reply is counted, unless somebody else does. */
    figures: RouteMetrics | undefined
  }
  interface FastifyListenOptions {
    /** Lets several threads listen on one port (Linux). Fastify hands it on to Node; its type lacks it. */
    reusePort?: boolean
  }
}

/** An app as services see it: schemas are JSON Schema, and handlers are typed by them. */
export type App = FastifyInstance<any, any, any, any, JsonSchemaToTsProvider>

export interface AppOptions {
  /** For the OpenAPI document. */
  readonly title: string
  readonly description: string
  /** Another shape for the problems of some paths. */
  readonly problemFormat?: ProblemFormat
  /** In place of Fastify's parser, which takes 5 % of a cheap request: for a service that reads query strings itself. */
  readonly querystringParser?: (text: string) => Record<string, unknown>
  /** Why the service is not ready although it serves: its data take no changes, say. */
  readonly fault?: () => Problem | undefined
  /** Whether the service has a page of its own at `/`. */
  readonly hasPage?: boolean
  /** The routes that are worth a way past Fastify. */
  readonly hotRoutes?: readonly HotRoute[]
}

// Far above the 16 KiB that Node allows a whole head: a long parameter is for the route's schema to refuse.
const MAX_PARAM_LENGTH = 65_536
const CHECK_CONNECTIONS_EVERY = 500
// Browsers ask again after two hours at the latest (s).
const CORS_MAX_AGE = 7_200
const CORS_METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']

/** Makes the Fastify instance that every service shares: limits, time-outs, guard, metrics, errors, health, OpenAPI. */
export async function createApp(host: AppHost, options: AppOptions): Promise<App> {
  const { config, lifecycle, log, budget } = host
  const guard = createGuard(config)
  const requests = new RequestMetrics(host.registry)
  const nextRequestId = createRequestIds()
  const faults = faultCounter(host.registry)
  const door: DoorHost = { guard, lifecycle, requests, log, faults, budget, nextRequestId }
  const endpoints = new Endpoints(options.hotRoutes ?? [], door)
  const parserErrors = requests.route('-', '(unparsable)')

  const app = Fastify({
    logger: false,
    bodyLimit: config.bodyLimit,
    routerOptions: {
      maxParamLength: MAX_PARAM_LENGTH,
      ...(options.querystringParser && { querystringParser: options.querystringParser }),
    },
    return503OnClosing: false,
    genReqId: nextRequestId,
    requestIdHeader: false,
    schemaErrorFormatter: ([first], part) => new Error(misfitText(first as Misfit, part)),
    serverFactory: serverFactory(config, endpoints, door),
    async clientErrorHandler(error, socket) {
      const status = await sendParserProblem(error, socket, options.problemFormat)
      if (status) parserErrors.observe(status, 0)
    },
    frameworkErrors(error, request, reply) {
      sendProblem(reply as never, toProblem(error), request.raw.url ?? '', options.problemFormat)
    },
  }).withTypeProvider<JsonSchemaToTsProvider>()

  // Behind a reply that is still to come Node would write the head of this one first, and then that it may go on.
  app.server.on('checkContinue', (request, response) =>
    whenFirst(response, () => {
      response.writeContinue()
      app.server.emit('request', request, response)
    }),
  )
  app.server.on('checkExpectation', (request, response) => {
    const problem = errors.EXPECTATION_FAILED()
    const body = problem.body()
    const headers = { 'content-type': PROBLEM_TYPE, 'content-length': Buffer.byteLength(body), connection: 'close' }
    response.writeHead(problem.status, headers).end(body)
    request.resume()
  })
  // Node would end the connection without a word. Nothing here takes CONNECT, so nothing is allowed.
  app.server.on('connect', async (_request, socket) => {
    // Node no longer looks after it.
    socket.on('error', () => socket.destroy())
    const problem = errors.METHOD_NOT_ALLOWED(undefined, { headers: { allow: '' } })
    const status = await endWithProblem(socket, problem, options.problemFormat)
    if (status) parserErrors.observe(status, 0)
  })
  app.setValidatorCompiler(({ schema, httpPart }) => validatorOf(schema as object, httpPart))
  app.removeContentTypeParser(['text/plain', 'application/json'])
  app.addContentTypeParser('application/json', jsonParser(app as unknown as FastifyInstance, config.bodyLimit, budget))
  app.decorateRequest('startedAt', 0)
  app.decorateRequest('figures', undefined)
  const known: KnownRoute[] = []
  app.addHook('onRoute', (route) => {
    const method = String(route.method)
    const access = route.config?.access ?? (method === 'GET' || method === 'HEAD' ? 'read' : 'change')
    if (method === 'HEAD' && access === 'change')
      throw new Error(`${route.url} changes state: give it exposeHeadRoute: false`)
    // Not the preflight route of CORS, which is at every path.
    if (route.url !== '*') known.push({ method, url: route.url })
    route.config = { ...route.config, access, figures: requests.route(method, route.url) }
  })

  // Before CORS, which would answer a preflight whatever host it names.
  app.addHook('onRequest', (request, reply, done) => {
    request.startedAt = performance.now()
    if (request.is404) return done()
    const { access, figures } = request.routeOptions.config
    request.figures = figures
    reply.header('x-request-id', request.id)
    if (lifecycle.phase === 'draining' && access !== 'open') return done(errors.DRAINING())
    done(guard.check(request.raw, request.method === 'OPTIONS' ? 'host' : access!))
  })
  app.addHook('onResponse', (request, reply, done) => {
    request.figures?.observe(reply.statusCode, (performance.now() - request.startedAt) / 1_000)
    done()
  })

  app.setErrorHandler((error, request, reply) => {
    // A body that cannot be parsed matters only where it is wanted.
    if (request.is404) return replyUnmatched(request, reply)
    const problem = toProblem(error)
    reportFault(door, error, problem, request.id)
    return sendProblem(reply, problem, request.url, options.problemFormat)
  })

  const unmatched = requests.route('-', '(unmatched)')
  function replyUnmatched(request: FastifyRequest, reply: FastifyReply): FastifyReply {
    reply.header('x-request-id', request.id)
    const allow = allowedMethods(known, request.url)
    const problem =
      guard.check(request.raw, 'host') ??
      (allow.length > 0
        ? errors.METHOD_NOT_ALLOWED(undefined, { headers: { allow: allow.join(', ') } })
        : errors.NOT_FOUND())
    unmatched.observe(problem.status, 0)
    return sendProblem(reply, problem, request.url, options.problemFormat)
  }
  app.setNotFoundHandler(replyUnmatched)

  if (config.corsOrigins.length > 0)
    await app.register(import('@fastify/cors'), {
      origin: config.corsOrigins,
      credentials: true,
      methods: CORS_METHODS,
      exposedHeaders: CORS_EXPOSED,
      maxAge: CORS_MAX_AGE,
    })
  await app.register(openApi, options)
  if (!options.hasPage) await app.register(indexPage, options)
  await app.register(houseRoutes, { ...host, fault: options.fault })
  await registerHotRoutes(app as unknown as FastifyInstance, endpoints, door)
  return app as unknown as App
}

type ServerSettings = AppHost['config']

/** Makes the HTTP server that listens, with the door that the configuration names before Fastify. */
function serverFactory(config: ServerSettings, endpoints: Endpoints, host: DoorHost): FastifyServerFactory {
  return (handler) => {
    const server = createServer({
      ServerResponse: replyClass(host.lifecycle, config.sendTimeout),
      keepAliveTimeout: config.keepAliveTimeout,
      requestTimeout: config.requestTimeout,
      // Below 60 s Node cuts a slow body at the larger of the two time-outs.
      headersTimeout: Math.min(config.headersTimeout, config.requestTimeout),
      // Node answers a missing Host and an unknown expectation itself, not as a problem: both are ours.
      requireHostHeader: false,
      connectionsCheckingInterval: CHECK_CONNECTIONS_EVERY,
      highWaterMark: config.maxUnread,
    })
    server.maxConnections = config.maxConnections
    if (config.server === 'fastify' || endpoints.all.length === 0) return server.on('request', handler)
    const answerHot = createNodeDoor(endpoints, host)
    server.on('request', (message, response) => void (answerHot(message, response) || handler(message, response)))
    if (config.server === 'raw') installRawDoor(server, endpoints, host, config)
    return server
  }
}

/** As Fastify's own, but its bytes are taken from the budget. */
function jsonParser(app: FastifyInstance, limit: number, budget: Budget): FastifyContentTypeParser {
  const read = bytesParser({ limit, tooLarge: errors.BODY_TOO_LARGE }, budget)
  const parse = app.getDefaultJsonParser('error', 'error')
  return (request, payload, done) =>
    read(request, payload, (error, body?: Buffer) =>
      error || request.is404 ? done(error) : parse(request, body?.toString() ?? '', done),
    )
}

/** Short ids, unique in this process's life and unlikely to repeat in another's. */
function createRequestIds(): () => string {
  const prefix = `${Math.random().toString(36).slice(2, 8)}-`
  let last = 0
  return () => prefix + (++last).toString(36)
}
