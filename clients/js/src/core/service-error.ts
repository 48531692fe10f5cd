import { parseExactJson } from './exact-json.ts'

/** The refusal of a request: the status of the reply, and its problem (RFC 9457). */
export class ServiceError extends Error {
  /** HTTP status. */
  readonly status: number
  /** Stable code, such as `CONDITION_FAILED`. `UNEXPECTED_REPLY` if the reply is not from a service of this project. */
  readonly code: string
  readonly detail: string | undefined
  /** The whole problem. Empty if the reply has none. */
  readonly body: Readonly<Record<string, unknown>>
  /** Time after which the service accepts the request again, from the header `Retry-After` (s). */
  readonly retryAfter: number | undefined

  constructor(status: number, code: string, body: Readonly<Record<string, unknown>> = {}, retryAfter?: number) {
    const [detail, title] = [body.detail, body.title].map((text) => (typeof text === 'string' ? text : undefined))
    super(`${code}: ${detail ?? title ?? `status ${status}`}`)
    this.name = 'ServiceError'
    this.status = status
    this.code = code
    this.detail = detail
    this.body = body
    this.retryAfter = retryAfter
  }
}

/** Reads a refusal. A browser reports a redirect with status 0, because the client does not follow it. */
export async function readServiceError(reply: Response): Promise<ServiceError> {
  const { status } = reply
  const text = await reply.text()
  const retryAfter = reply.headers.get('retry-after') ?? ''
  const seconds = /^\d{1,6}$/.test(retryAfter) ? Number(retryAfter) : undefined
  if (status < 400) return new ServiceError(status, 'UNEXPECTED_REDIRECT')
  try {
    // The candidates of a search are prices with exact values.
    const body = parseExactJson(text) as Record<string, unknown>
    if (typeof body.code === 'string') return new ServiceError(status, body.code, body, seconds)
  } catch {
    // A reply that is not JSON is not from a service.
  }
  return new ServiceError(status, 'UNEXPECTED_REPLY', {}, seconds)
}

const TOO_MANY_REQUESTS_STATUS = 429

/** True if the same request would fail again. A lost connection and a busy service are not permanent. */
export const isPermanent = (error: unknown): boolean =>
  error instanceof ServiceError
    ? error.status < 500 && error.status !== TOO_MANY_REQUESTS_STATUS
    : error instanceof SyntaxError

/** Awaits a result. Resolves with `undefined` if the service refuses the request with one of these codes. */
export async function ignoreCodes<T>(result: Promise<T>, ...codes: readonly string[]): Promise<T | undefined> {
  try {
    return await result
  } catch (error) {
    if (error instanceof ServiceError && codes.includes(error.code)) return undefined
    throw error
  }
}
