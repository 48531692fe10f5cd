import type { YoutubeReply } from '../../src/youtube/youtube-call.ts'

/** One kind of outage of the YouTube API. */
export interface Outage {
  readonly name: string
  /** The reply of a call during the outage, or its error. */
  answer(ids: readonly string[]): YoutubeReply
  /** Delay of the failure (ms). */
  readonly latency?: number
  /** Longest time from the end of the outage to the next call, at an unlimited budget (ms). */
  readonly recovery: number
}

const MINUTE_MS = 60_000

const reply = (status: number, body: unknown, headers: { retryAfter?: string } = {}): YoutubeReply => ({
  status,
  body: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)),
  ...headers,
})

/** An error reply in the older form. */
export const oldError = (code: number, reason: string) => ({
  error: { code, message: 'Refused.', errors: [{ message: 'Refused.', domain: 'global', reason }] },
})

/** An error reply in the newer form, which has no `errors`. */
export const newError = (code: number, status: string, reason: string, metadata = {}) => ({
  error: {
    code,
    message: 'Refused.',
    status,
    details: [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason, domain: 'googleapis.com', metadata }],
  },
})

const networkError = (code: string, syscall: string): never => {
  throw Object.assign(new Error(code), { code, syscall })
}

const list = (ids: readonly string[]) =>
  JSON.stringify({
    kind: 'youtube#videoListResponse',
    items: ids.map((id) => ({ id, statistics: { viewCount: '1', likeCount: '1', commentCount: '1' } })),
  })

/** A call while the API works. */
export const healthy = (ids: readonly string[]): YoutubeReply => reply(200, list(ids))

export const outages: readonly Outage[] = [
  {
    name: '429 with Retry-After: 120',
    answer: () => reply(429, newError(429, 'RESOURCE_EXHAUSTED', 'RATE_LIMIT_EXCEEDED'), { retryAfter: '120' }),
    recovery: 5 * MINUTE_MS,
  },
  { name: '429', answer: () => reply(429, oldError(429, 'rateLimitExceeded')), recovery: 5 * MINUTE_MS },
  {
    name: '403 quotaExceeded',
    answer: () => reply(403, oldError(403, 'quotaExceeded')),
    recovery: MINUTE_MS,
  },
  {
    name: '403 ipRefererBlocked',
    answer: () => reply(403, oldError(403, 'ipRefererBlocked')),
    recovery: 15 * MINUTE_MS,
  },
  {
    name: '403 API_KEY_HTTP_REFERRER_BLOCKED, details only',
    answer: () => reply(403, newError(403, 'PERMISSION_DENIED', 'API_KEY_HTTP_REFERRER_BLOCKED')),
    recovery: 15 * MINUTE_MS,
  },
  {
    name: '400 API_KEY_INVALID',
    answer: () => reply(400, newError(400, 'INVALID_ARGUMENT', 'API_KEY_INVALID')),
    recovery: 15 * MINUTE_MS,
  },
  { name: '500', answer: () => reply(500, oldError(500, 'internalError')), recovery: MINUTE_MS },
  { name: '503', answer: () => reply(503, oldError(503, 'backendError')), recovery: MINUTE_MS },
  {
    name: 'timeout',
    answer: () => {
      throw new DOMException('too late', 'TimeoutError')
    },
    latency: 5_000,
    recovery: MINUTE_MS,
  },
  { name: 'refused connection', answer: () => networkError('ECONNREFUSED', 'connect'), recovery: MINUTE_MS },
  { name: 'reset', answer: () => networkError('ECONNRESET', 'read'), recovery: MINUTE_MS },
  { name: 'garbage JSON', answer: () => reply(200, '<html>Sign in to the network</html>'), recovery: MINUTE_MS },
  {
    name: 'empty items for full batches',
    answer: () => reply(200, { kind: 'youtube#videoListResponse', items: [] }),
    recovery: MINUTE_MS,
  },
  { name: 'truncated body', answer: (ids) => reply(200, list(ids).slice(0, 2_000)), recovery: MINUTE_MS },
]
