import { errors as log } from '@influencer-stats/log/errors'
import { defineErrors } from '@influencer-stats/runtime/problems'

const sseErrors = defineErrors({
  VALUE_NOT_UTF8: { status: 400, title: 'Value is not UTF-8' },
  IMPORT_LINE_INVALID: { status: 400, title: 'Invalid line of an import; nothing was applied' },
  HUB_TOPIC: { status: 403, title: 'Topic reserved for the hub' },
  INVALID_MATCHER: { status: 400, title: 'Invalid topic matcher' },
  INVALID_UPDATE: { status: 400, title: 'Invalid update' },
  INVALID_REQUEST: { status: 400, title: 'Malformed token in the request' },
  INVALID_TOKEN: { status: 401, title: 'Invalid access token' },
  INSUFFICIENT_SCOPE: { status: 403, title: 'Insufficient scope of the access token' },
  ORIGIN_REFUSED: { status: 403, title: 'Origin not allowed to use the cookie' },
  DUPLICATE_VALUE: { status: 409, title: 'Value given both as a parameter and as a body' },
  VALUE_NOT_FOUND: { status: 404, title: 'Topic has no value' },
  STREAM_LIMIT: { status: 429, title: 'Stream limit of this client reached' },
  PATTERN_LIMIT: { status: 429, title: 'Limit of similar patterns reached' },
  TOO_MANY_STREAMS: { status: 503, title: 'Too many open streams' },
  FANOUT_BACKLOG_FULL: { status: 503, title: 'Fan-out backlog full' },
})

/** Errors of this service, in addition to those of every service. */
export const errors = {
  ...sseErrors,
  LOG_UNAVAILABLE: log.LOG_UNAVAILABLE,
  SEQUENCE_WAIT_TIMEOUT: log.SEQUENCE_WAIT_TIMEOUT,
  OUTCOME_UNKNOWN: log.OUTCOME_UNKNOWN,
}

/**
 * Errors of a cluster node: for publishers, and for clients that resume after a sequence number that the node has not
 * applied yet.
 */
export const logWriteErrors = [errors.LOG_UNAVAILABLE, errors.OUTCOME_UNKNOWN] as const
export const logReadErrors = [errors.LOG_UNAVAILABLE, errors.SEQUENCE_WAIT_TIMEOUT] as const
