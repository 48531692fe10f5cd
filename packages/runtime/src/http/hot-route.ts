import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Framing } from '../net/framing.ts'
import type { Access, RequestHeaders } from '../net/request.ts'
import type { StreamConnection } from '../net/stream-connection.ts'
import type { FormattedProblem, Problem, ProblemKind } from '../errors/problems.ts'
import type { Trace } from '../trace.ts'

export type { Framing, RequestHeaders, StreamConnection }

/** Request data available to a hot route in addition to its target. */
export interface HotRequest {
  /** Ids of the request, once they are known. Only the runtime uses this field. */
  trace?: Trace | undefined
  readonly headers: RequestHeaders
  /** Empty if the request has no body. */
  readonly body: Buffer
  /** Returns the address of the client. If the client uses a proxy that is not trusted, the address of that proxy. */
  getAddress(): string | undefined
}

/** A change for the audit log, such as a removal or replacement of data. */
export interface AuditChange {
  /** One word, such as `delete`, `replace` or `import`. */
  readonly change: string
  /** Object of the change. */
  readonly what: string
}

/** A whole reply. The runtime adds the request's id, the date, and the headers for CORS, rate limits and keep-alive. */
export interface BufferedReply {
  readonly status: number
  /**
   * Names (lower case) and values alternate. They must not contain data from a client. A 304 has these headers, too.
   */
  readonly headers: readonly string[]
  /** Entity tag of the body. A GET whose `If-None-Match` contains this tag gets 304. */
  readonly etag?: string
  /** Media type of the body. */
  readonly type?: string
  readonly body: string | Buffer
  /** True if the route returns this object repeatedly: the constant part of its text is cached. */
  readonly isReused?: boolean
}

/** A reply without an end: the stream owns the connection, which ends with it. */
export interface StreamReply {
  readonly status: 200
  readonly headers: readonly string[]
  /**
   * Called once. The stream writes `head` before all other output. It is empty if Node's server has sent the head.
   * @param framing framing of everything after the head
   */
  open(connection: StreamConnection, head: string, framing: Framing): void
}

/** Body that a hot route accepts. */
export interface HotBody {
  /** Largest body (bytes). */
  readonly limit: number
  /** Problem for a larger body. */
  readonly tooLarge: ProblemKind
  /** The only accepted media type. Default: any. */
  readonly type?: string
  /** True if the body may be compressed by gzip. The limit applies to the decompressed body, too. */
  readonly acceptsGzip?: boolean
}

/**
 * A route with enough requests to justify a path that bypasses Fastify. It is declared once. The server adapters `raw`
 * and `node-http` answer its plain requests: `match` parses their target, and the checks of their head find no fault.
 * Fastify answers all other requests with the route's schema, also those whose head is refused. The runtime does
 * everything around `answer`: access, limits, logs, metrics.
 *
 * @typeParam Query content of a request's target
 */
export interface HotRoute<Query = any> {
  readonly method: 'GET' | 'PUT' | 'POST' | 'DELETE'
  /** The path in Fastify's syntax, for example `/collections/:id/stats`; the label of the route's metrics. */
  readonly url: string
  /** Effect of the route on the state of the service. Default: `read` for GET, `change` for other methods. */
  readonly access?: Access
  /** Schema in Fastify's format, for validation and the OpenAPI document. */
  readonly schema: object
  /** Replaces the validation by `schema`. */
  readonly validatorCompiler?: (part: any) => (value: unknown) => boolean
  readonly body?: HotBody
  /** True if a GET route also answers HEAD. Default: true. */
  readonly head?: boolean
  /** Parses a target in its usual spelling. Returns `undefined` if Fastify must parse or refuse it. */
  match(target: string): Query | undefined
  /** Returns the query of a request that Fastify has parsed and validated. @throws Problem */
  read(request: FastifyRequest): Query
  /** Returns a token sent outside the `Authorization` header. */
  getToken?(query: Query): string | undefined
  /**
   * True if a request has a token that the service itself checks in `answer`. Such a request needs no `API_TOKEN` or
   * `READ_TOKEN`.
   */
  hasServiceToken?(headers: RequestHeaders): boolean
  /**
   * True if a promised reply waits for the service's own work, on its disk or on main. In an overload, the number of
   * these requests is limited to the number that finishes within `maxQueueDelay`. Default: true for changes; false for
   * reads, which wait for another system.
   */
  shouldQueue?(query: Query): boolean
  /**
   * True if changes take effect in the order in which `answer` is called, across all routes of the service with this
   * property. Then pipelined requests of these routes need not wait for each other. Only the raw server adapter uses
   * this property.
   */
  readonly isOrdered?: boolean
  /** True if `answer` evaluates `If-Match` and `If-None-Match`. Default: see `shouldRefuseConditions`. */
  readonly isConditional?: boolean
  /** Returns the removal or replacement that the request makes, for a line in the log after success. */
  getAuditChange?(query: Query): AuditChange
  /** Formats a problem in place of `application/problem+json`. Fastify uses the `problemFormat` of the app. */
  formatProblem?(problem: Problem): FormattedProblem
  /**
   * True if replies may be streams. The adapter `raw` passes such a request to Node if more input follows it, or if an
   * earlier reply is not sent yet. The request is not refused in an overload, because an EventSource would not
   * reconnect after a refusal.
   */
  readonly canStream?: boolean
  /**
   * Answers a query through Fastify if `answer` cannot answer it with one reply. Returns `undefined` if `answer` must
   * answer the query. `match` never returns a query that this function answers.
   * @throws Problem
   */
  serve?(query: Query, request: FastifyRequest, reply: FastifyReply): Promise<void> | undefined
  /** Answers a request. @throws Problem; any other error becomes a 500 and is logged */
  answer(query: Query, request: HotRequest): BufferedReply | StreamReply | Promise<BufferedReply | StreamReply>
}

/** Infers the types of a declaration; returns the value unchanged. */
export const defineHotRoute = <Query>(route: HotRoute<Query>): HotRoute<Query> => route
