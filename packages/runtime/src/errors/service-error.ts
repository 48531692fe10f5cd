/** The refusal of a request: the status of the reply, and the code and detail of its problem. */
export class ServiceError extends Error {
  readonly status: number
  readonly code: string
  readonly detail: string | undefined
  /** The whole problem. Empty if the service sent none. */
  readonly body: Readonly<Record<string, unknown>>
  /** Time after which the service accepts the request again, from the header `Retry-After` (s). */
  readonly retryAfter: number | undefined

  constructor(
    status: number,
    code: string,
    message = `status ${status}`,
    detail?: string,
    body: object = {},
    retryAfter?: number,
  ) {
    super(message)
    this.name = 'ServiceError'
    this.status = status
    this.code = code
    this.detail = detail
    this.body = { ...body }
    this.retryAfter = retryAfter
  }
}

const TOO_MANY_REQUESTS_STATUS = 429

/**
 * True for a refusal that a later request would get, too. After any other error, such as a lost connection or a busy
 * service, the same request may succeed later.
 */
export const isPermanent = (error: unknown): boolean =>
  error instanceof ServiceError && error.status < 500 && error.status !== TOO_MANY_REQUESTS_STATUS

/** Returns the delay before the next request after an error (ms): at least `minimum`, and at least `Retry-After`. */
export const getRetryDelay = (error: unknown, minimum: number): number =>
  Math.max(minimum, ((error as Partial<ServiceError>).retryAfter ?? 0) * 1_000)

/** True for the status of a redirect. A browser reports a redirect that it must not follow with status 0. */
const isRedirect = (status: number) => status === 0 || (status >= 300 && status < 400)

const REDIRECTED =
  'the service responded with a redirect. Clients do not follow it, because another address would receive the token: ' +
  "set the service's final address"

/**
 * Parses a refusal: a problem, a redirect (`UNEXPECTED_REDIRECT`), or the reply of a program between client and service
 * (`UNEXPECTED_REPLY`).
 * @param retryAfter header `Retry-After`
 */
export function toServiceError(status: number, text: string, retryAfter?: string | null): ServiceError {
  const seconds = /^\d{1,6}$/.test(retryAfter ?? '') ? Number(retryAfter) : undefined
  if (isRedirect(status)) return new ServiceError(status, 'UNEXPECTED_REDIRECT', REDIRECTED)
  try {
    const body = JSON.parse(text)
    const { code, title, detail } = body
    if (typeof code === 'string') return new ServiceError(status, code, detail ?? title, detail, body, seconds)
  } catch {
    // A reply that is not JSON is not from the service.
  }
  return new ServiceError(status, 'UNEXPECTED_REPLY', undefined, undefined, undefined, seconds)
}
