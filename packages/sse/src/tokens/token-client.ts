import type { JWTPayload } from 'jose'

/**
 * Returns the issuer and the subject of a token as one text, which differs from every address. Undefined without a
 * subject: many clients may share such a token.
 */
export const toClient = ({ iss, sub }: JWTPayload): string | undefined =>
  sub === undefined ? undefined : JSON.stringify([iss, sub])
