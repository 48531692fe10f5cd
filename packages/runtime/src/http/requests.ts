import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { performance } from 'node:perf_hooks'
import type { DoorHost } from '../door/endpoint.ts'
import type { Change } from '../door/hot-route.ts'
import type { RouteMetrics } from '../metrics/metrics.ts'
import { inTrace, traceOf, type Trace } from '../trace.ts'
import type { Line } from './admission.ts'
import { isConditional, refusesConditions } from './conditions.ts'
import { contentFault } from './content-fault.ts'
import { errors, overloaded } from './errors.ts'
import type { Access } from './guard.ts'
import { expectsContinue } from './expect-continue.ts'
import type { Problem } from './problems.ts'
import { misfitText, type Fits } from './validation.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Who may call the route; by default `read` for GET and HEAD, `change` for the rest. */
    access?: Access
    /** Fastify is not to refuse it in an overload: what is open to all, and what is judged where it is answered. */
    isTaken?: boolean
    /** Content codings that the route decodes in addition to `identity`. Default: none. */
    contentEncodings?: readonly string[]
    /** True if the route evaluates `If-Match` and `If-None-Match`. Default: see `refusesConditions`. */
    isConditional?: boolean
    /** What a request counts as where requests are limited: one, unless it is dear. */
    cost?: number
    /** Asked again and again by machines: never logged. */
    isQuiet?: boolean
    /** The route's figures: the runtime's own. */
    figures?: RouteMetrics
    /** Its requests that are being answered: the runtime's own. */
    line?: Line | undefined
  }
  interface FastifyRequest {
    /** When the head was received (ms, `performance.now()`). */
    startedAt: number
    /** Where the reply is counted, unless somebody else does. */
    figures: RouteMetrics | undefined
    /** What it is known by. */
    trace: Trace
    /** What the reply tells of limits: names and values in turn. The runtime's own. */
    limits: readonly string[]
    /** What it took away or replaced: a line in the log once it is done. A DELETE has one anyway. */
    audit: Change | undefined
  }
  interface FastifyListenOptions {
    /** Lets several threads listen on one port (Linux). Fastify hands it on to Node; its type lacks it. */
    reusePort?: boolean
  }
}

const NO_FIELDS: readonly string[] = []

/** What is done for every request that Fastify answers: who may ask, and how often; figures, log, audit. */
export function lookAfterRequests(app: FastifyInstance, host: DoorHost, unmatched: RouteMetrics): void {
  const { admission, guard, lifecycle, limits, requestLog, tracer } = host
  app.decorateRequest('startedAt', 0)
  app.decorateRequest('figures', undefined)
  app.decorateRequest('limits', null as never)
  app.decorateRequest('audit', undefined)
  app.decorateRequest('trace', null as never)

  const addressOf = ({ socket, headers }: FastifyRequest) => host.addressOf(socket.remoteAddress, headers)

  /** Why one of too many requests is not answered. */
  function refusal(request: FastifyRequest, reply: FastifyReply): Problem | undefined {
    if (!limits) return undefined
    const { fields, refusal: refused } = limits.take(
      request.headers,
      addressOf(request),
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
    request.trace = tracer?.begin(headers, id) ?? traceOf(headers, id)
    if (request.is404) {
      request.figures = unmatched
      // It counts, and costs no more than a refusal.
      refusal(request, reply)
      return done()
    }
    const { access, figures, line } = request.routeOptions.config
    request.figures = figures
    reply.header('x-request-id', request.id)
    if (access !== 'open') {
      if (lifecycle.phase === 'draining') return done(errors.DRAINING())
      const refused = refusal(request, reply)
      if (refused) return done(refused)
    }
    const fault =
      guard.check(request.raw, request.method === 'OPTIONS' ? 'host' : access!) ??
      contentFault(request.raw, request.routeOptions.config.contentEncodings) ??
      conditionFault(request) ??
      (expectsContinue(request.raw) ? headMisfit(request) : undefined)
    if (fault || !line) return done(fault)
    if (!admission.takes(request.startedAt) || !line.hasRoom()) return done(overloaded())
    line.begun()
    // Whether it was answered or its client left.
    reply.raw.once('close', () => line.ended(reply.raw.writableFinished && reply.statusCode !== 503, request))
    done()
  })
  // Not sooner: a body comes as a part of its connection.
  app.addHook('preHandler', (request, _reply, done) => {
    const { line } = request.routeOptions.config
    if (!line) return inTrace(request.trace, done)
    line.enter(request, (isTaken) => (isTaken ? inTrace(request.trace, done) : done(overloaded())))
  })
  app.addHook('onResponse', (request, reply, done) => {
    const { figures, startedAt, method, routeOptions, trace } = request
    if (!figures) return done()
    const { statusCode: status } = reply
    figures.observe(status, (performance.now() - startedAt) / 1_000)
    const { url: route = '(unmatched)', config: { isQuiet } = {} } = routeOptions
    const change = status < 300 ? changeOf(request) : undefined
    if (isQuiet && !change) return done()
    const address = addressOf(request)
    if (change) host.audit({ ...change, by: guard.bearer(request.headers), address, route, trace })
    if (isQuiet) return done()
    requestLog.others?.({ method, route, status, startedAt, address, trace })
    tracer?.ended(trace, { method, route, status, startedAt })
    done()
  })
}

const conditionFault = ({ method, headers, routeOptions: { config } }: FastifyRequest): Problem | undefined =>
  isConditional(headers) && refusesConditions(method, config) ? errors.CONDITION_UNSUPPORTED() : undefined

/** Checks of the head that Fastify does only after it has read the body. */
function headMisfit(request: FastifyRequest): Problem | undefined {
  for (const part of ['params', 'querystring'] as const) {
    const fits = request.getValidationFunction(part) as Fits | undefined
    if (fits && !fits(part === 'params' ? request.params : request.query))
      return errors.VALIDATION_FAILED(misfitText(fits.errors![0]!, part))
  }
  return undefined
}

/** What an answered request took away or replaced. */
function changeOf({ audit, method, params }: FastifyRequest): Change | undefined {
  if (audit || method !== 'DELETE') return audit
  const named = Object.values((params ?? {}) as Record<string, string>)
  return named.length > 0 ? { change: 'delete', what: named.join(' ') } : undefined
}
