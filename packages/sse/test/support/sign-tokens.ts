import { SignJWT, type JWTPayload } from 'jose'

/** Key, issuer and audience that the hubs of these tests accept. */
export const SECRET = 'a secret of thirty-two characters'
export const ISSUER = 'https://issuer.example'
export const AUDIENCE = 'https://hub.example/.well-known/mercure'

export const MERCURE = { mercureIssuer: ISSUER, mercureAudience: AUDIENCE, mercureJwtKey: SECRET }

const TYPE = 'https://mercure.rocks/authorization-detail'

/** A topic of a grant; its default `match_type` is exact. */
export type GrantedTopic = string | { readonly match: unknown; readonly match_type?: string }

/** Creates the claim `authorization_details` for these topics by action. */
export const toDetails = (grants: Readonly<Record<string, readonly GrantedTopic[]>>) =>
  Object.entries(grants).map(([action, topics]) => ({
    type: TYPE,
    actions: [action],
    topics: topics.map((match) => (typeof match === 'string' ? { match } : match)),
  }))

export interface TokenOptions {
  readonly header?: Readonly<Record<string, unknown>>
  readonly claims?: JWTPayload
  /** ms since 1970 */
  readonly expiresAt?: number
  readonly secret?: string
}

/** Creates a token with these topics by action. */
export function sign(
  grants: Readonly<Record<string, readonly GrantedTopic[]>>,
  { header, claims, expiresAt = Date.now() + 600_000, secret = SECRET }: TokenOptions = {},
): Promise<string> {
  const exp = Math.floor(expiresAt / 1_000)
  const payload = { iss: ISSUER, aud: AUDIENCE, exp, authorization_details: toDetails(grants), ...claims }
  const all = Object.fromEntries(Object.entries(payload).filter(([, value]) => value !== undefined))
  return new SignJWT(all).setProtectedHeader({ alg: 'HS256', typ: 'at+jwt', ...header }).sign(Buffer.from(secret))
}

export type LegacyClaim = Readonly<Record<string, unknown>>

/** Signs a token as clients of the protocol 0.x do: without a type, an issuer or an expiry. */
export const signLegacy = (key: string, mercure: unknown, claims: LegacyClaim = {}, header: LegacyClaim = {}) =>
  new SignJWT({ ...(mercure !== undefined && { mercure }), ...claims })
    .setProtectedHeader({ alg: 'HS256', ...header })
    .sign(Buffer.from(key))

/** Creates a token that allows everything. */
export const signAll = (options?: TokenOptions) => sign({ publish: ['*'], subscribe: ['*'] }, options)

export const toBearerHeader = (token: string) => ({ authorization: `Bearer ${token}` })
export const toCookieHeader = (token: string) => ({ cookie: `a=b; __Secure-mercure_access_token=${token}; c=d` })
