import type { JsonSchemaToTsProvider } from '@fastify/type-provider-json-schema-to-ts'
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyServerFactory } from 'fastify'
import { performance } from 'node:perf_hooks'
import { createGuard, type Access, type Guard } from './guard.ts'
import { houseRoutes } from './house-routes.ts'
import { errors } from './errors.ts'
import { RequestMetrics, type RouteMetrics } from '../metrics/metrics.ts'
import { openApi } from './openapi.ts'
import { endWithProblem, sendParserProblem, sendProblem, toProblem, type ProblemFormat } from './problem-replies.ts'
import { PROBLEM_TYPE } from './problems.ts'
import { validatorOf } from './validation.ts'
import { allowedMethods, type KnownRoute } from './known-routes.ts'
import type { AppHost, Lifecycle } from '../service.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Who may call the route; by default `read` for GET and HEAD, `change` for the rest. */
    access?: Access
    /**
     * The handler records its successful replies with `app.figuresOf` itself. For the hottest routes alone: Fastify's
     * onResponse hook costs 1 us a request.
     */
    selfMeasured?: boolean
  }
  interface FastifyInstance {
    /** The figures of a registered route. */
    figuresOf(method: string, url: string): RouteMetrics
  }
  interface FastifyRequest {
    /** When the head was received (ms, `performance.now()`). */
    startedAt: number
  }
  interface FastifyListenOptions {
    /** Lets several threads listen on one port (Linux). Fastify hands it on to Node; its type lacks it. */
    reusePort?: boolean
  }
}

/** An app as services see it: schemas are JSON Schema, and handlers are typed by them. */
export type App = FastifyInstance<any, any, any, any, JsonSchemaToTsProvider>

/** What a hook or a request handler ahead of Fastify needs to keep the house's manners. */
export interface Manners {
  readonly guard: Guard
  readonly lifecycle: Lifecycle
  nextRequestId(): string
  /** The figures of a route that Fastify does not see. */
  route(method: string, route: string): RouteMetrics
}

export interface AppOptions {
  /** For the OpenAPI document. */
  readonly title: string
  readonly description: string
  /** Another shape for the problems of some paths. */
  readonly problemFormat?: ProblemFormat
  /** In place of Fastify's parser, which takes 5 % of a cheap request: for a service that reads query strings itself. */
  readonly querystringParser?: (text: string) => Record<string, unknown>
  /** A server of the service's own; gets the manners it has to keep. */
  readonly serverFactory?: (manners: Manners) => FastifyServerFactory
}

// Far above the 16 KiB that Node allows a whole head: a long parameter is for the route's schema to refuse.
const MAX_PARAM_LENGTH = 65_536
const CHECK_CONNECTIONS_EVERY = 500
const CORS_METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE']

