import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Access } from '../http/request-guard.ts'
import type { ProblemKind } from '../http/problems.ts'
import type { Trace } from '../trace.ts'

/** The header fields of a request, names in lower case, each at most once; `content-length` may be left out. */
export type RequestHeaders = Readonly<Record<string, string | string[] | undefined>>

/** What a hot route may look at besides its target. */
export interface HotRequest {
  /** What it is known by, where it is followed: the runtime's own. */
  trace?: Trace | undefined
  readonly headers: RequestHeaders
  /** Empty where there is none. */
  readonly body: Buffer
  /** Of the client; of the proxy that it comes through, where that is not one that is trusted. */
  getAddress(): string | undefined
}

/** What was taken away or put in the place of something else. */
export interface AuditChange {
  /** In a word: `delete`, `replace`, `import`. */
  readonly change: string
  /** What it was done to. */
  readonly what: string
}

/** A whole reply. The runtime adds the request's id, the date, and what CORS and keeping the connection need. */
export interface BufferedReply {
  readonly status: number
  /** Names in lower case and values, in turn; never anything that a client sent. Those of a 304 as well. */
  readonly headers: readonly string[]
  /** Tag of the body: a GET whose `If-None-Match` names it gets 304. */
  readonly etag?: string
  /** Media type of the body. */
  readonly type?: string
  readonly body: string | Buffer
  /** This object is given again and again: what of its text is always the same is kept. */
  readonly isReused?: boolean
}

/** What a stream is written to: a socket, or a reply of Node's. Its errors need no listener. */
export interface StreamConnection {
  /** Gives `false` where `drain` will say that the client has taken it. */
  write(chunk: Buffer | string): unknown
  /** The socket sends the bytes written between these two calls at once. */
  cork?(): unknown
  uncork?(): unknown
  end(): unknown
  /** What a socket has in place of `end`: it does not wait for the client to end its side, too. */
  destroySoon?(): unknown
  destroy(): unknown
  on(event: 'close' | 'drain', listener: (this: this) => void): unknown
  off(event: 'drain', listener: (this: this) => void): unknown
  /** Bytes that the client has not taken yet. */
  readonly writableLength: number
}

/** A reply without an end: the connection is the stream's, and ends with it. */
export interface StreamReply {
  readonly status: 200
  readonly headers: readonly string[]
  /** Called once with the connection and what goes before everything. */
  open(connection: StreamConnection, head: string): void
}

/** What a hot route takes as a body. */
export interface HotBody {
  /** Largest body (bytes). */
  readonly limit: number
  /** What a larger one is answered with. */
  readonly tooLarge: ProblemKind
  /** The only media type taken; any if there is none. */
  readonly type?: string
}

/**
 * A route that is asked for often enough to be worth a way past Fastify. It is declared once: Fastify serves it with its
 * schema, and so do the doors ahead of Fastify, where a request is of the plain kind; whatever is not, or is to be
 * refused before it is read, Fastify answers. Everything around `answer` is the runtime's.
 *
 * @typeParam Asked what the target of a request says
 */
export interface HotRoute<Query = any> {
  readonly method: 'GET' | 'PUT' | 'POST' | 'DELETE'
  /** The path as Fastify knows it, `/collections/:id/stats` for instance; the label of the route's figures. */
  readonly url: string
  /** By default `read` for GET, `change` for the rest. */
  readonly access?: Access
  /** As Fastify takes it; for its checks, and for the API's document. */
  readonly schema: object
  /** In place of the checks of `schema`, where a route makes its own. */
  readonly validatorCompiler?: (part: any) => (value: unknown) => boolean
  readonly body?: HotBody
  /** Whether a GET has a HEAD beside it: by default yes. */
  readonly head?: boolean
  /** What a target of the plain spelling asks for. Nothing where Fastify has to read it, or to refuse it. */
  match(target: string): Query | undefined
  /** What a request asks for, once Fastify has parsed and checked it. @throws Problem */
  read(request: FastifyRequest): Query
  /** A token that came another way than in the `Authorization` header. */
  getToken?(query: Query): string | undefined
  /**
   * Whether a request bears a token of a kind that the service itself judges, in `answer`: it is let in without one of
   * the runtime's.
   */
  hasServiceToken?(headers: RequestHeaders): boolean
  /**
   * Whether an answer that is a promise waits for what the service itself does, its disk or main: in an overload no more
   * of these wait than end within `maxQueueDelay`. By default changes do, and reads wait for somebody else.
   */
  shouldQueue?(query: Query): boolean
  /**
   * Changes take effect in the order in which `answer` is called, across all routes of the service that declare it. Then
   * pipelined requests of these routes need not wait for each other; only the raw server adapter makes use of it.
   */
  readonly isOrdered?: boolean
  /** True if `answer` evaluates `If-Match` and `If-None-Match`. Default: see `refusesConditions`. */
  readonly isConditional?: boolean
  /** What it takes away or replaces: a line in the log, once it is done. */
  getAuditChange?(query: Query): AuditChange
  /**
   * Whether replies may be streams: then a request must be the last that has come on its connection. It is not refused in
   * an overload, after which an EventSource would not come back.
   */
  readonly canStream?: boolean
  /**
   * Answers, on Fastify, what is asked for otherwise than as one reply; nothing where `answer` is to. `match` never gives
   * that. @throws Problem
   */
  serve?(query: Query, request: FastifyRequest, reply: FastifyReply): Promise<void> | undefined
  /** @throws Problem; anything else becomes a 500 that is logged */
  answer(query: Query, request: HotRequest): BufferedReply | StreamReply | Promise<BufferedReply | StreamReply>
}

/** Gives a declaration its types; the value is returned as it is. */
export const defineHotRoute = <Query>(route: HotRoute<Query>): HotRoute<Query> => route
