import { StartError } from '@influencer-stats/runtime/errors'
import { parseTokenPermissions, type TopicPermissions } from '../core/topic-permissions.ts'
import { createReadScope, type ReadScope } from '../core/read-scope.ts'
import { HUB_PATH } from '../core/topic-url.ts'
import { createInvalidTokenError } from './token-errors.ts'
import type { SseConfig } from '../settings.ts'
import { readKeys, type TokenKey } from './token-keys.ts'

/** Permissions of a client with a valid access token. */
export interface Bearer {
  readonly reader: ReadScope
  readonly publish: TopicPermissions
  /** Expiry of the token (ms since 1970). */
  readonly expiresAt: number
}

/** Verifies access tokens and returns their permissions. */
export interface AccessTokens {
  /** Verifies a token. @throws Problem `INVALID_TOKEN` */
  verify(token: string): Promise<Bearer>
}

// Valid tokens are cached, because a verification takes longer than the rest of a request.
const MAX_CACHED_TOKENS = 1_000
const MAX_TOKEN_LENGTH = 8_192

/** Returns the hub's URL, against which relative topics and patterns are resolved. @param host host of the request */
export const getBaseUrl = ({ mercureAudience }: Pick<SseConfig, 'mercureAudience'>, host = 'localhost'): string =>
  URL.parse(mercureAudience)?.protocol.startsWith('http') ? mercureAudience : `http://${host}${HUB_PATH}`

/**
 * Creates the verifier of access tokens: JWTs (RFC 9068) of the issuer in the settings. Returns undefined if the
 * settings have no keys.
 * @param isReadTokenRequired if true, no event is public
 * @throws StartError `MERCURE_KEYS`
 */
export async function createAccessTokens(
  config: SseConfig,
  isReadTokenRequired: boolean,
): Promise<AccessTokens | undefined> {
  const keys = await readKeys(config)
  const { mercureIssuer: issuer, mercureAudience: audience } = config
  if (keys.length === 0) return undefined
  if (!issuer || !audience) {
    throw new StartError(
      'MERCURE_KEYS',
      'sse: access tokens need MERCURE_ISSUER and MERCURE_AUDIENCE in addition to their key',
    )
  }
  // Loaded only now, because a service without keys does not need this module.
  const { jwtVerify, decodeProtectedHeader } = await import('jose')
  const cache = new Map<string, Bearer>()

  async function verify(token: string): Promise<Bearer> {
    const { alg = '', kid } = decodeProtectedHeader(token)
    for (const { key, algorithms } of findCandidateKeys(keys, alg, kid)) {
      const { payload } = await jwtVerify(token, key, {
        algorithms: [...algorithms],
        issuer,
        audience,
        typ: 'at+jwt',
        requiredClaims: ['exp'],
      }).catch(() => ({ payload: undefined }))
      if (!payload) continue
      const permissions = parseTokenPermissions(payload.authorization_details, getBaseUrl(config))
      if (!permissions) break
      const reader = createReadScope(permissions.subscribe, isReadTokenRequired)
      return { reader, publish: permissions.publish, expiresAt: payload.exp! * 1_000 }
    }
    throw createInvalidTokenError()
  }

  return {
    async verify(token) {
      const cached = cache.get(token)
      if (cached && cached.expiresAt > Date.now()) return cached
      cache.delete(token)
      if (token.length > MAX_TOKEN_LENGTH) throw createInvalidTokenError()
      let bearer: Bearer
      try {
        bearer = await verify(token)
      } catch {
        throw createInvalidTokenError()
      }
      if (cache.size >= MAX_CACHED_TOKENS) for (const [oldest] of cache) if (cache.delete(oldest)) break
      cache.set(token, bearer)
      return bearer
    },
  }
}

/** Returns the keys that may have signed a token: keys with its algorithm and, if both have an id, with the same id. */
const findCandidateKeys = (keys: readonly TokenKey[], alg: string, kid: string | undefined) =>
  keys.filter(({ id, algorithms }) => algorithms.includes(alg) && (kid === undefined || id === undefined || id === kid))
