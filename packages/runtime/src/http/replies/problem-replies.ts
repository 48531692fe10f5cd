import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Duplex } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Logger } from 'pino'
import { toReadProblem } from '../../level/read-errors.ts'
import type { DataHealth } from '../../level/write-health.ts'
import type { Counter } from '../../metrics/prom-client.ts'
import { commonErrors } from '../../errors/common-errors.ts'
import { formatNames, formatReceived } from '../../received-value.ts'
import { getPendingReply } from '../request/in-flight.ts'
import { formatProblem, Problem, type FormattedProblem, type ProblemKind } from '../../errors/problems.ts'

/** Formats the problems of some paths differently. Returns undefined for the standard format. */
export type ProblemFormat = (problem: Problem, url: string) => FormattedProblem | undefined

// Not imported by name: an ESM import of node:http runs its lazy getters, which load 10 MB of WebSocket.
const { STATUS_CODES } = process.getBuiltinModule('node:http')

// Errors of Fastify that the client caused. Their messages may be sent.
const fastifyFaults: Record<string, ProblemKind> = {
  FST_ERR_VALIDATION: commonErrors.VALIDATION_FAILED,
  FST_ERR_CTP_BODY_TOO_LARGE: commonErrors.BODY_TOO_LARGE,
  FST_ERR_CTP_INVALID_MEDIA_TYPE: commonErrors.UNSUPPORTED_MEDIA_TYPE,
  FST_ERR_CTP_EMPTY_JSON_BODY: commonErrors.BAD_JSON,
  FST_ERR_CTP_INVALID_JSON_BODY: commonErrors.BAD_JSON,
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: commonErrors.BAD_REQUEST,
  FST_ERR_BAD_URL: commonErrors.BAD_REQUEST,
  FST_ERR_MAX_PARAM_LENGTH: commonErrors.URI_TOO_LONG,
}

/** Converts any thrown value to a problem that may be sent. Details of an unknown error are not sent. */
export function toProblem(error: unknown): Problem {
  if (error instanceof Problem) return error
  const { code, message, statusCode } = (error ?? {}) as { code?: string; message?: string; statusCode?: number }
  const kind = fastifyFaults[code ?? '']
  if (kind) return kind(describeFastifyFault(code!, message))
  // The client disconnected before its body had arrived.
  if (code === 'ECONNRESET' && statusCode === 400) return commonErrors.BAD_REQUEST()
  return toReadProblem(error) ?? commonErrors.INTERNAL(undefined, { cause: error })
}

// Problems that are not reported: all with status 503, such as an overload, a drain or a failed write that is already
// logged; and a disk that was already full (507 without a cause).
const isExpected = ({ status, cause }: Problem) => status === 503 || (status === 507 && cause === undefined)

/** Describes an error of Fastify. Its messages about a path contain the whole path, so they are replaced. */
function describeFastifyFault(code: string, message: string | undefined): string | undefined {
  const [, path] = /^'(.*)' is /s.exec(message ?? '') ?? []
  if (path === undefined) return message
  const received = formatReceived(path.split('?')[0])
  return code === 'FST_ERR_BAD_URL'
    ? `path must be percent-encoded UTF-8 such as /a%20b; received ${received}`
    : `a parameter of the path is too long; received ${received}`
}

/**
 * Returns the problem for an error of a request. For a refused media type, it lists the types that the route accepts.
 */
export function toRequestProblem(error: unknown, { headers, routeOptions }: FastifyRequest): Problem {
  const problem = toProblem(error)
  if (problem.code !== commonErrors.UNSUPPORTED_MEDIA_TYPE.code) return problem
  const { content } = (routeOptions.schema?.body ?? {}) as { readonly content?: object }
  const accepted = routeOptions.config.mediaTypes ?? Object.keys(content ?? { 'application/json': {} })
  const allowed = accepted.length > 1 ? `one of ${formatNames(accepted)}` : formatNames(accepted)
  return commonErrors.UNSUPPORTED_MEDIA_TYPE(
    `content-type must be ${allowed}; received ${formatReceived(headers['content-type'])}`,
  )
}

