import { commonErrors } from '@influencer-stats/runtime/errors'
import { errors } from '../errors.ts'

// The challenge of a refused token (RFC 6750, section 3).
const createChallenge = (error?: string) => ({
  headers: { 'www-authenticate': error ? `Bearer error="${error}"` : 'Bearer' },
})

/** Errors that a route with access tokens may return. */
export const tokenErrors = [errors.INVALID_TOKEN, errors.INVALID_REQUEST, errors.ORIGIN_REFUSED] as const

export const createNoTokenError = () => commonErrors.UNAUTHORIZED(undefined, createChallenge())
export const createInvalidTokenError = () => errors.INVALID_TOKEN(undefined, createChallenge('invalid_token'))
export const createInvalidRequestError = (why: string) =>
  errors.INVALID_REQUEST(why, createChallenge('invalid_request'))
export const createScopeError = () => errors.INSUFFICIENT_SCOPE(undefined, createChallenge('insufficient_scope'))
