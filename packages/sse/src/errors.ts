import { errors as log } from '@influencer-stats/log/errors'
import { defineErrors } from '@influencer-stats/runtime/problems'

const sseErrors = defineErrors({
  VALUE_NOT_UTF8: { status: 400, title: 'The value is not UTF-8' },
  HUB_TOPIC: { status: 403, title: "The topic is the hub's own" },
  INVALID_MATCHER: { status: 400, title: 'What to subscribe to is not well-formed' },
  INVALID_UPDATE: { status: 400, title: 'The update is not well-formed' },
  INVALID_REQUEST: { status: 400, title: 'How the request shows its token is not well-formed' },
  INVALID_TOKEN: { status: 401, title: 'The access token does not hold' },
  INSUFFICIENT_SCOPE: { status: 403, title: 'The access token does not allow this' },
  ORIGIN_REFUSED: { status: 403, title: 'Pages of this origin may not use the cookie' },
  VALUE_TWICE: { status: 409, title: 'The value came both as a parameter and as a body' },
  VALUE_NOT_FOUND: { status: 404, title: 'The topic has no value' },
  STREAM_LIMIT: { status: 429, title: 'As many streams are open as there may be' },
  PATTERN_LIMIT: { status: 429, title: 'As many patterns alike are subscribed to as there may be' },
  TOO_MANY_STREAMS: { status: 503, title: 'As many streams are open as there may be' },
  FALLEN_BEHIND: { status: 503, title: 'Values come faster than they can be brought to all threads' },
})

/** What this service may answer besides what every service may. */
export const errors = {
  ...sseErrors,
  LOG_UNAVAILABLE: log.LOG_UNAVAILABLE,
  LOG_BEHIND: log.LOG_BEHIND,
  OUTCOME_UNKNOWN: log.OUTCOME_UNKNOWN,
}

/** What a node of many may answer to who puts, and to who comes back to a place that it has yet to reach. */
export const logWriteErrors = [errors.LOG_UNAVAILABLE, errors.OUTCOME_UNKNOWN] as const
export const logReadErrors = [errors.LOG_UNAVAILABLE, errors.LOG_BEHIND] as const
