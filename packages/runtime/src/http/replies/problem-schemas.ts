import { commonErrors } from '../../errors/common-errors.ts'
import { buildProblemReplies, type ProblemKind, type ProblemReplies } from '../../errors/problems.ts'

const openErrors = [commonErrors.HOST_MISSING, commonErrors.HOST_AMBIGUOUS, commonErrors.INTERNAL]
const guardedErrors = [
  ...openErrors,
  commonErrors.TRANSFER_ENCODING_UNSUPPORTED,
  commonErrors.DATA_DAMAGED,
  commonErrors.STORE_FAILED,
  commonErrors.MISDIRECTED_HOST,
  commonErrors.UNAUTHORIZED,
  commonErrors.RATE_LIMITED,
  commonErrors.INTERNAL_TIMEOUT,
  commonErrors.MEMORY_FULL,
  commonErrors.OVERLOADED,
]

/** Builds the problem replies of a route that is open to any client. @param own further problems of the route */
export const buildOpenReplies = (...own: ProblemKind[]): ProblemReplies => buildProblemReplies(...openErrors, ...own)

/** Builds the problem replies of a route that reads. @param own further problems of the route */
export const buildReadReplies = (...own: ProblemKind[]): ProblemReplies => buildProblemReplies(...guardedErrors, ...own)

/** Problems of changes to data on disk. */
export const storeErrors = [commonErrors.STORE_FAILED, commonErrors.DISK_FULL] as const

/** Builds the problem replies of a route that changes state. @param own further problems of the route */
export const buildChangeReplies = (...own: ProblemKind[]): ProblemReplies =>
  buildProblemReplies(
    ...guardedErrors,
    commonErrors.CROSS_SITE,
    commonErrors.CONDITION_UNSUPPORTED,
    commonErrors.BODY_TOO_LARGE,
    commonErrors.UNSUPPORTED_MEDIA_TYPE,
    commonErrors.CONTENT_ENCODING_UNSUPPORTED,
    commonErrors.CONTENT_RANGE_UNSUPPORTED,
    commonErrors.BAD_JSON,
    ...own,
  )
