/** A service refused what its client asked: the status of its reply, and the code and the detail of its problem. */
export class ServiceError extends Error {
  readonly status: number
  readonly code: string
  readonly detail: string | undefined

  constructor(status: number, code: string, message = `status ${status}`, detail?: string) {
    super(message)
    this.name = 'ServiceError'
    this.status = status
    this.code = code
    this.detail = detail
  }
}

/** Reads a refusal: a problem, or what something between client and service answered (`UNEXPECTED_REPLY`). */
export function toServiceError(status: number, text: string): ServiceError {
  try {
    const { code, title, detail } = JSON.parse(text)
    if (typeof code === 'string') return new ServiceError(status, code, detail ?? title, detail)
  } catch {
    // Not JSON, so not from the service.
  }
  return new ServiceError(status, 'UNEXPECTED_REPLY')
}
