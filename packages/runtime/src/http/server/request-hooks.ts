import type { FastifyContextConfig, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { performance } from 'node:perf_hooks'
import type { AdapterHost } from './endpoint.ts'
import type { AuditChange } from '../hot-route.ts'
import type { RouteMetrics } from '../../metrics/request-metrics.ts'
import { runInTrace, createTrace, type Trace } from '../../trace.ts'
import type { RouteQueue } from '../request/load-shedding.ts'
import { isConditional, shouldRefuseConditions } from '../request/conditions.ts'
import { checkContent } from '../request/content-check.ts'
import { commonErrors, createOverloaded } from '../../errors/common-errors.ts'
import type { Access } from '../../net/request.ts'
import { isExpectingContinue } from '../request/expect-continue.ts'
import type { Problem } from '../../errors/problems.ts'
import { describeValidationError } from '../../schema/validation-errors.ts'
import type { SchemaValidator } from '../../schema/validation.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * Effect of the route on the state of the service. Default: `read` for GET and HEAD, `change` for other methods.
     */
    access?: Access
    /** True if the token of a connector suffices for the change. */
    acceptsConnector?: boolean
    /** True for a route that describes the service instead of its data. It responds although there is no data yet. */
    describesService?: boolean
    /** True if Fastify sheds no load for the route. */
    skipsShedding?: boolean
    /** True for a route that only refuses its method. Set by `allowOnly`. */
    isForbidden?: boolean
    /** True for a hot route. Its endpoint sheds load and runs in the trace itself. */
    isHot?: boolean
    /** Content codings that the route decodes in addition to `identity`. Default: none. */
    contentEncodings?: readonly string[]
    /** Media types of the body, if the schema of the body does not list them. Default: `application/json`. */
    mediaTypes?: readonly string[]
    /** True if the route evaluates `If-Match` and `If-None-Match`. Default: see `shouldRefuseConditions`. */
    isConditional?: boolean
    /** Cost of a request in the rate limit. Default: 1. */
    cost?: number
    /**
     * True for a route that programs poll, such as a probe. Its requests are neither logged nor traced. Set by the
     * runtime.
     */
    isQuiet?: boolean
    /** Metrics of the route. Set by the runtime. */
    metrics?: RouteMetrics
    /** Requests of the route in flight. Set by the runtime. */
    queue?: RouteQueue | undefined
  }
  interface FastifyRequest {
    /** Time when the head arrived (ms, `performance.now()`). */
    startedAt: number
    /** Metrics that count the reply. Undefined if another component counts it. */
    metrics: RouteMetrics | undefined
    /** Ids of the request, for logs and for calls to other services. */
    trace: Trace
    /** Header fields of the rate limits in the reply: names and values alternate. Set by the runtime. */
    limits: readonly string[]
    /**
     * Set by a route whose request must get a line in the audit log, for example because it deletes, replaces or
     * exports data. The line follows a reply with success. A DELETE whose path has parameters gets a line by default.
     */
    audit: AuditChange | undefined
  }
  interface FastifyListenOptions {
    /** Lets several threads listen on one port (Linux). Fastify passes it to Node, but its type lacks it. */
    reusePort?: boolean
  }
}

const NO_FIELDS: readonly string[] = []

/** Observes the replies of Fastify: metrics, request log, audit. */
export type ReplyObserver = (request: FastifyRequest, reply: FastifyReply) => void

/**
 * Adds the hooks for every request that Fastify answers: guard, rate limits, metrics, request log, audit. Returns the
 * function that observes a reply to a request of a hot route: only the endpoint knows if Fastify sends the reply.
 */
