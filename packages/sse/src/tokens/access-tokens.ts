import { StartError } from '@influencer-stats/runtime/errors'
import { readGrants, type Allowance } from '../core/allowance.ts'
import { createReader, type Reader } from '../core/reader.ts'
import { HUB_PATH } from '../core/topic-url.ts'
import { invalidToken } from './refusals.ts'
import type { SseConfig } from '../settings.ts'
import { readKeys, type TokenKey } from './keys.ts'

/** Who has shown an access token that holds. */
export interface Bearer {
  readonly reader: Reader
  readonly publish: Allowance
  /** ms since 1970 */
  readonly expiresAt: number
}

/** Tells which access tokens hold, and for what. */
export interface AccessTokens {
  /** @throws Problem `INVALID_TOKEN` */
  judge(token: string): Promise<Bearer>
}

// Tokens whose signature was found good: checking one takes longer than all else of a request.
const MOST_KNOWN = 1_000
const LONGEST = 8_192

/** What relative patterns of tokens are resolved against: the hub's URL. */
export const baseOf = ({ mercureAudience }: Pick<SseConfig, 'mercureAudience'>, host = 'localhost'): string =>
  URL.parse(mercureAudience)?.protocol.startsWith('http') ? mercureAudience : `http://${host}${HUB_PATH}`

/**
 * JWT access tokens (RFC 9068) of the one issuer that the settings name; nothing where they name none.
 * @param isAllGuarded whether nothing is public
 * @throws StartError `MERCURE_KEYS`
 */
export async function createAccessTokens(config: SseConfig, isAllGuarded: boolean): Promise<AccessTokens | undefined> {
  const keys = await readKeys(config)
  const { mercureIssuer: issuer, mercureAudience: audience } = config
  if (keys.length === 0) return undefined
  if (!issuer || !audience) {
    throw new StartError('MERCURE_KEYS', 'sse: access tokens need MERCURE_ISSUER and MERCURE_AUDIENCE beside their key')
  }
  // Loaded only here: without keys it is not needed.
  const { jwtVerify, decodeProtectedHeader } = await import('jose')
  const known = new Map<string, Bearer>()

  async function verify(token: string): Promise<Bearer> {
    const { alg = '', kid } = decodeProtectedHeader(token)
    for (const { key, algorithms } of candidates(keys, alg, kid)) {
      const { payload } = await jwtVerify(token, key, {
        algorithms: [...algorithms],
        issuer,
        audience,
        typ: 'at+jwt',
        requiredClaims: ['exp'],
      }).catch(() => ({ payload: undefined }))
      if (!payload) continue
      const grants = readGrants(payload.authorization_details, baseOf(config))
      if (!grants) break
      const reader = createReader(grants.subscribe, isAllGuarded)
      return { reader, publish: grants.publish, expiresAt: payload.exp! * 1_000 }
    }
    throw invalidToken()
  }

  return {
    async judge(token) {
      const found = known.get(token)
      if (found && found.expiresAt > Date.now()) return found
      known.delete(token)
      if (token.length > LONGEST) throw invalidToken()
      let bearer: Bearer
      try {
        bearer = await verify(token)
      } catch {
        throw invalidToken()
      }
      if (known.size >= MOST_KNOWN) for (const [oldest] of known) if (known.delete(oldest)) break
      known.set(token, bearer)
      return bearer
    },
  }
}

/** The keys that a token may have been made with; which one it names decides where several have the algorithm. */
const candidates = (keys: readonly TokenKey[], alg: string, kid: string | undefined) =>
  keys.filter(({ id, algorithms }) => algorithms.includes(alg) && (kid === undefined || id === undefined || id === kid))
