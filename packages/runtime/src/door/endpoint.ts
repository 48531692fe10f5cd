import type { Admission, Line } from '../http/admission.ts'
import type { Audit } from '../http/audit.ts'
import type { AddressOf } from '../http/client-address.ts'
import { isConditional, refusesConditions } from '../http/conditions.ts'
import { errors, overloaded } from '../http/errors.ts'
import type { Access, Guard, RequestHead } from '../http/guard.ts'
import { reportFault, toProblem, type FaultSinks } from '../http/problem-replies.ts'
import { PROBLEM_TYPE, type Problem } from '../http/problems.ts'
import type { RequestLog } from '../http/request-log.ts'
import type { Limits } from '../limits/limits.ts'
import type { Budget } from '../memory/budget.ts'
import type { RequestMetrics, RouteMetrics } from '../metrics/metrics.ts'
import type { Lifecycle } from '../service.ts'
import { inTrace, isTraced, traceOf } from '../trace.ts'
import type { Tracer } from '../tracing/tracer.ts'
import type { Change, HotRequest, HotRoute, Reply, RequestHeaders, StreamReply } from './hot-route.ts'

/** What the doors need of the app that they stand before. */
export interface DoorHost extends FaultSinks {
  readonly guard: Guard
  readonly lifecycle: Lifecycle
  readonly requests: RequestMetrics
  readonly budget: Budget
  readonly admission: Admission
  readonly requestLog: RequestLog
  readonly audit: Audit
  /** Nothing where nobody is limited. */
  readonly limits: Limits | undefined
  readonly addressOf: AddressOf
  /** Nothing where no spans are made. */
  readonly tracer: Tracer | undefined
  /** The id that the client gave it, or a new one. */
  idOf(headers: RequestHeaders): string
}

export type Answer = Reply | StreamReply

export const isStream = (answer: Answer): answer is StreamReply => 'open' in answer

export const asReply = (problem: Problem): Reply => ({
  status: problem.status,
  headers: Object.entries(problem.headers).flat(),
  type: PROBLEM_TYPE,
  body: problem.body(),
})

// Made once: a refusal has to cost less than what it refuses.
const OVERLOADED: Reply = { ...asReply(overloaded()), isKept: true }

/** A hot route at work: whatever its `answer` does becomes a reply. */
export class Endpoint {
  readonly route: HotRoute
  readonly access: Access
  /** True if it may change state. Then it runs alone among the requests of its connection. */
  readonly isUnsafe: boolean
  /** True if it may run at the same time as other ordered requests. */
  readonly isOrdered: boolean
  readonly addressOf: AddressOf
  readonly #host: DoorHost
  readonly #figures: RouteMetrics
  readonly #refusesConditions: boolean
  readonly #headFigures: RouteMetrics
  readonly #queue: Line

  constructor(route: HotRoute, host: DoorHost) {
    this.route = route
    this.access = route.access ?? (route.method === 'GET' ? 'read' : 'change')
    this.isOrdered = route.isOrdered === true
    this.isUnsafe = this.access === 'change' || (route.method !== 'GET' && this.access !== 'read')
    this.#refusesConditions = refusesConditions(route.method, { ...route, access: this.access })
    this.#host = host
    this.addressOf = host.addressOf
    this.#figures = host.requests.route(route.method, route.url)
    this.#headFigures = host.requests.route('HEAD', route.url)
    this.#queue = host.admission.queue(this.access === 'change')
  }

  /** Why a request may not be answered, or nothing. @param asked what its target says, where that is known */
  refusal(head: RequestHead, asked?: unknown): Problem | undefined {
    const { token, judges } = this.route
    const fault = this.#host.guard.check(head, this.access, token?.(asked))
    return fault?.code === errors.UNAUTHORIZED.code && judges?.(head.headers) ? undefined : fault
  }

