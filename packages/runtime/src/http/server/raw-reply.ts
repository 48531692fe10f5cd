import type { BufferedReply } from '../hot-route.ts'
import { type HotReply, type Endpoint, isStream } from './endpoint.ts'
import type { RawAdapterHost } from './raw-host.ts'
import { isUnchanged, toHeaders } from './reply-head.ts'
import { formatFields, getHeadEnds, getStatusLine, isLarge, toLatin1 } from './reply-text.ts'
import type { RawRequest } from './request-reader.ts'

/** A reply that is incomplete or waits for earlier ones: replies are sent in the order of their requests. */
export interface PendingReply {
  /** Undefined until the reply is complete. */
  text: string | undefined
  body: Buffer | undefined
  closes: boolean
  readonly endpoint: Endpoint
}

export const getReplySize = ({ text, body }: PendingReply): number => text!.length + (body?.length ?? 0)

/** A reply as text. */
interface ReplyText {
  /** Fields of the reply, and the end of its head. */
  readonly fields: string
  /** The end of the head in `fields`. */
  readonly end: string
  /** Empty if the body is not sent as a part of the text. */
  readonly body: string
}

const textCache = new WeakMap<BufferedReply, ReplyText>()

/** Formats the fields and the body of a reply. The text is cached if the route returns the reply repeatedly. */
function getReplyText(reply: BufferedReply, end: string): ReplyText {
  const cached = reply.isReused ? textCache.get(reply) : undefined
  if (cached?.end === end) return cached
  const fields = formatFields(toHeaders(reply, false)) + end
  const body = cached?.body ?? (isLarge(reply.body) ? '' : toLatin1(reply.body))
  if (!reply.isReused) return { fields, end, body }
  // V8 stores concatenated text as linked parts, here about 25. The way through a Buffer makes one flat string.
  // Otherwise every reply with this text would copy each part.
  const text = { fields: Buffer.from(fields, 'latin1').toString('latin1'), end, body }
  textCache.set(reply, text)
  return text
}

/** Returns the body of a reply if it is not a part of its text. */
export function getLargeBody({ match, headers }: RawRequest, answer: HotReply): Buffer | undefined {
  if (isStream(answer) || !isLarge(answer.body) || match.isHead) return undefined
  return isUnchanged(answer, headers, match.endpoint.route.method === 'GET') ? undefined : answer.body
}

/**
 * True if the pending requests must be answered before a request begins. An unsafe request runs alone (RFC 9112, 9.3.2),
 * unless it and the first pending request are ordered (see `HotRoute.isOrdered`). The first pending reply is never
 * complete.
 */
export function shouldWait({ match: { endpoint } }: RawRequest, pendingReplies: readonly PendingReply[]): boolean {
  const first = pendingReplies[0]?.endpoint
  return first !== undefined && (endpoint.isUnsafe || first.isUnsafe) && !(endpoint.isOrdered && first.isOrdered)
}

/** Returns the refusal of a request that exceeds a rate limit. Undefined if the request may be answered. */
export function checkLimits({ limits }: RawAdapterHost, request: RawRequest): HotReply | undefined {
  if (!limits) return undefined
  const { fields, refusal } = limits.take(request.headers, request.getAddress())
  request.limits = formatFields(fields)
  return refusal && request.match.endpoint.toReply(refusal)
}

/** Formats the fields that precede those of the route. */
function formatLeadingFields({ guard }: RawAdapterHost, { headers, id, limits }: RawRequest): string {
  const cors = formatFields(guard.getCorsHeaders(headers.origin as string | undefined))
  return `x-request-id: ${id}\r\n${cors}${limits}`
}

/** Formats the head of a stream, and counts its request. */
export function formatStreamHead(host: RawAdapterHost, request: RawRequest, fields: readonly string[]): string {
  const { match, id, startedAt } = request
  match.endpoint.observe(200, match, id, startedAt, request)
  const head = getStatusLine(200) + formatLeadingFields(host, request) + formatFields(fields)
  return `${head}transfer-encoding: chunked\r\nconnection: close\r\n${getHeadEnds(host.keepAliveTimeout).bare}`
}

/** Formats the text of a reply, without a large body, and counts the request. */
export function formatReply(host: RawAdapterHost, request: RawRequest, answer: BufferedReply, closes: boolean): string {
  const { match, headers, id, startedAt } = request
  const { endpoint, isHead } = match
  const leadingFields = formatLeadingFields(host, request)
  const ends = getHeadEnds(host.keepAliveTimeout)
  const unchanged = isUnchanged(answer, headers, isHead || endpoint.route.method === 'GET')
  const status = unchanged ? 304 : answer.status
  endpoint.observe(status, match, id, startedAt, request)
  const end = closes ? ends.closes : ends.keepAlive
  if (unchanged) return getStatusLine(status) + leadingFields + formatFields(toHeaders(answer, true)) + end
  const { fields, body } = getReplyText(answer, end)
  return getStatusLine(status) + leadingFields + fields + (isHead ? '' : body)
}