/** Makes the Fastify instance that every service shares: limits, time-outs, guard, metrics, errors, health, OpenAPI. */
export async function createApp(host: AppHost, options: AppOptions): Promise<App> {
  const { config, lifecycle, log } = host
  const guard = createGuard(config)
  const requests = new RequestMetrics(host.registry)
  const nextRequestId = createRequestIds()
  const manners: Manners = { guard, lifecycle, nextRequestId, route: (method, route) => requests.route(method, route) }
  const parserErrors = requests.route('-', '(unparsable)')

  const app = Fastify({
    logger: false,
    bodyLimit: config.bodyLimit,
    keepAliveTimeout: config.keepAliveTimeout,
    requestTimeout: config.requestTimeout,
    routerOptions: {
      maxParamLength: MAX_PARAM_LENGTH,
      ...(options.querystringParser && { querystringParser: options.querystringParser }),
    },
    // Node answers a missing Host and an unknown expectation itself, not as a problem: both are ours.
    http: { requireHostHeader: false, connectionsCheckingInterval: CHECK_CONNECTIONS_EVERY },
    return503OnClosing: false,
    genReqId: nextRequestId,
    requestIdHeader: false,
    serverFactory: options.serverFactory && withNodeOptions(options.serverFactory(manners)),
    async clientErrorHandler(error, socket) {
      const status = await sendParserProblem(error, socket, options.problemFormat)
      if (status) parserErrors.observe(status, 0)
    },
    frameworkErrors(error, request, reply) {
      sendProblem(reply as never, toProblem(error), request.raw.url ?? '', options.problemFormat)
    },
  }).withTypeProvider<JsonSchemaToTsProvider>()

  // Below 60 s Node cuts a slow body at the larger of the two time-outs.
  app.server.headersTimeout = Math.min(config.headersTimeout, config.requestTimeout)
  app.server.on('checkExpectation', (request, response) => {
    const problem = errors.EXPECTATION_FAILED()
    const body = problem.body()
    const headers = { 'content-type': PROBLEM_TYPE, 'content-length': Buffer.byteLength(body), connection: 'close' }
    response.writeHead(problem.status, headers).end(body)
    request.resume()
  })
  // Node would end the connection without a word. Nothing here takes CONNECT, so nothing is allowed.
  app.server.on('connect', (_request, socket) => {
    const problem = errors.METHOD_NOT_ALLOWED(undefined, { headers: { allow: '' } })
    parserErrors.observe(endWithProblem(socket, problem, options.problemFormat), 0)
  })
  app.setValidatorCompiler(({ schema, httpPart }) => validatorOf(schema as object, httpPart))
  app.removeContentTypeParser('text/plain')
  app.decorateRequest('startedAt', 0)

  const figuresByRoute = new Map<string, RouteMetrics>()
  app.decorate('figuresOf', (method, url) => figuresByRoute.get(`${method} ${url}`)!)
  const known: KnownRoute[] = []
  const houseHooks = new WeakSet<object>()
  app.addHook('onRoute', (route) => {
    const method = String(route.method)
    const access = route.config?.access ?? (method === 'GET' || method === 'HEAD' ? 'read' : 'change')
    if (method === 'HEAD' && access === 'change')
      throw new Error(`${route.url} changes state: give it exposeHeadRoute: false`)
    // Not the preflight route of CORS, which is at every path.
    if (route.url !== '*') known.push({ method, url: route.url })
    const figures = requests.route(method, route.url)
    figuresByRoute.set(`${method} ${route.url}`, figures)
    // Fastify derives a HEAD route from the GET one, hooks included: those of the house are replaced, not doubled.
    const own = (hooks: unknown) => [hooks ?? []].flat().filter((hook) => !houseHooks.has(hook as object)) as never[]
    route.onRequest = [admit(access), ...own(route.onRequest)]
    houseHooks.add(route.onRequest[0]!)
    if (route.config?.selfMeasured) return
    route.onResponse = [...own(route.onResponse), measure(figures)]
    houseHooks.add(route.onResponse.at(-1)!)
  })

  function admit(access: Access) {
    return function onRequest(request: any, reply: any, done: (error?: Error) => void): void {
      request.startedAt = performance.now()
      reply.header('x-request-id', request.id)
      if (lifecycle.phase === 'draining') {
        reply.header('connection', 'close')
        if (access !== 'open') return done(errors.DRAINING())
      }
      done(guard.check(request.headers, access))
    }
  }

  app.setErrorHandler((error, request, reply) => {
    // A body that cannot be parsed matters only where it is wanted.
    if (request.is404) return replyUnmatched(request, reply)
    const problem = toProblem(error)
    const { method, url = '', config: routeConfig } = request.routeOptions
    if (routeConfig.selfMeasured) app.figuresOf(String(method), url).observe(problem.status, since(request))
    if (problem.status >= 500 && problem.status !== 503)
      log.error({ err: error, requestId: request.id }, 'request failed')
    return sendProblem(reply, problem, request.url, options.problemFormat)
  })

  const unmatched = requests.route('-', '(unmatched)')
  function replyUnmatched(request: any, reply: any): FastifyReply {
    reply.header('x-request-id', request.id)
    const allow = allowedMethods(known, request.url)
    const problem =
      guard.check(request.headers, 'open') ??
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
    })
  await app.register(openApi, options)
  await app.register(houseRoutes, host)
  return app as unknown as App
}

/** Time since the head was received (s). */
export const since = (request: { startedAt: number }): number => (performance.now() - request.startedAt) / 1000

/** Fastify leaves it to the factory to pass `http` on to Node. */
const withNodeOptions =
  (factory: FastifyServerFactory): FastifyServerFactory =>
  (handler, options) =>
    factory(handler, { ...options, ...(options.http as object) })

function measure(figures: RouteMetrics) {
  return function onResponse(request: any, reply: any, done: () => void): void {
    figures.observe(reply.statusCode, since(request))
    done()
  }
}

/** Short ids, unique in this process's life and unlikely to repeat in another's. */
function createRequestIds(): () => string {
  const prefix = `${Math.random().toString(36).slice(2, 8)}-`
  let last = 0
  return () => prefix + (++last).toString(36)
}