  /**
   * Never throws and never rejects.
   * @param id of the request, for the log
   * @param startedAt when the request was there (ms, `performance.now()`)
   */
  answer(asked: unknown, request: HotRequest, id: string, startedAt: number): Answer | Promise<Answer> {
    const { tracer } = this.#host
    if (tracer) request.trace ??= tracer.begin(request.headers, id)
    // Others would pay 0.2 us for what nobody reads.
    else if (!isTraced(request.headers)) return this.#answer(asked, request, id, startedAt)
    return inTrace(request.trace ?? traceOf(request.headers, id), () => this.#answer(asked, request, id, startedAt))
  }

  #answer(asked: unknown, request: HotRequest, id: string, startedAt: number): Answer | Promise<Answer> {
    const { route } = this
    const queue = (route.queues?.(asked) ?? this.access === 'change') ? this.#queue : undefined
    if (!route.streams && (!this.#host.admission.takes(startedAt) || queue?.hasRoom() === false)) return OVERLOADED
    try {
      if (this.#refusesConditions && isConditional(request.headers)) throw errors.CONDITION_UNSUPPORTED()
      const answer = route.answer(asked, request)
      if (!(answer instanceof Promise)) return answer
      if (!queue) return answer.catch((error: unknown) => this.fault(error, id))
      queue.begun()
      return answer.then(this.#leaveQueue, (error: unknown) => this.#leaveQueue(this.fault(error, id)))
    } catch (error) {
      return this.fault(error, id)
    }
  }

  readonly #leaveQueue = (answer: Answer): Answer => {
    this.#queue.ended()
    return answer
  }

  /** @param startedAt when the request was there (ms, `performance.now()`) */
  observe(status: number, { asked, isHead }: Asked, id: string, startedAt: number, request: HotRequest): void {
    const figures = isHead ? this.#headFigures : this.#figures
    figures.observe(status, (performance.now() - startedAt) / 1_000)
    if (this.route.audits && status < 300) this.#audit(this.route.audits(asked), id, request)
    const { requestLog, tracer } = this.#host
    const { method, url: route } = this.route
    const { trace } = request
    if (tracer && trace) tracer.ended(trace, { method: isHead ? 'HEAD' : method, route, status, startedAt })
    requestLog.hot?.(() => ({
      method: isHead ? 'HEAD' : method,
      route,
      status,
      startedAt,
      address: request.address(),
      trace: trace ?? traceOf(request.headers, id),
    }))
  }

  #audit(change: Change, id: string, request: HotRequest): void {
    const { guard, audit } = this.#host
    const { headers } = request
    const [by, trace] = [guard.bearer(headers), request.trace ?? traceOf(headers, id)]
    audit({ ...change, by, address: request.address(), route: this.route.url, trace })
  }

  /** What is answered in place of an answer. */
  fault(error: unknown, requestId: string): Reply {
    const problem = toProblem(error)
    reportFault(this.#host, error, problem, requestId)
    return asReply(problem)
  }
}

/** What a request asks of a hot route. */
export interface Asked {
  /** What its target says. */
  readonly asked: unknown
  readonly isHead: boolean
}

/** A request that a door may answer. */
export interface Found extends Asked {
  readonly endpoint: Endpoint
}

/** Methods that change no state (RFC 9110, 9.2.1). */
const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE'])

/** The hot routes of a service by method. */
export class Endpoints {
  readonly all: readonly Endpoint[]
  /** Paths of other routes where a GET changes state. */
  readonly unsafeGets = new Set<string>()
  readonly #byMethod: ReadonlyMap<string, readonly Endpoint[]>

  constructor(routes: readonly HotRoute[], host: DoorHost) {
    this.all = routes.map((route) => new Endpoint(route, host))
    const byMethod = Map.groupBy(this.all, ({ route }) => route.method as string)
    const withHead = this.all.filter(({ route }) => route.method === 'GET' && route.head !== false)
    this.#byMethod = byMethod.set('HEAD', withHead)
  }

  /** Nothing for what is no hot route's, or is not spelled plainly. */
  find(method: string, target: string): Found | undefined {
    for (const endpoint of this.#byMethod.get(method) ?? []) {
      const asked = endpoint.route.match(target)
      if (asked !== undefined) return { endpoint, asked, isHead: method === 'HEAD' }
    }
    return undefined
  }

  /** True if a request may change state. */
  isUnsafe(method: string, target: string): boolean {
    const found = this.find(method, target)
    if (found) return found.endpoint.isUnsafe
    return !SAFE_METHODS.has(method) || (method === 'GET' && this.unsafeGets.has(target.split('?', 1)[0]!))
  }
}

// Nothing, or what looks like a media type: the rest is Fastify's to refuse.
const MEDIA_TYPE = /^[\w.+-]+\/[\w.+-]+$/

/** Whether a body of this length (bytes) and type is one that a door hands to the route as it is. */
export function takesBody({ method, body }: HotRoute, length: number, type: string | undefined): boolean {
  if (length > (body?.limit ?? 0)) return false
  if (body?.type) return type === body.type || type?.startsWith(`${body.type};`) === true
  // A GET may say what it likes of the body that it has not.
  return type === undefined || method === 'GET' || MEDIA_TYPE.test(type)
}
