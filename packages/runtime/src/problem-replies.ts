import type { FastifyReply } from 'fastify'
import type { Duplex } from 'node:stream'
import { errors } from './errors.ts'
import { Problem, PROBLEM_TYPE, type ProblemKind } from './problems.ts'

/** Another shape for the problems at some paths; nothing where the usual one is right. */
export type ProblemFormat = (problem: Problem, url: string) => { contentType: string; body: string } | undefined

// Not imported by name: an ESM import of node:http runs its lazy getters, which load 10 MB of WebSocket.
const { STATUS_CODES } = process.getBuiltinModule('node:http')

// Fastify's own faults that are the client's; their words may be shown.
const fastifyFaults: Record<string, ProblemKind> = {
  FST_ERR_VALIDATION: errors.VALIDATION_FAILED,
  FST_ERR_CTP_BODY_TOO_LARGE: errors.BODY_TOO_LARGE,
  FST_ERR_CTP_INVALID_MEDIA_TYPE: errors.UNSUPPORTED_MEDIA_TYPE,
  FST_ERR_CTP_EMPTY_JSON_BODY: errors.BAD_JSON,
  FST_ERR_CTP_INVALID_JSON_BODY: errors.BAD_JSON,
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: errors.BAD_REQUEST,
  FST_ERR_BAD_URL: errors.BAD_REQUEST,
  FST_ERR_MAX_PARAM_LENGTH: errors.URI_TOO_LONG,
}

/** Whatever was thrown, as something that may be shown: an unknown fault tells nothing of itself. */
export function toProblem(error: unknown): Problem {
  if (error instanceof Problem) return error
  const { code, message, statusCode } = (error ?? {}) as { code?: string; message?: string; statusCode?: number }
  const kind = fastifyFaults[code ?? '']
  if (kind) return kind(message)
  if (error instanceof SyntaxError && statusCode === 400) return errors.BAD_JSON(message)
  return errors.INTERNAL(undefined, { cause: error })
}

export function sendProblem(reply: FastifyReply, problem: Problem, url: string, format?: ProblemFormat): FastifyReply {
  const { contentType, body } = format?.(problem, url) ?? { contentType: PROBLEM_TYPE, body: problem.body() }
  return reply
    .code(problem.status)
    .headers({ ...problem.headers, 'content-type': contentType })
    .serializer((payload: string) => payload)
    .send(body)
}

function kindOfParserError(code: string | undefined): ProblemKind {
  if (code === 'HPE_HEADER_OVERFLOW') return errors.HEADERS_TOO_LARGE
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return errors.REQUEST_TIMEOUT
  return errors.BAD_REQUEST
}

/**
 * Answers what Node's HTTP parser refused, and ends the connection. Returns the status, or nothing where no reply
 * could be sent: the client is gone, or a reply is already on its way and more bytes would garble it.
 */
export function sendParserProblem(error: Error & { code?: string }, socket: Duplex, format?: ProblemFormat): number | undefined {
  const reply = (socket as { _httpMessage?: { headersSent: boolean } })._httpMessage
  if (error.code === 'ECONNRESET' || !socket.writable || reply?.headersSent) {
    socket.destroy()
    return undefined
  }
  const problem = kindOfParserError(error.code)()
  const { contentType, body } = format?.(problem, '') ?? { contentType: PROBLEM_TYPE, body: problem.body() }
  socket.end(
    `HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status]}\r\n` +
      `content-type: ${contentType}\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
  )
  return problem.status
}
