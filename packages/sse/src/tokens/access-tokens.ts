import { parseTokenPermissions, type TokenPermissions, type TopicPermissions } from '../core/topic-permissions.ts'
import { createReadScope, type ReadScope } from '../core/read-scope.ts'
import { HUB_PATH } from '../core/patterns/topic-url.ts'
import { createInvalidTokenError } from './token-errors.ts'
import type { SseConfig } from '../settings.ts'
import { toClient } from './token-client.ts'
import { createLegacyTokens, hasLegacyKeys } from './legacy-tokens.ts'
import { checkKeySettings, hasKeys, KeyRing, type KeyRingOptions } from './key-ring.ts'

/** Permissions of a client with a valid access token. */
export interface Bearer {
  readonly reader: ReadScope
  readonly publish: TopicPermissions
  /** As in `TokenPermissions`. */
  readonly getPayload: TokenPermissions['getPayload']
  /** Issuer and subject of the token, as one text. Undefined without a subject. */
  readonly client: string | undefined
  /** Expiry of the token (ms since 1970). Undefined for a 0.x token without one. */
  readonly expiresAt: number | undefined
}

/** Verifies access tokens and returns their permissions. */
export interface AccessTokens {
  /** Verifies a token. @param isPublisher true if the client publishes. @throws Problem `INVALID_TOKEN` */
  verify(token: string, isPublisher: boolean): Promise<Bearer>
  /** Stops following the keys. Idempotent. */
  close(): void
}

// Valid tokens are cached, because a verification takes longer than the rest of a request.
const MAX_CACHED_TOKENS = 1_000
const MAX_TOKEN_LENGTH = 8_192

/** Returns the hub's URL, against which relative topics and patterns are resolved. @param host host of the request */
export const getBaseUrl = ({ mercureAudience }: Pick<SseConfig, 'mercureAudience'>, host = 'localhost'): string =>
  URL.parse(mercureAudience)?.protocol.startsWith('http') ? mercureAudience : `http://${host}${HUB_PATH}`

/**
 * Creates the verifier of access tokens: JWTs (RFC 9068) of the issuers in the settings. Returns undefined if the
 * settings have no keys.
 * @param isReadTokenRequired if true, no event is public
 * @throws StartError `MERCURE_KEYS`
 */
export async function createAccessTokens(
  config: SseConfig,
  isReadTokenRequired: boolean,
  log: KeyRingOptions['log'],
): Promise<AccessTokens | undefined> {
  checkKeySettings(config)
  if (!hasKeys(config) && !hasLegacyKeys(config)) return undefined
  // Loaded only now, because a service without keys does not need this module.
  const { jwtVerify, decodeProtectedHeader } = await import('jose')
  let cache = new Map<string, Bearer>()
  /** In 0.x, the keys of publishers and subscribers may differ. */
  let publisherCache = new Map<string, Bearer>()
  const legacy = createLegacyTokens(config, jwtVerify)
  const keys = new KeyRing(config, {
    log,
    // A verification that runs now keeps the previous cache, so its result is not used again.
    onChange() {
      cache = new Map()
      publisherCache = new Map()
    },
  })

  /** Returns undefined if no key verifies the token. */
  async function verifyWithKeys(token: string, alg: string, kid: string | undefined): Promise<Bearer | undefined> {
    for (const { key, algorithms, issuer } of keys.find(alg, kid)) {
      const { payload } = await jwtVerify(token, key, {
        algorithms: [...algorithms],
        issuer,
        audience: config.mercureAudience,
        typ: 'at+jwt',
        requiredClaims: ['exp'],
      }).catch(() => ({ payload: undefined }))
      if (!payload) continue
      const permissions = parseTokenPermissions(payload.authorization_details, getBaseUrl(config))
      if (!permissions) throw createInvalidTokenError()
      const reader = createReadScope(permissions.subscribe, isReadTokenRequired)
      const { publish, getPayload } = permissions
      return { reader, publish, getPayload, client: toClient(payload), expiresAt: payload.exp! * 1_000 }
    }
    return undefined
  }

  async function verify(token: string, isPublisher: boolean): Promise<Bearer> {
    const { alg = '', kid, typ } = decodeProtectedHeader(token)
    if (legacy && !isAccessTokenType(typ)) {
      const { permissions, client, expiresAt } = await legacy.verify(token, isPublisher)
      const reader = createReadScope(permissions.subscribe, isReadTokenRequired)
      return { reader, publish: permissions.publish, getPayload: permissions.getPayload, client, expiresAt }
    }
    const bearer = await verifyWithKeys(token, alg, kid)
    if (bearer) return bearer
    const verified = (await keys.refresh(kid)) ? await verifyWithKeys(token, alg, kid) : undefined
    if (!verified) throw createInvalidTokenError()
    return verified
  }

  return {
    async verify(token, isPublisher) {
      const current = legacy && isPublisher ? publisherCache : cache
      const cached = current.get(token)
      if (cached && (cached.expiresAt ?? Infinity) > Date.now()) return cached
      current.delete(token)
      if (token.length > MAX_TOKEN_LENGTH) throw createInvalidTokenError()
      let bearer: Bearer
      try {
        bearer = await verify(token, isPublisher)
      } catch {
        throw createInvalidTokenError()
      }
      if (current.size >= MAX_CACHED_TOKENS) for (const [oldest] of current) if (current.delete(oldest)) break
      current.set(token, bearer)
      return bearer
    },
    close: () => keys.close(),
  }
}

/** True for the `typ` of a JWT access token (RFC 9068), in any spelling that the standard allows. */
const isAccessTokenType = (typ: unknown): boolean => typeof typ === 'string' && /^(?:application\/)?at\+jwt$/i.test(typ)
