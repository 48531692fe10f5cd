import { defineErrors } from './problems.ts'

/** Errors that every service can return. */
export const commonErrors = defineErrors({
  BAD_REQUEST: { status: 400, title: 'Malformed HTTP request' },
  BAD_JSON: { status: 400, title: 'Invalid JSON body' },
  BAD_GZIP: { status: 400, title: 'Invalid gzip body' },
  VALIDATION_FAILED: { status: 400, title: 'Validation failed' },
  CONDITION_INVALID: { status: 400, title: 'Invalid If-Match or If-None-Match' },
  CONDITION_UNSUPPORTED: {
    status: 400,
    title: 'Conditional request not supported: send it without If-Match and If-None-Match',
  },
  HOST_MISSING: { status: 400, title: 'Host header required' },
  HOST_AMBIGUOUS: { status: 400, title: 'More than one Host' },
  UNAUTHORIZED: { status: 401, title: 'Valid bearer token required' },
  CROSS_SITE: { status: 403, title: 'Cross-site write refused' },
  NOT_FOUND: { status: 404, title: 'Path not found' },
  METHOD_NOT_ALLOWED: { status: 405, title: 'Method not allowed' },
  NO_DATA: { status: 404, title: 'No data to back up' },
  CONTENT_RANGE_UNSUPPORTED: { status: 400, title: 'Content-Range not supported: send the whole content' },
  REQUEST_TIMEOUT: { status: 408, title: 'Request timeout' },
  CONDITION_FAILED: { status: 412, title: 'Precondition failed' },
  BODY_TOO_LARGE: { status: 413, title: 'Request body too large' },
  URI_TOO_LONG: { status: 414, title: 'URI too long' },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, title: 'Unsupported media type' },
  CONTENT_ENCODING_UNSUPPORTED: { status: 415, title: 'Unsupported content encoding' },
  EXPECTATION_FAILED: { status: 417, title: 'Expectation failed' },
  MISDIRECTED_HOST: { status: 421, title: 'Host not served here' },
  RATE_LIMITED: { status: 429, title: 'Rate limit exceeded' },
  HEADERS_TOO_LARGE: { status: 431, title: 'Request header fields too large' },
  INTERNAL: { status: 500, title: 'Internal error' },
  DATA_DAMAGED: { status: 500, title: 'Stored data damaged' },
  TRANSFER_ENCODING_UNSUPPORTED: { status: 501, title: 'Unsupported transfer encoding' },
  NOT_READY: { status: 503, title: 'Service not ready' },
  INTERNAL_TIMEOUT: { status: 503, title: 'Internal timeout; a write may still be applied' },
  MEMORY_FULL: { status: 503, title: 'Client memory limit reached' },
  OVERLOADED: { status: 503, title: 'Service overloaded' },
  TOO_MANY_BACKUPS: { status: 503, title: 'Too many backups in progress' },
  STORE_FAILED: { status: 503, title: 'Store is read-only after a write error' },
  WRITES_STOPPED: { status: 503, title: 'Writes stopped by the operator' },
  DISK_FULL: { status: 507, title: 'Disk full' },
})

/** The client memory limit is reached. The client may retry after 1 s. */
export const createMemoryFull = () => commonErrors.MEMORY_FULL(undefined, { headers: { 'retry-after': '1' } })

/** The service is overloaded. The client may retry after 1 s. */
export const createOverloaded = () => commonErrors.OVERLOADED(undefined, { headers: { 'retry-after': '1' } })

/** A start that cannot succeed: one line for the user, no stack. */
export class StartError extends Error {
  readonly code: string

  constructor(code: string, message: string) {
    super(message)
    this.name = 'StartError'
    this.code = code
  }
}
