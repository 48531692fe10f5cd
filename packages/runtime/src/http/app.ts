import type { JsonSchemaToTsProvider } from '@fastify/type-provider-json-schema-to-ts'
import Fastify, {
  type FastifyContentTypeParser,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type FastifyServerOptions,
} from 'fastify'
import { bytesParser } from '../door/bytes-parser.ts'
import { Endpoints, type DoorHost } from '../door/endpoint.ts'
import { registerHotRoutes } from '../door/fastify-door.ts'
import type { HotRoute } from '../door/hot-route.ts'
import { createLimits } from '../limits/limits.ts'
import type { DataHealth } from '../level/write-health.ts'
import type { Budget } from '../memory/budget.ts'
import { faultCounter, RequestMetrics } from '../metrics/metrics.ts'
import { reportData } from '../metrics/data-metrics.ts'
import type { AppHost } from '../service.ts'
import { givenId } from '../trace.ts'
import { watchLoop } from './admission.ts'
import { createAudit } from './audit.ts'
import { createAddressOf } from './client-address.ts'
import { errors } from './errors.ts'
import { CORS_EXPOSED, createGuard } from './guard.ts'
import { houseRoutes } from './house-routes.ts'
import { indexPage } from './index-page.ts'
import { allowedMethods, type KnownRoute } from './known-routes.ts'
import { openApi, type Described } from './openapi.ts'
import { reportFault, sendParserProblem, sendProblem, toProblem, type ProblemFormat } from './problem-replies.ts'
import { createRequestLog } from './request-log.ts'
import { lookAfterRequests } from './requests.ts'
import { answerOddRequests, serverFactory } from './server.ts'
import { misfitText, serializerOf, validatorOf, type Misfit } from './validation.ts'

/** An app as services see it: schemas are JSON Schema, and handlers are typed by them. */
export type App = FastifyInstance<any, any, any, any, JsonSchemaToTsProvider>

