/** The refusal of a request: the status of the reply, and the code and detail of its problem. */
export class ServiceError extends Error {
  readonly status: number
  readonly code: string
  readonly detail: string | undefined
  /** The whole problem. Empty if the service sent none. */
  readonly body: Readonly<Record<string, unknown>>

  constructor(status: number, code: string, message = `status ${status}`, detail?: string, body: object = {}) {
    super(message)
    this.name = 'ServiceError'
    this.status = status
    this.code = code
    this.detail = detail
    this.body = { ...body }
  }
}

/** True for the status of a redirect. A browser reports a redirect that it must not follow with status 0. */
const isRedirect = (status: number) => status === 0 || (status >= 300 && status < 400)

const REDIRECTED =
  'the service responded with a redirect. Clients do not follow it, because another address would receive the token: ' +
  "set the service's final address"

/**
 * Parses a refusal: a problem, a redirect (`UNEXPECTED_REDIRECT`), or the reply of a program between client and service
 * (`UNEXPECTED_REPLY`).
 */
export function toServiceError(status: number, text: string): ServiceError {
  if (isRedirect(status)) return new ServiceError(status, 'UNEXPECTED_REDIRECT', REDIRECTED)
  try {
    const body = JSON.parse(text)
    const { code, title, detail } = body
    if (typeof code === 'string') return new ServiceError(status, code, detail ?? title, detail, body)
  } catch {
    // A reply that is not JSON is not from the service.
  }
  return new ServiceError(status, 'UNEXPECTED_REPLY')
}
