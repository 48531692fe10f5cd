import { errors } from './errors.ts'
import { problemReplies, type ProblemKind, type ProblemReplies } from './problems.ts'

const always = [errors.HOST_MISSING, errors.HOST_AMBIGUOUS, errors.INTERNAL]
const guarded = [
  ...always,
  errors.TRANSFER_ENCODING_UNSUPPORTED,
  errors.DATA_DAMAGED,
  errors.STORE_FAILED,
  errors.MISDIRECTED_HOST,
  errors.UNAUTHORIZED,
  errors.RATE_LIMITED,
  errors.CALL_TIMED_OUT,
  errors.MEMORY_FULL,
  errors.OVERLOADED,
  errors.DRAINING,
]

/** The problems of a route that anybody may ask, always, besides its own. */
export const openReplies = (...own: ProblemKind[]): ProblemReplies => problemReplies(...always, ...own)

/** The problems of a route that reads, besides its own. */
export const readReplies = (...own: ProblemKind[]): ProblemReplies => problemReplies(...guarded, ...own)

/** What a change of what is kept on a disk may meet there. */
export const storeFaults = [errors.STORE_FAILED, errors.DISK_FULL] as const

/** The problems of a route that changes state, besides its own. */
export const changeReplies = (...own: ProblemKind[]): ProblemReplies =>
  problemReplies(
    ...guarded,
    errors.CROSS_SITE,
    errors.CONDITION_UNSUPPORTED,
    errors.BODY_TOO_LARGE,
    errors.UNSUPPORTED_MEDIA_TYPE,
    errors.CONTENT_ENCODING_UNSUPPORTED,
    errors.CONTENT_RANGE_UNSUPPORTED,
    errors.BAD_JSON,
    ...own,
  )
