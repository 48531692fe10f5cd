import type { TSchema } from 'typebox'
import { errors } from './errors.ts'
import { problemReplies, type ProblemKind } from './problems.ts'

type Replies = Record<number, TSchema>

const always = [errors.HOST_MISSING, errors.MISDIRECTED_HOST, errors.INTERNAL]
const guarded = [...always, errors.UNAUTHORIZED, errors.DRAINING]

/** The problems of a route that anybody may ask, always, besides its own. */
export const openReplies = (...own: ProblemKind[]): Replies => problemReplies(...always, ...own)

/** The problems of a route that reads, besides its own. */
export const readReplies = (...own: ProblemKind[]): Replies => problemReplies(...guarded, ...own)

/** The problems of a route that changes state, besides its own. */
export const changeReplies = (...own: ProblemKind[]): Replies =>
  problemReplies(...guarded, errors.CROSS_SITE, errors.BODY_TOO_LARGE, errors.UNSUPPORTED_MEDIA_TYPE, errors.BAD_JSON, ...own)
