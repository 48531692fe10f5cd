import { errors } from '../errors.ts'

/** Errors of every write. */
export const writeErrors = [
  errors.QUERY_INVALID,
  errors.IDEMPOTENCY_KEY_INVALID,
  errors.KEY_TOO_LARGE,
  errors.IDEMPOTENCY_KEY_REUSED,
  errors.WRITE_QUEUE_FULL,
  errors.STORE_FAILED,
  errors.DISK_FULL,
  errors.LOG_UNAVAILABLE,
  errors.OUTCOME_UNKNOWN,
]

/** Errors of a write with conditions. */
export const conditionalErrors = [...writeErrors, errors.CONDITION_INVALID, errors.CONDITION_FAILED]
