import { performance } from 'node:perf_hooks'
import type { LoadShedder, RouteQueue } from '../request/load-shedding.ts'
import type { Audit } from '../request/audit.ts'
import type { ClientAddressResolver } from '../request/client-address.ts'
import { isConditional, shouldRefuseConditions } from '../request/conditions.ts'
import { commonErrors, createOverloaded } from '../../errors/common-errors.ts'
import type { Access } from '../../net/request.ts'
import type { RequestGuard, RequestHead } from '../request/request-guard.ts'
import { reportFault, toProblem, type FaultSinks } from '../replies/problem-replies.ts'
import { formatProblem, type Problem } from '../../errors/problems.ts'
import type { WriteReadiness } from '../write-readiness.ts'
import type { RequestLog } from '../request/request-log.ts'
import type { RateLimits } from '../../limits/rate-limits.ts'
import type { Budget } from '../../memory/budget.ts'
import type { RequestMetrics, RouteMetrics } from '../../metrics/request-metrics.ts'
import type { Lifecycle } from '../lifecycle.ts'
import { runInTrace, isTraced, createTrace } from '../../trace.ts'
import type { Tracer } from '../../tracing/tracer.ts'
import type { AuditChange, HotRequest, HotRoute, BufferedReply, RequestHeaders, StreamReply } from '../hot-route.ts'

/** Parts of the app that the server adapters need. */
export interface AdapterHost extends FaultSinks {
  readonly guard: RequestGuard
  readonly lifecycle: Lifecycle
  readonly requests: RequestMetrics
  readonly budget: Budget
  readonly loadShedder: LoadShedder
  readonly writes: WriteReadiness | undefined
  readonly requestLog: RequestLog
  readonly audit: Audit
  /** `undefined` if no client is limited. */
  readonly limits: RateLimits | undefined
  readonly getClientAddress: ClientAddressResolver
  /** `undefined` if no spans are created. */
  readonly tracer: Tracer | undefined
  /** Returns the client's id for the request, or a new one. */
  getRequestId(headers: RequestHeaders): string
}

export type HotReply = BufferedReply | StreamReply

export const isStream = (answer: HotReply): answer is StreamReply => 'open' in answer

/** Runs a hot route: every result or error of its `answer` becomes a reply. */
export class Endpoint {
  readonly route: HotRoute
  readonly access: Access
  /**
   * True if the route may change state. Each of its requests then runs alone among the requests of its connection. The
   * exception is `isOrdered`.
   */
  readonly isUnsafe: boolean
  /** True if its requests may run at the same time as requests of other ordered routes. See `HotRoute.isOrdered`. */
  readonly isOrdered: boolean
  readonly getClientAddress: ClientAddressResolver
  readonly #host: AdapterHost
  readonly #metrics: RouteMetrics
  readonly #shouldRefuseConditions: boolean
  readonly #headMetrics: RouteMetrics
  readonly #queue: RouteQueue
  // Created once: a refusal must cost less than the refused request.
  readonly #overloadedReply: BufferedReply

  constructor(route: HotRoute, host: AdapterHost) {
    this.route = route
    this.access = route.access ?? (route.method === 'GET' ? 'read' : 'change')
    this.isOrdered = route.isOrdered === true
    this.isUnsafe = this.access === 'change' || (route.method !== 'GET' && this.access !== 'read')
    this.#shouldRefuseConditions = shouldRefuseConditions(route.method, { ...route, access: this.access })
    this.#host = host
    this.getClientAddress = host.getClientAddress
    this.#metrics = host.requests.getRoute(route.method, route.url)
    this.#headMetrics = host.requests.getRoute('HEAD', route.url)
    this.#queue = host.loadShedder.createQueue(this.access === 'change')
    this.#overloadedReply = { ...this.toReply(createOverloaded()), isReused: true }
  }

  /** Returns the reason for a refusal, or `undefined`. @param query the parsed target, if known */
  checkAccess(head: RequestHead, query?: unknown): Problem | undefined {
    const { getToken, hasServiceToken } = this.route
    const problem = this.#host.guard.check(head, this.access, getToken?.(query))
    return problem?.code === commonErrors.UNAUTHORIZED.code && hasServiceToken?.(head.headers) ? undefined : problem
  }

  /**
   * Answers a request. Never throws and never rejects.
   * @param id id of the request, for the log
   * @param startedAt arrival of the request (ms, `performance.now()`)
   */
  answer(query: unknown, request: HotRequest, id: string, startedAt: number): HotReply | Promise<HotReply> {
    const { tracer } = this.#host
    if (tracer) request.trace ??= tracer.startRequest(request.headers, id)
    // Running in a trace costs 0.2 us; an untraced request has no use for it.
    else if (!isTraced(request.headers)) return this.#answer(query, request, id, startedAt)
    return runInTrace(request.trace ?? createTrace(request.headers, id), () =>
      this.#answer(query, request, id, startedAt),
    )
  }

