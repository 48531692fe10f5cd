import type { JsonSchemaToTsProvider } from '@fastify/type-provider-json-schema-to-ts'
import Fastify, {
  type FastifyContentTypeParser,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type FastifyServerOptions,
} from 'fastify'
import type { ContentTypeParserDoneFunction } from 'fastify/types/content-type-parser.js'
import { describeJsonError } from '../../received-value.ts'
import { createBytesParser } from '../server/bytes-parser.ts'
import { Endpoints, type AdapterHost } from '../server/endpoint.ts'
import { registerHotRoutes } from '../server/fastify-adapter.ts'
import type { HotRoute } from '../hot-route.ts'
import { createRateLimits } from '../../limits/rate-limits.ts'
import type { DataHealth } from '../../level/write-health.ts'
import type { WriteReadiness } from '../write-readiness.ts'
import type { Budget } from '../../memory/budget.ts'
import { createFaultCounter, RequestMetrics } from '../../metrics/request-metrics.ts'
import { registerDataMetrics } from '../../level/data-metrics.ts'
import type { AppHost } from './app-host.ts'
import { parseRequestId, runInTrace } from '../../trace.ts'
import { startLoadShedding } from '../request/load-shedding.ts'
import { createAudit } from '../request/audit.ts'
import { createClientAddressResolver } from '../request/client-address.ts'
import { commonErrors } from '../../errors/common-errors.ts'
import { CORS_EXPOSED_FIELDS, createRequestGuard } from '../request/request-guard.ts'
import { systemRoutes } from './system-routes.ts'
import { indexPage } from './index-page.ts'
import { listAllowedMethods, type RegisteredRoute } from '../request/allowed-methods.ts'
import type { ApiDescription } from './api-description.ts'
import { openApi } from './openapi.ts'
import {
  reportFault,
  sendParserProblem,
  sendProblem,
  toProblem,
  toRequestProblem,
  type ProblemFormat,
} from '../replies/problem-replies.ts'
import { createRequestLog } from '../request/request-log.ts'
import { addRequestHooks } from '../server/request-hooks.ts'
import { handleOddRequests, createServerFactory } from './http-server.ts'
import { describeValidationError, type ValidationError } from '../../schema/validation-errors.ts'
import { createSerializer, createValidator } from '../../schema/validation.ts'

/** The app that services get: schemas are JSON Schema, and handlers have their types. */
export type App = FastifyInstance<any, any, any, any, JsonSchemaToTsProvider>

