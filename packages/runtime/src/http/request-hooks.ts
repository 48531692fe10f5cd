import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { performance } from 'node:perf_hooks'
import type { AdapterHost } from '../server/endpoint.ts'
import type { AuditChange } from '../server/hot-route.ts'
import type { RouteMetrics } from '../metrics/request-metrics.ts'
import { runInTrace, createTrace, type Trace } from '../trace.ts'
import type { RouteQueue } from './load-shedding.ts'
import { isConditional, shouldRefuseConditions } from './conditions.ts'
import { checkContent } from './content-check.ts'
import { commonErrors, createOverloaded } from './common-errors.ts'
import type { Access } from './request-guard.ts'
import { isExpectingContinue } from './expect-continue.ts'
import type { Problem } from './problems.ts'
import { describeValidationError, type SchemaValidator } from './validation.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Who may call the route; by default `read` for GET and HEAD, `change` for the rest. */
    access?: Access
    /** Fastify is not to refuse it in an overload: what is open to all, and what is judged where it is answered. */
    skipsShedding?: boolean
    /** Content codings that the route decodes in addition to `identity`. Default: none. */
    contentEncodings?: readonly string[]
    /** True if the route evaluates `If-Match` and `If-None-Match`. Default: see `refusesConditions`. */
    isConditional?: boolean
    /** What a request counts as where requests are limited: one, unless it is dear. */
    cost?: number
    /** Asked again and again by machines: never logged. */
    isQuiet?: boolean
    /** The route's figures: the runtime's own. */
    metrics?: RouteMetrics
    /** Its requests that are being answered: the runtime's own. */
    queue?: RouteQueue | undefined
  }
  interface FastifyRequest {
    /** When the head was received (ms, `performance.now()`). */
    startedAt: number
    /** Where the reply is counted, unless somebody else does. */
    metrics: RouteMetrics | undefined
    /** What it is known by. */
    trace: Trace
    /** What the reply tells of limits: names and values in turn. The runtime's own. */
    limits: readonly string[]
    /** What it took away or replaced: a line in the log once it is done. A DELETE has one anyway. */
    audit: AuditChange | undefined
  }
  interface FastifyListenOptions {
    /** Lets several threads listen on one port (Linux). Fastify hands it on to Node; its type lacks it. */
    reusePort?: boolean
  }
}

const NO_FIELDS: readonly string[] = []

/** What is done for every request that Fastify answers: who may ask, and how often; figures, log, audit. */
export function addRequestHooks(app: FastifyInstance, host: AdapterHost, unmatched: RouteMetrics): void {
  const { loadShedder, guard, lifecycle, limits, requestLog, tracer } = host
  app.decorateRequest('startedAt', 0)
  app.decorateRequest('metrics', undefined)
  app.decorateRequest('limits', null as never)
  app.decorateRequest('audit', undefined)
  app.decorateRequest('trace', null as never)

  const getClientAddress = ({ socket, headers }: FastifyRequest) => host.getClientAddress(socket.remoteAddress, headers)

  /** Why one of too many requests is not answered. */
  function checkLimits(request: FastifyRequest, reply: FastifyReply): Problem | undefined {
    if (!limits) return undefined
    const { fields, refusal: refused } = limits.take(
      request.headers,
      getClientAddress(request),
      request.routeOptions.config?.cost,
    )
    request.limits = fields
    for (let i = 0; i < fields.length; i += 2) reply.header(fields[i]!, fields[i + 1]!)
    return refused
  }

  app.addHook('onRequest', (request, reply, done) => {
    request.startedAt = performance.now()
    request.limits = NO_FIELDS
    const { headers, id } = request
    request.trace = tracer?.startRequest(headers, id) ?? createTrace(headers, id)
    if (request.is404) {
      request.metrics = unmatched
      // It counts, and costs no more than a refusal.
      checkLimits(request, reply)
      return done()
    }
    const { access, metrics, queue } = request.routeOptions.config
    request.metrics = metrics
    reply.header('x-request-id', request.id)
    if (access !== 'open') {
      if (lifecycle.phase === 'draining') return done(commonErrors.DRAINING())
      const refused = checkLimits(request, reply)
      if (refused) return done(refused)
    }
    const fault =
      guard.check(request.raw, request.method === 'OPTIONS' ? 'host' : access!) ??
      checkContent(request.raw, request.routeOptions.config.contentEncodings) ??
      checkConditions(request) ??
      (isExpectingContinue(request.raw) ? validateHead(request) : undefined)
    if (fault || !queue) return done(fault)
    if (!loadShedder.canAccept(request.startedAt) || !queue.hasCapacity()) return done(createOverloaded())
    queue.add()
    // Whether it was answered or its client left.
    reply.raw.once('close', () => queue.finish(reply.raw.writableFinished && reply.statusCode !== 503, request))
    done()
  })
  // Not sooner: a body comes as a part of its connection.
  app.addHook('preHandler', (request, _reply, done) => {
    const { queue } = request.routeOptions.config
    if (!queue) return runInTrace(request.trace, done)
    queue.start(request, (isTaken) => (isTaken ? runInTrace(request.trace, done) : done(createOverloaded())))
  })
  app.addHook('onResponse', (request, reply, done) => {
    const { metrics, startedAt, method, routeOptions, trace } = request
    if (!metrics) return done()
    const { statusCode: status } = reply
    metrics.observe(status, (performance.now() - startedAt) / 1_000)
    const { url: route = '(unmatched)', config: { isQuiet } = {} } = routeOptions
    const change = status < 300 ? getAuditChange(request) : undefined
    if (isQuiet && !change) return done()
    const address = getClientAddress(request)
    if (change) host.audit({ ...change, by: guard.describeBearer(request.headers), address, route, trace })
    if (isQuiet) return done()
    requestLog.writeRequest?.({ method, route, status, startedAt, address, trace })
    tracer?.endRequest(trace, { method, route, status, startedAt })
    done()
  })
}

const checkConditions = ({ method, headers, routeOptions: { config } }: FastifyRequest): Problem | undefined =>
  isConditional(headers) && shouldRefuseConditions(method, config) ? commonErrors.CONDITION_UNSUPPORTED() : undefined

/** Checks of the head that Fastify does only after it has read the body. */
function validateHead(request: FastifyRequest): Problem | undefined {
  for (const part of ['params', 'querystring'] as const) {
    const validate = request.getValidationFunction(part) as SchemaValidator | undefined
    if (validate && !validate(part === 'params' ? request.params : request.query))
      return commonErrors.VALIDATION_FAILED(describeValidationError(validate.errors![0]!, part))
  }
  return undefined
}

/** What an answered request took away or replaced. */
function getAuditChange({ audit, method, params }: FastifyRequest): AuditChange | undefined {
  if (audit || method !== 'DELETE') return audit
  const named = Object.values((params ?? {}) as Record<string, string>)
  return named.length > 0 ? { change: 'delete', what: named.join(' ') } : undefined
}
