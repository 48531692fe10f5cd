import { commonErrors as house } from '@influencer-stats/runtime/errors'
import { errors } from '../errors.ts'

// RFC 6750, 3: what a client is told of its token.
const challenge = (error?: string) => ({
  headers: { 'www-authenticate': error ? `Bearer error="${error}"` : 'Bearer' },
})

/** What a route may answer to a token that is judged by the service. */
export const tokenFaults = [errors.INVALID_TOKEN, errors.INVALID_REQUEST, errors.ORIGIN_REFUSED] as const

export const noToken = () => house.UNAUTHORIZED(undefined, challenge())
export const invalidToken = () => errors.INVALID_TOKEN(undefined, challenge('invalid_token'))
export const invalidRequest = (why: string) => errors.INVALID_REQUEST(why, challenge('invalid_request'))
export const insufficientScope = () => errors.INSUFFICIENT_SCOPE(undefined, challenge('insufficient_scope'))
