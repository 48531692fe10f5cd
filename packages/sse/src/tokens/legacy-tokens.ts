import type { jwtVerify } from 'jose'
import { parseLegacyPermissions, type TokenPermissions } from '../core/topic-permissions.ts'
import type { SseConfig } from '../settings.ts'
import { toClient } from './token-client.ts'
import { createInvalidTokenError } from './token-errors.ts'
import { createKeyError, parseKey, type TokenKey } from './token-keys.ts'

/** Permissions of a client with a valid 0.x token. */
export interface LegacyBearer {
  readonly permissions: TokenPermissions
  /** As in `Bearer`. */
  readonly client: string | undefined
  /** ms since 1970 */
  readonly expiresAt: number | undefined
}

/** Verifies tokens of the protocol 0.x. */
export interface LegacyTokens {
  /** @throws Error if the token is not valid */
  verify(token: string, isPublisher: boolean): Promise<LegacyBearer>
}

/** True if the settings have keys of 0.x tokens. */
export const hasLegacyKeys = ({ mercurePublisherJwtKey, mercureSubscriberJwtKey }: SseConfig): boolean =>
  mercurePublisherJwtKey !== '' || mercureSubscriberJwtKey !== ''

// The hub of the project accepts this name of the claim, too.
const NAMESPACED_CLAIM = 'https://mercure.rocks/'

/**
 * Creates the verifier of 0.x tokens: JWTs with the claim `mercure`, of any `typ`, issuer and audience, and of no
 * required expiry. Returns undefined if the mode of compatibility is off.
 * @throws StartError `MERCURE_KEYS`
 */
export function createLegacyTokens(config: SseConfig, verifyJwt: typeof jwtVerify): LegacyTokens | undefined {
  if (config.mercureCompatibility === '') return undefined
  const keys = readLegacyKeys(config)
  return {
    async verify(token, isPublisher) {
      const known = isPublisher ? keys.publisher : keys.subscriber
      if (!known) throw createInvalidTokenError()
      // An `exp` or `nbf` is optional, but it is enforced.
      const { payload } = await verifyJwt(token, known.key, { algorithms: [...known.algorithms] })
      const permissions = parseLegacyPermissions(payload[NAMESPACED_CLAIM] ?? payload.mercure)
      if (!permissions) throw createInvalidTokenError()
      return {
        permissions,
        client: toClient(payload),
        expiresAt: payload.exp === undefined ? undefined : payload.exp * 1_000,
      }
    },
  }
}

/** @throws StartError `MERCURE_KEYS` */
export function readLegacyKeys(config: SseConfig) {
  const { mercurePublisherJwtKey: publisher, mercureSubscriberJwtKey: subscriber, mercureJwtKey } = config
  if (config.mercureCompatibility === '' && hasLegacyKeys(config))
    throw createKeyError(
      'MERCURE_PUBLISHER_JWT_KEY and MERCURE_SUBSCRIBER_JWT_KEY need MERCURE_COMPATIBILITY=8; access tokens need MERCURE_JWT_KEY',
    )
  const read = (key: string, role: string, alg: string): TokenKey | undefined => {
    if (key === '') return mercureJwtKey === '' ? undefined : parseKey(mercureJwtKey, 'MERCURE_JWT_KEY', '')
    return restrict(parseKey(key, `MERCURE_${role}_JWT_KEY`, ''), role, alg)
  }
  return {
    publisher: read(publisher, 'PUBLISHER', config.mercurePublisherJwtAlg),
    subscriber: read(subscriber, 'SUBSCRIBER', config.mercureSubscriberJwtAlg),
  }
}

function restrict(key: TokenKey, role: string, alg: string): TokenKey {
  if (!key.algorithms.includes(alg))
    throw createKeyError(`MERCURE_${role}_JWT_KEY is no key of the algorithm ${alg} in MERCURE_${role}_JWT_ALG`)
  return { ...key, algorithms: [alg] }
}