export interface AppOptions extends ApiDescription {
  /** Formats the problems of some paths differently. */
  readonly problemFormat?: ProblemFormat
  /**
   * Replaces Fastify's parser of query strings, which takes 5 % of the time of a cheap request. For a service that
   * parses query strings itself.
   */
  readonly querystringParser?: (text: string) => Record<string, unknown>
  /**
   * State of the data. While the data is damaged, or not all writes are accepted, `/readyz` fails, although the service
   * serves requests.
   */
  readonly data?: DataHealth | undefined
  /** Readiness for writes, if they depend on another system: see `/readyz`. Default: writes are as ready as reads. */
  readonly writes?: WriteReadiness | undefined
  /** True if the service registers a page at `/`. */
  readonly hasPage?: boolean
  /** Responds to an unknown path with a page; `undefined` if the client does not accept one. */
  readonly notFoundPage?: (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply> | undefined
  /** Hot routes. The server adapters `raw` and `node-http` answer their plain requests without Fastify. */
  readonly hotRoutes?: readonly HotRoute[]
}

// Maximum length of a parameter of a path (characters). No request reaches it, because Node allows 16 KiB for a whole
// head. So only the schema of the route refuses a parameter that is too long.
const MAX_PARAM_LENGTH = 65_536
// Time for which browsers may cache a preflight (s). They repeat it after two hours at the latest.
const CORS_MAX_AGE_S = 7_200
const CORS_METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']

interface SchemaPart {
  readonly schema: object
  readonly httpPart?: string
}

// Replaces Fastify's own compilers, because Fastify loads their code at the start. The cast is necessary, because
// Fastify's types require more of a validator than Fastify uses.
const compilersFactory = {
  buildValidator: () => (part: SchemaPart) => createValidator(part.schema, part.httpPart),
  buildSerializer: () => (part: SchemaPart) => createSerializer(part.schema),
} as unknown as NonNullable<NonNullable<FastifyServerOptions['schemaController']>['compilersFactory']>

/**
 * Creates the Fastify instance that every service shares: limits, timeouts, guard, metrics, errors, health, OpenAPI.
 */
export async function createApp(host: AppHost, options: AppOptions): Promise<App> {
  const { config, lifecycle, log, budget } = host
  const guard = createRequestGuard(config)
  const requests = new RequestMetrics(host.registry)
  const getRequestId = createRequestIds()
  const requestLog = createRequestLog(log, config)
  const faults = createFaultCounter(host.registry)
  if (options.writes?.getReadFault()) lifecycle.whenReadable = options.writes.waitUntilReadable()
  if (options.data) registerDataMetrics(options.data, host.registry)
  const { loadShedder, stop } = startLoadShedding(config.maxQueueDelay)
  const adapterHost: AdapterHost = {
    guard,
    lifecycle,
    requests,
    log,
    faults,
    data: options.data,
    writes: options.writes,
    budget,
    loadShedder,
    requestLog,
    audit: createAudit(log),
    limits: createRateLimits(host.limits, config),
    getClientAddress: createClientAddressResolver(config.trustProxy),
    tracer: host.tracer,
    getRequestId,
  }
  const endpoints = new Endpoints(options.hotRoutes ?? [], adapterHost)
  const parserErrors = requests.getRoute('-', '(unparsable)')
  const unmatched = requests.getRoute('-', '(unmatched)')

  const app = Fastify({
    logger: false,
    bodyLimit: config.bodyLimit,
    routerOptions: {
      maxParamLength: MAX_PARAM_LENGTH,
      ...(options.querystringParser && { querystringParser: options.querystringParser }),
    },
    return503OnClosing: false,
    genReqId: ({ headers }) => getRequestId(headers),
    requestIdHeader: false,
    schemaController: { compilersFactory },
    schemaErrorFormatter: (errors, part) => new Error(describeValidationError(errors as ValidationError[], part)),
    serverFactory: createServerFactory(host, endpoints, adapterHost),
    async clientErrorHandler(error, socket) {
      const status = await sendParserProblem(error, socket, options.problemFormat)
      if (status) parserErrors.observe(status, 0)
    },
    frameworkErrors(error, request, reply) {
      sendProblem(reply as never, toProblem(error), request.raw.url ?? '', options.problemFormat)
    },
  }).withTypeProvider<JsonSchemaToTsProvider>()

  // The same app, as functions take it that need no types of schemas.
  const untyped = app as unknown as FastifyInstance
  handleOddRequests(app.server, parserErrors, options.problemFormat)
  app.addHook('onClose', async () => stop())
  app.removeContentTypeParser(['text/plain', 'application/json'])
  app.addContentTypeParser('application/json', createJsonParser(untyped, config.bodyLimit, budget))
  const registeredRoutes: RegisteredRoute[] = []
  app.addHook('onRoute', (route) => {
    const method = String(route.method)
    const access = route.config?.access ?? (method === 'GET' || method === 'HEAD' ? 'read' : 'change')
    if (method === 'HEAD' && access === 'change')
      throw new Error(`${route.url} changes state: set exposeHeadRoute: false`)
    if (method === 'GET' && access === 'change') endpoints.unsafeGets.add(route.url)
    // Excludes the preflight route of CORS, which matches every path.
    if (route.url !== '*')
      registeredRoutes.push({ method, url: route.url, isForbidden: route.config?.isForbidden === true })
    const skipsShedding = access === 'open' || route.config?.skipsShedding
    const queue = skipsShedding ? undefined : loadShedder.createFastifyQueue(access)
    const isQuiet = access === 'open' || route.url === '/metrics'
    route.config = { ...route.config, access, isQuiet, metrics: requests.getRoute(method, route.url), queue }
  })

  // These hooks are added before those of CORS, which would answer a preflight for any host.
  const observeReply = addRequestHooks(untyped, adapterHost, unmatched)

  app.setErrorHandler((error, request, reply) => {
    // An invalid body does not matter to a request without a route.
    if (request.is404) return replyUnmatched(request, reply)
    if (request.routeOptions.config.isHot) observeReply(request, reply)
    const problem = toRequestProblem(error, request)
    reportFault(adapterHost, error, problem, request.id)
    return sendProblem(reply, problem, request.url, options.problemFormat)
  })

  function replyUnmatched(request: FastifyRequest, reply: FastifyReply): FastifyReply | Promise<FastifyReply> {
    reply.header('x-request-id', request.id)
    const allow = listAllowedMethods(registeredRoutes, request.url)
    const problem =
      guard.check(request.raw, 'host') ??
      (allow.length > 0
        ? commonErrors.METHOD_NOT_ALLOWED(undefined, { headers: { allow: allow.join(', ') } })
        : commonErrors.NOT_FOUND())
    const page = problem.code === 'NOT_FOUND' ? options.notFoundPage?.(request, reply) : undefined
    if (page) return page
    return sendProblem(reply, problem, request.url, options.problemFormat)
  }
  app.setNotFoundHandler({ preHandler: (request, _reply, done) => runInTrace(request.trace, done) }, replyUnmatched)

  if (config.corsOrigins.length > 0)
    await app.register(import('@fastify/cors'), {
      origin: config.corsOrigins,
      credentials: true,
      methods: CORS_METHODS,
      exposedHeaders: CORS_EXPOSED_FIELDS,
      maxAge: CORS_MAX_AGE_S,
    })
  await app.register(openApi, options)
  if (!options.hasPage) await app.register(indexPage, options)
  await app.register(systemRoutes, {
    ...host,
    getFault: options.data?.getFault,
    writes: options.writes,
    source: options.source,
  })
  await registerHotRoutes(untyped, endpoints, adapterHost, observeReply)
  return app as unknown as App
}

/** Creates a parser like Fastify's own, but the bytes of each body count in the client memory limit. */
function createJsonParser(app: FastifyInstance, limit: number, budget: Budget): FastifyContentTypeParser {
  const read = createBytesParser({ limit, tooLarge: commonErrors.BODY_TOO_LARGE }, budget)
  const parse = app.getDefaultJsonParser('error', 'error')
  const parseJson = (request: FastifyRequest, text: string, done: ContentTypeParserDoneFunction) =>
    parse(request, text, (error, value) =>
      error ? done(commonErrors.BAD_JSON(describeJsonError(text, 'body'))) : done(null, value),
    )
  return (request, payload, done) =>
    read(request, payload, (error, body?: Buffer) =>
      error || request.is404 ? done(error) : parseJson(request, body?.toString() ?? '', done),
    )
}

/**
 * Creates a function that returns the id that the client gave its request, or a new short id. A new id is unique in
 * this thread, and unlikely to repeat in another thread or process.
 */
function createRequestIds(): AdapterHost['getRequestId'] {
  const prefix = `${Math.random().toString(36).slice(2, 8)}-`
  let last = 0
  return (headers) => parseRequestId(headers) ?? prefix + (++last).toString(36)
}
