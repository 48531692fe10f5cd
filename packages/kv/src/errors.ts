import { errors as log } from '@influencer-stats/log/errors'
import { commonErrors as house } from '@influencer-stats/runtime/errors'
import { defineErrors } from '@influencer-stats/runtime/problems'

const kvErrors = defineErrors({
  QUERY_INVALID: { status: 400, title: 'The query string is not what this path takes' },
  IDEMPOTENCY_KEY_INVALID: { status: 400, title: 'Idempotency-Key is not a string of 1 to 255 visible characters' },
  BATCH_EMPTY: { status: 400, title: 'The batch contains no changes' },
  BATCH_LINE_INVALID: { status: 400, title: 'A line of the batch is not a change; nothing was applied' },
  KEYS_INVALID: { status: 400, title: 'Invalid list of keys' },
  ENTITY_NOT_FOUND: { status: 404, title: 'There is no value under this key' },
  SEQUENCE_GONE: {
    status: 410,
    title: 'What was changed after this sequence is not kept any more: read the range again',
  },
  KEY_TOO_LARGE: { status: 413, title: 'The key is larger than 1,024 bytes' },
  KEYS_TOO_LARGE: { status: 413, title: 'List of keys too large' },
  VALUE_TOO_LARGE: { status: 413, title: 'The value is larger than allowed' },
  BATCH_TOO_LARGE: { status: 413, title: 'The batch is larger than allowed' },
  TOO_MANY_WATCHERS: { status: 503, title: 'There are as many streams of changes as there may be' },
  IDEMPOTENCY_KEY_REUSED: { status: 422, title: 'Another change was made with this Idempotency-Key' },
  WRITE_QUEUE_FULL: { status: 503, title: 'More writes wait than the disk takes' },
})

/** What this service may answer besides what every service may. */
export const errors = {
  ...kvErrors,
  CONDITION_INVALID: house.CONDITION_INVALID,
  CONDITION_FAILED: house.CONDITION_FAILED,
  STORE_FAILED: house.STORE_FAILED,
  DISK_FULL: house.DISK_FULL,
  LOG_UNAVAILABLE: log.LOG_UNAVAILABLE,
  LOG_BEHIND: log.LOG_BEHIND,
  OUTCOME_UNKNOWN: log.OUTCOME_UNKNOWN,
}
