import { StartError } from '@influencer-stats/runtime/errors'
import { createPublicKey, createSecretKey, type JsonWebKey, type KeyObject } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { SseConfig } from '../settings.ts'

/** A key and what it may be used with: a token cannot choose. */
export interface TokenKey {
  readonly id: string | undefined
  readonly algorithms: readonly string[]
  readonly key: KeyObject
}

/** Shorter ones can be guessed (RFC 7518, 3.2; bytes). */
const SHORTEST_SECRET = 32

const CURVES: Readonly<Record<string, string>> = { prime256v1: 'ES256', secp384r1: 'ES384', secp521r1: 'ES512' }

/** The keys that the settings name. @throws StartError `MERCURE_KEYS` */
export async function readKeys({ mercureJwtKey, mercureJwksFile }: SseConfig): Promise<TokenKey[]> {
  const keys = mercureJwtKey ? [fromText(mercureJwtKey.replaceAll('\\n', '\n'))] : []
  return mercureJwksFile ? [...keys, ...(await fromFile(mercureJwksFile))] : keys
}

const wrong = (why: string) => new StartError('MERCURE_KEYS', `sse: the keys of access tokens cannot be used: ${why}`)

function fromText(text: string): TokenKey {
  if (!text.includes('-----BEGIN')) return fromSecret(Buffer.from(text), undefined)
  if (text.includes('PRIVATE KEY')) throw wrong('MERCURE_JWT_KEY is a private key; a public one is needed')
  try {
    return checked({ id: undefined, key: createPublicKey(text) })
  } catch (error) {
    throw error instanceof StartError ? error : wrong('MERCURE_JWT_KEY is no public key')
  }
}

async function fromFile(file: string): Promise<TokenKey[]> {
  let keys: unknown
  try {
    keys = JSON.parse(await readFile(file, 'utf8')).keys
  } catch {
    throw wrong(`${file} cannot be read as JSON`)
  }
  if (!Array.isArray(keys) || keys.length === 0) throw wrong(`${file} holds no keys`)
  return keys.map((jwk: JsonWebKey & { kid?: string; alg?: string; k?: string }) => {
    try {
      if (jwk.kty === 'oct') return fromSecret(Buffer.from(jwk.k ?? '', 'base64url'), jwk.kid, jwk.alg)
      return checked({ id: jwk.kid, key: createPublicKey({ key: jwk, format: 'jwk' }) }, jwk.alg)
    } catch (error) {
      throw error instanceof StartError ? error : wrong(`${file} holds a key that is none`)
    }
  })
}

function fromSecret(secret: Buffer, id: string | undefined, alg?: string): TokenKey {
  if (secret.length < SHORTEST_SECRET) throw wrong(`a secret needs ${SHORTEST_SECRET} bytes or more`)
  return checked({ id, key: createSecretKey(secret) }, alg)
}

/** @param alg the only algorithm, where the key names one */
function checked({ id, key }: Pick<TokenKey, 'id' | 'key'>, alg?: string): TokenKey {
  const fitting = algorithmsOf(key)
  if (fitting.length === 0 || (alg !== undefined && !fitting.includes(alg))) throw wrong('a key fits no algorithm')
  return { id, key, algorithms: alg === undefined ? fitting : [alg] }
}

function algorithmsOf({ type, asymmetricKeyType: kind, asymmetricKeyDetails: details }: KeyObject): string[] {
  if (type === 'secret') return ['HS256', 'HS384', 'HS512']
  if (kind === 'rsa') return (details?.modulusLength ?? 0) < 2_048 ? [] : ['RS256', 'RS384', 'RS512', 'PS256']
  if (kind === 'ec') return [CURVES[details?.namedCurve ?? ''] ?? []].flat()
  return kind === 'ed25519' ? ['EdDSA', 'Ed25519'] : []
}