  #answer(query: unknown, request: HotRequest, id: string, startedAt: number): HotReply | Promise<HotReply> {
    const { route } = this
    const queue = (route.shouldQueue?.(query) ?? this.access === 'change') ? this.#queue : undefined
    if (!route.canStream && (!this.#host.loadShedder.canAccept(startedAt) || queue?.hasCapacity() === false))
      return this.#overloadedReply
    try {
      if (this.#shouldRefuseConditions && isConditional(request.headers)) throw commonErrors.CONDITION_UNSUPPORTED()
      const answer = route.answer(query, request)
      if (!(answer instanceof Promise)) return answer
      if (!queue) return answer.catch((error: unknown) => this.toErrorReply(error, id))
      queue.add()
      return answer.then(this.#leaveQueue, (error: unknown) => this.#leaveQueue(this.toErrorReply(error, id)))
    } catch (error) {
      return this.toErrorReply(error, id)
    }
  }

  readonly #leaveQueue = (answer: HotReply): HotReply => {
    this.#queue.finish()
    return answer
  }

  /**
   * Counts, logs and traces an answered request.
   * @param startedAt arrival of the request (ms, `performance.now()`)
   */
  observe(status: number, { query, isHead }: MatchedQuery, id: string, startedAt: number, request: HotRequest): void {
    const metrics = isHead ? this.#headMetrics : this.#metrics
    metrics.observe(status, (performance.now() - startedAt) / 1_000)
    if (this.route.getAuditChange && status < 300) this.#audit(this.route.getAuditChange(query), id, request)
    const { requestLog, tracer } = this.#host
    const { method, url: route } = this.route
    const { trace } = request
    if (tracer && trace) tracer.endRequest(trace, { method: isHead ? 'HEAD' : method, route, status, startedAt })
    requestLog.writeHotRequest?.(() => ({
      method: isHead ? 'HEAD' : method,
      route,
      status,
      startedAt,
      address: request.getAddress(),
      trace: trace ?? createTrace(request.headers, id),
    }))
  }

  #audit(change: AuditChange, id: string, request: HotRequest): void {
    const { guard, audit } = this.#host
    const { headers } = request
    const [by, trace] = [guard.describeBearer(headers), request.trace ?? createTrace(headers, id)]
    audit({ ...change, by, address: request.getAddress(), route: this.route.url, trace })
  }

  /** Converts a problem to a reply. */
  toReply(problem: Problem): BufferedReply {
    const { contentType, body } = this.route.formatProblem?.(problem) ?? formatProblem(problem)
    return { status: problem.status, headers: Object.entries(problem.headers).flat(), type: contentType, body }
  }

  /** Converts an error to a reply, and reports it. */
  toErrorReply(error: unknown, requestId: string): BufferedReply {
    const problem = toProblem(error)
    reportFault(this.#host, error, problem, requestId)
    return this.toReply(problem)
  }
}

/** The parsed request for a hot route. */
export interface MatchedQuery {
  /** The parsed target. */
  readonly query: unknown
  readonly isHead: boolean
}

/** A request that a server adapter may answer. */
export interface EndpointMatch extends MatchedQuery {
  readonly endpoint: Endpoint
}

/** Methods that change no state (RFC 9110, 9.2.1). */
const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE'])

/** The hot routes of a service by method. */
export class Endpoints {
  readonly all: readonly Endpoint[]
  /** Paths of the other routes, answered by Fastify, whose GET changes state. */
  readonly unsafeGets = new Set<string>()
  /** Empty while the service has nothing to read: Fastify then refuses all requests. */
  #byMethod: ReadonlyMap<string, readonly Endpoint[]> = new Map()

  constructor(routes: readonly HotRoute[], host: AdapterHost) {
    this.all = routes.map((route) => new Endpoint(route, host))
    const byMethod = Map.groupBy(this.all, ({ route }) => route.method as string)
    const withHead = this.all.filter(({ route }) => route.method === 'GET' && route.head !== false)
    byMethod.set('HEAD', withHead)
    const { whenReadable } = host.lifecycle
    if (!whenReadable) this.#byMethod = byMethod
    else void whenReadable.then(() => (this.#byMethod = byMethod))
  }

  /**
   * Finds the hot route of a request. `undefined` if no hot route matches, or if the target is not in its usual
   * spelling.
   */
  find(method: string, target: string): EndpointMatch | undefined {
    for (const endpoint of this.#byMethod.get(method) ?? []) {
      const query = endpoint.route.match(target)
      if (query !== undefined) return { endpoint, query, isHead: method === 'HEAD' }
    }
    return undefined
  }

  /** True if a request may change state. */
  isUnsafe(method: string, target: string): boolean {
    const match = this.find(method, target)
    if (match) return match.endpoint.isUnsafe
    return !SAFE_METHODS.has(method) || (method === 'GET' && this.unsafeGets.has(target.split('?', 1)[0]!))
  }
}

// Media types without parameters. Fastify accepts or refuses all other media types.
const MEDIA_TYPE = /^[\w.+-]+\/[\w.+-]+$/

/** True if a server adapter passes a body of this length (bytes) and type to the route unchanged. */
export function canAcceptBody({ method, body }: HotRoute, length: number, type: string | undefined): boolean {
  if (length > (body?.limit ?? 0)) return false
  if (body?.type) return type === body.type || type?.startsWith(`${body.type};`) === true
  // A GET on a hot route has no body, so any media type is valid.
  return type === undefined || method === 'GET' || MEDIA_TYPE.test(type)
}