export interface AppOptions extends Described {
  /** Another shape for the problems of some paths. */
  readonly problemFormat?: ProblemFormat
  /** In place of Fastify's parser, which takes 5 % of a cheap request: for a service that reads query strings itself. */
  readonly querystringParser?: (text: string) => Record<string, unknown>
  /** The health of its data: while these take no changes, or are damaged, the service is not ready although it serves. */
  readonly data?: DataHealth | undefined
  /** Whether the service has a page of its own at `/`. */
  readonly hasPage?: boolean
  /** Responds to an unknown path with a page; `undefined` if the client does not want one. */
  readonly notFoundPage?: (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply> | undefined
  /** The routes that are worth a way past Fastify. */
  readonly hotRoutes?: readonly HotRoute[]
}

// Far above the 16 KiB that Node allows a whole head: a long parameter is for the route's schema to refuse.
const MAX_PARAM_LENGTH = 65_536
// Browsers ask again after two hours at the latest (s).
const CORS_MAX_AGE = 7_200
const CORS_METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']

interface Part {
  readonly schema: object
  readonly httpPart?: string
}

// In place of Fastify's, which load their compilers at once; its types ask for more of a check than it does.
const compilersFactory = {
  buildValidator: () => (part: Part) => validatorOf(part.schema, part.httpPart),
  buildSerializer: () => (part: Part) => serializerOf(part.schema),
} as unknown as NonNullable<NonNullable<FastifyServerOptions['schemaController']>['compilersFactory']>

/** Makes the Fastify instance that every service shares: limits, time-outs, guard, metrics, errors, health, OpenAPI. */
export async function createApp(host: AppHost, options: AppOptions): Promise<App> {
  const { config, lifecycle, log, budget } = host
  const guard = createGuard(config)
  const requests = new RequestMetrics(host.registry)
  const idOf = createRequestIds()
  const requestLog = createRequestLog(log, config)
  const faults = faultCounter(host.registry)
  if (options.data) reportData(options.data, host.registry)
  const { admission, stop } = watchLoop(config.maxQueueDelay)
  const door: DoorHost = {
    guard,
    lifecycle,
    requests,
    log,
    faults,
    data: options.data,
    budget,
    admission,
    requestLog,
    audit: createAudit(log),
    limits: createLimits(host.limits, config),
    addressOf: createAddressOf(config.trustProxy),
    tracer: host.tracer,
    idOf,
  }
  const endpoints = new Endpoints(options.hotRoutes ?? [], door)
  const parserErrors = requests.route('-', '(unparsable)')
  const unmatched = requests.route('-', '(unmatched)')

  const app = Fastify({
    logger: false,
    bodyLimit: config.bodyLimit,
    routerOptions: {
      maxParamLength: MAX_PARAM_LENGTH,
      ...(options.querystringParser && { querystringParser: options.querystringParser }),
    },
    return503OnClosing: false,
    genReqId: ({ headers }) => idOf(headers),
    requestIdHeader: false,
    schemaController: { compilersFactory },
    schemaErrorFormatter: ([first], part) => new Error(misfitText(first as Misfit, part)),
    serverFactory: serverFactory(host, endpoints, door),
    async clientErrorHandler(error, socket) {
      const status = await sendParserProblem(error, socket, options.problemFormat)
      if (status) parserErrors.observe(status, 0)
    },
    frameworkErrors(error, request, reply) {
      sendProblem(reply as never, toProblem(error), request.raw.url ?? '', options.problemFormat)
    },
  }).withTypeProvider<JsonSchemaToTsProvider>()

  answerOddRequests(app.server, parserErrors, options.problemFormat)
  app.addHook('onClose', async () => stop())
  app.removeContentTypeParser(['text/plain', 'application/json'])
  app.addContentTypeParser('application/json', jsonParser(app as unknown as FastifyInstance, config.bodyLimit, budget))
  const known: KnownRoute[] = []
  app.addHook('onRoute', (route) => {
    const method = String(route.method)
    const access = route.config?.access ?? (method === 'GET' || method === 'HEAD' ? 'read' : 'change')
    if (method === 'HEAD' && access === 'change')
      throw new Error(`${route.url} changes state: give it exposeHeadRoute: false`)
    if (method === 'GET' && access === 'change') endpoints.unsafeGets.add(route.url)
    // Not the preflight route of CORS, which is at every path.
    if (route.url !== '*') known.push({ method, url: route.url })
    const isTaken = access === 'open' || route.config?.isTaken
    const line = isTaken ? undefined : admission.lineFor(access)
    const isQuiet = access === 'open' || route.url === '/metrics'
    route.config = { ...route.config, access, isQuiet, figures: requests.route(method, route.url), line }
  })

  // Before CORS, which would answer a preflight whatever host it names.
  lookAfterRequests(app as unknown as FastifyInstance, door, unmatched)

  app.setErrorHandler((error, request, reply) => {
    // A body that cannot be parsed matters only where it is wanted.
    if (request.is404) return replyUnmatched(request, reply)
    const problem = toProblem(error)
    reportFault(door, error, problem, request.id)
    return sendProblem(reply, problem, request.url, options.problemFormat)
  })

  function replyUnmatched(request: FastifyRequest, reply: FastifyReply): FastifyReply | Promise<FastifyReply> {
    reply.header('x-request-id', request.id)
    const allow = allowedMethods(known, request.url)
    const problem =
      guard.check(request.raw, 'host') ??
      (allow.length > 0
        ? errors.METHOD_NOT_ALLOWED(undefined, { headers: { allow: allow.join(', ') } })
        : errors.NOT_FOUND())
    const page = problem.code === 'NOT_FOUND' ? options.notFoundPage?.(request, reply) : undefined
    if (page) return page
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
  await app.register(houseRoutes, { ...host, fault: options.data?.fault, source: options.source })
  await registerHotRoutes(app as unknown as FastifyInstance, endpoints, door)
  return app as unknown as App
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

/** The ids that clients give, or short ones, unique in this process's life and unlikely to repeat in another's. */
function createRequestIds(): DoorHost['idOf'] {
  const prefix = `${Math.random().toString(36).slice(2, 8)}-`
  let last = 0
  return (headers) => givenId(headers) ?? prefix + (++last).toString(36)
}
