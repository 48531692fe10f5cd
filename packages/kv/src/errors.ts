import { errors as log } from '@influencer-stats/log/errors'
import { commonErrors } from '@influencer-stats/runtime/errors'
import { defineErrors } from '@influencer-stats/runtime/problems'

const kvErrors = defineErrors({
  QUERY_INVALID: { status: 400, title: 'Invalid query string' },
  IDEMPOTENCY_KEY_INVALID: { status: 400, title: 'Invalid Idempotency-Key: 1 to 255 visible characters required' },
  BATCH_EMPTY: { status: 400, title: 'Empty batch' },
  BATCH_LINE_INVALID: { status: 400, title: 'Invalid line in the batch; nothing was applied' },
  KEYS_INVALID: { status: 400, title: 'Invalid list of keys' },
  ENTITY_NOT_FOUND: { status: 404, title: 'Key not found' },
  SEQUENCE_EXPIRED: {
    status: 410,
    title: 'Sequence no longer in the watch history: read the range again',
  },
  KEY_TOO_LARGE: { status: 413, title: 'Key too large: at most 1,024 bytes' },
  KEYS_TOO_LARGE: { status: 413, title: 'List of keys too large' },
  VALUE_TOO_LARGE: { status: 413, title: 'Value too large' },
  BATCH_TOO_LARGE: { status: 413, title: 'Batch too large' },
  TOO_MANY_WATCHERS: { status: 503, title: 'Too many watch streams' },
  IDEMPOTENCY_KEY_REUSED: { status: 422, title: 'Idempotency-Key reused with another write' },
  STOP_NOT_SUPPORTED: { status: 409, title: 'Only a standalone service with a database can stop writes' },
  WRITE_QUEUE_FULL: { status: 503, title: 'Write queue full' },
})

/** Errors of this service, in addition to those of every service. */
export const errors = {
  ...kvErrors,
  CONDITION_INVALID: commonErrors.CONDITION_INVALID,
  CONDITION_FAILED: commonErrors.CONDITION_FAILED,
  STORE_FAILED: commonErrors.STORE_FAILED,
  DISK_FULL: commonErrors.DISK_FULL,
  WRITES_STOPPED: commonErrors.WRITES_STOPPED,
  LOG_UNAVAILABLE: log.LOG_UNAVAILABLE,
  SEQUENCE_WAIT_TIMEOUT: log.SEQUENCE_WAIT_TIMEOUT,
  OUTCOME_UNKNOWN: log.OUTCOME_UNKNOWN,
}

/** Errors of every write. */
export const writeErrors = [
  errors.QUERY_INVALID,
  errors.IDEMPOTENCY_KEY_INVALID,
  errors.KEY_TOO_LARGE,
  errors.IDEMPOTENCY_KEY_REUSED,
  errors.WRITE_QUEUE_FULL,
  errors.STORE_FAILED,
  errors.DISK_FULL,
  errors.WRITES_STOPPED,
  errors.LOG_UNAVAILABLE,
  errors.OUTCOME_UNKNOWN,
]

/** Errors of a write with conditions. */
export const conditionalErrors = [...writeErrors, errors.CONDITION_INVALID, errors.CONDITION_FAILED]
