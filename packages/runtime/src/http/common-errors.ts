import { defineErrors } from './problems.ts'

/** What any service of the house may answer, whatever it does. */
export const commonErrors = defineErrors({
  BAD_REQUEST: { status: 400, title: 'The request is not well-formed HTTP' },
  BAD_JSON: { status: 400, title: 'The body is not valid JSON' },
  VALIDATION_FAILED: { status: 400, title: 'The request does not fit the schema' },
  CONDITION_INVALID: { status: 400, title: 'If-Match or If-None-Match is neither * nor a list of entity tags' },
  CONDITION_UNSUPPORTED: {
    status: 400,
    title: 'This request cannot have a condition: send it without If-Match and If-None-Match',
  },
  HOST_MISSING: { status: 400, title: 'The request names no host' },
  HOST_AMBIGUOUS: { status: 400, title: 'The request names more than one host' },
  UNAUTHORIZED: { status: 401, title: 'A valid bearer token is needed' },
  CROSS_SITE: { status: 403, title: 'Another site may not change state here' },
  NOT_FOUND: { status: 404, title: 'There is nothing at this path' },
  KEPT_ELSEWHERE: { status: 409, title: 'What this service has is kept elsewhere' },
  METHOD_NOT_ALLOWED: { status: 405, title: 'This path does not take this method' },
  NOTHING_KEPT: { status: 404, title: 'This service keeps nothing that could be backed up' },
  CONTENT_RANGE_UNSUPPORTED: { status: 400, title: 'Content-Range is not supported: send the whole content' },
  REQUEST_TIMEOUT: { status: 408, title: 'The request took too long to arrive' },
  CONDITION_FAILED: { status: 412, title: 'The current version does not meet the condition of the request' },
  BODY_TOO_LARGE: { status: 413, title: 'The body is larger than allowed' },
  URI_TOO_LONG: { status: 414, title: 'The path is longer than allowed' },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, title: 'The body has a media type that is not taken here' },
  CONTENT_ENCODING_UNSUPPORTED: { status: 415, title: 'Content-Encoding is not supported' },
  EXPECTATION_FAILED: { status: 417, title: 'The expectation cannot be met' },
  MISDIRECTED_HOST: { status: 421, title: 'The Host header names a host that is not served here' },
  RATE_LIMITED: { status: 429, title: 'More requests have come from you than may in this time' },
  HEADERS_TOO_LARGE: { status: 431, title: 'The request head is larger than allowed' },
  INTERNAL: { status: 500, title: 'Something went wrong on our side' },
  DATA_DAMAGED: { status: 500, title: 'What is kept of this cannot be read: the disk has damaged it' },
  TRANSFER_ENCODING_UNSUPPORTED: { status: 501, title: 'Transfer-Encoding other than chunked is not supported' },
  NOT_READY: { status: 503, title: 'The service is not ready' },
  CALL_TIMED_OUT: { status: 503, title: 'The service was too busy to answer; a change may still be made' },
  MEMORY_FULL: { status: 503, title: 'The service holds as much for its clients as it may at a time' },
  OVERLOADED: { status: 503, title: 'The service is asked for more than it can do at present' },
  BACKUPS_RUNNING: { status: 503, title: 'As many backups as may run at a time do already' },
  DRAINING: { status: 503, title: 'The service is shutting down' },
  STORE_FAILED: { status: 503, title: 'The store takes no writes at present; reads go on' },
  DISK_FULL: { status: 507, title: 'The disk is full; reads go on' },
})

/** There is no room in the budget at present. */
export const createMemoryFull = () => commonErrors.MEMORY_FULL(undefined, { headers: { 'retry-after': '1' } })

/** More is asked for than can be done. */
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