/** Logs and counts a fault of the service. */
export function reportFault(
  { log, faults, data }: FaultSinks,
  error: unknown,
  problem: Problem,
  requestId: string,
): void {
  if (problem.status < 500 || isExpected(problem)) return
  faults.inc({ code: problem.code })
  if (problem.code === commonErrors.DATA_DAMAGED.code) data?.reportReadFailure()
  log.error({ err: error, requestId }, 'request failed')
}

/** Receivers of faults. */
export interface FaultSinks {
  readonly log: Logger
  readonly faults: Counter
  readonly data?: DataHealth | undefined
}

export function sendProblem(reply: FastifyReply, problem: Problem, url: string, format?: ProblemFormat): FastifyReply {
  const { contentType, body } = format?.(problem, url) ?? formatProblem(problem)
  return reply
    .code(problem.status)
    .headers({ ...problem.headers, 'content-type': contentType })
    .serializer((payload: string) => payload)
    .send(body)
}

type ParserError = Error & { code?: string; rawPacket?: Buffer; bytesParsed?: number }

function getParserErrorKind({ code, rawPacket, bytesParsed }: ParserError): ProblemKind {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return commonErrors.REQUEST_TIMEOUT
  if (code !== 'HPE_HEADER_OVERFLOW') return commonErrors.BAD_REQUEST
  // Node limits the whole head only. If the first line exceeds that limit, the path is too long.
  const parsed = rawPacket?.toString('latin1', 0, bytesParsed) ?? ''
  const line = parsed.slice(parsed.lastIndexOf('\n') + 1)
  // The body of the previous request may precede the request line in this line.
  return /^(?![\w-]+:).*[A-Z] /.test(line) ? commonErrors.URI_TOO_LONG : commonErrors.HEADERS_TOO_LARGE
}

// Time between the reply and the end of the connection (ms). A client that still sends needs time to read the reply. A
// client that never closes its side must not hold the connection.
const LINGER_MS = 1_000

const refusedSockets = new WeakSet<Duplex>()

/**
 * Waits until the replies to the earlier requests of the connection are sent (pipelining). An earlier request that is
 * incomplete gets no reply. Always waits one iteration of the event loop first: a reply that a route sends at once may
 * not exist yet, depending on how Node's parser reads.
 */
async function waitForEarlierReplies(socket: Duplex): Promise<void> {
  await nextTurn()
  for (let reply = getPendingReply(socket); reply; reply = getPendingReply(socket)) {
    if (!reply.req.complete && !reply.writableEnded) return
    await new Promise((resolve) => reply!.once('close', resolve))
  }
}

/**
 * Answers a request that Node's HTTP parser refused, and ends the connection. Returns the status. Undefined if no reply
 * could be sent: the connection was refused before, the client has disconnected, or more bytes would corrupt a reply
 * that is being sent.
 */
export async function sendParserProblem(
  error: Error,
  socket: Duplex,
  format?: ProblemFormat,
): Promise<number | undefined> {
  // The parser fails again on all later bytes.
  if (refusedSockets.has(socket)) return undefined
  refusedSockets.add(socket)
  if ((error as ParserError).code !== 'ECONNRESET') return endWithProblem(socket, getParserErrorKind(error)(), format)
  socket.destroy()
  return undefined
}

/**
 * Writes a problem to a connection without a reply object, after the earlier replies, and ends the connection. Returns
 * the status, or undefined if no reply could be sent.
 */
export async function endWithProblem(
  socket: Duplex,
  problem: Problem,
  format?: ProblemFormat,
): Promise<number | undefined> {
  await waitForEarlierReplies(socket)
  if (!socket.writable || getPendingReply(socket)?.headersSent) {
    socket.destroy()
    return undefined
  }
  const { contentType, body } = format?.(problem, '') ?? formatProblem(problem)
  const headers = {
    ...problem.headers,
    'content-type': contentType,
    'content-length': Buffer.byteLength(body),
    connection: 'close',
  }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.on('error', () => socket.destroy())
  setTimeout(() => socket.destroy(), LINGER_MS).unref()
  socket.end(`HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status]}\r\n${lines.join('')}\r\n${body}`)
  return problem.status
}