export function addRequestHooks(app: FastifyInstance, host: AdapterHost, unmatched: RouteMetrics): ReplyObserver {
  const { loadShedder, guard, lifecycle, limits, requestLog, tracer } = host
  app.decorateRequest('startedAt', 0)
  app.decorateRequest('metrics', undefined)
  app.decorateRequest('limits', null as never)
  app.decorateRequest('audit', undefined)
  app.decorateRequest('trace', null as never)

  const getClientAddress = ({ socket, headers }: FastifyRequest) => host.getClientAddress(socket.remoteAddress, headers)

  /** Returns the reason to refuse a request that exceeds a rate limit. */
  function checkLimits(request: FastifyRequest, reply: FastifyReply, cost?: number): Problem | undefined {
    if (!limits) return undefined
    const { fields, refusal } = limits.take(request.headers, getClientAddress(request), cost)
    request.limits = fields
    for (let i = 0; i < fields.length; i += 2) reply.header(fields[i]!, fields[i + 1]!)
    return refusal
  }

  app.addHook('onRequest', (request, reply, done) => {
    request.startedAt = performance.now()
    request.limits = NO_FIELDS
    const { headers, id } = request
    request.trace = tracer?.startRequest(headers, id) ?? createTrace(headers, id)
    if (request.is404) {
      request.metrics = unmatched
      observe(request, reply)
      // The request is counted but not refused, because its reply costs no more than a refusal.
      checkLimits(request, reply)
      return done()
    }
    const { config } = request.routeOptions
    const { access, metrics, queue, isHot } = config
    request.metrics = metrics
    if (!isHot) observe(request, reply)
    reply.header('x-request-id', request.id)
    if (access !== 'open') {
      // Also while it stops: a client that resumes a stream would take an empty history for a loss.
      const readFault = lifecycle.whenReadable && !config.describesService ? host.writes!.getReadFault() : undefined
      if (readFault) return done(readFault)
      const refusal = checkLimits(request, reply, config.cost)
      if (refusal) return done(refusal)
    }
    const fault =
      guard.check(request.raw, request.method === 'OPTIONS' ? 'host' : access!, undefined, config.acceptsConnector) ??
      checkContent(request.raw, config.contentEncodings) ??
      checkConditions(request, config) ??
      (isExpectingContinue(request.raw) ? validateHead(request) : undefined)
    if (fault || !queue) return done(fault)
    if (!loadShedder.canAccept(request.startedAt) || !queue.hasCapacity()) return done(createOverloaded())
    queue.add()
    // `close` follows a complete reply, and also the disconnect of a client.
    reply.raw.once('close', () => queue.finish(reply.raw.writableFinished && reply.statusCode !== 503, request))
    done()
  })
  // The queue may start a request only after its body has arrived, because the time that a body takes depends on the
  // client's connection.
  function startRequest(request: FastifyRequest, _reply: FastifyReply, done: (error?: Error) => void): void {
    const { queue } = request.routeOptions.config
    if (!queue) return runInTrace(request.trace, done)
    queue.start(request, (isAccepted) => (isAccepted ? runInTrace(request.trace, done) : done(createOverloaded())))
  }
  // Hot routes have only the `onRequest` hook above, because every hook adds time to each of their requests.
  app.addHook('onRoute', (route) => {
    const others = [route.preHandler ?? []].flat()
    // Fastify derives a HEAD route from a GET route and its hooks.
    if (!route.config?.isHot && !others.includes(startRequest)) route.preHandler = [startRequest, ...others]
  })

  /** Observes a reply when it is sent. */
  const observe: ReplyObserver = (request, reply) => void reply.raw.once('finish', () => observeSent(request, reply))

  function observeSent(request: FastifyRequest, reply: FastifyReply): void {
    const { metrics, startedAt, method, routeOptions, trace } = request
    if (!metrics) return
    // This function runs twice for a request of a hot route that fails late. Only the first run counts the reply.
    request.metrics = undefined
    const { statusCode: status } = reply
    metrics.observe(status, (performance.now() - startedAt) / 1_000)
    const { url: route = '(unmatched)', config: { isQuiet } = {} } = routeOptions
    const change = status < 300 ? getAuditChange(request) : undefined
    if (isQuiet && !change) return
    const address = getClientAddress(request)
    if (change) host.audit({ ...change, by: guard.describeBearer(request.headers), address, route, trace })
    if (isQuiet) return
    requestLog.writeRequest?.({ method, route, status, startedAt, address, trace })
    tracer?.endRequest(trace, { method, route, status, startedAt })
  }
  return observe
}

const checkConditions = ({ method, headers }: FastifyRequest, config: FastifyContextConfig): Problem | undefined =>
  isConditional(headers) && shouldRefuseConditions(method, config) ? commonErrors.CONDITION_UNSUPPORTED() : undefined

/** Checks the parts of the head that Fastify checks only after it has read the body. */
function validateHead(request: FastifyRequest): Problem | undefined {
  for (const part of ['params', 'querystring'] as const) {
    const validate = request.getValidationFunction(part) as SchemaValidator | undefined
    if (validate && !validate(part === 'params' ? request.params : request.query))
      return commonErrors.VALIDATION_FAILED(describeValidationError(validate.errors!, part))
  }
  return undefined
}

/** Returns the change that a completed request made, for the audit log. Undefined if the request gets no line. */
function getAuditChange({ audit, method, params }: FastifyRequest): AuditChange | undefined {
  if (audit || method !== 'DELETE') return audit
  const named = Object.values((params ?? {}) as Record<string, string>)
  return named.length > 0 ? { change: 'delete', what: named.join(' ') } : undefined
}
