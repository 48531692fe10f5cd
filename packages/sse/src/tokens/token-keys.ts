import { StartError } from '@influencer-stats/runtime/errors'
import { createPublicKey, createSecretKey, type JsonWebKey, type KeyObject } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { SseConfig } from '../settings.ts'

/** A key of access tokens and its permitted algorithms. A token with another algorithm is not valid. */
export interface TokenKey {
  /** The `kid` of the key, if it has one. */
  readonly id: string | undefined
  readonly algorithms: readonly string[]
  readonly key: KeyObject
}

/** Minimum length of a secret (bytes); shorter ones can be guessed (RFC 7518, 3.2). */
const MIN_SECRET_BYTES = 32

const CURVES: Readonly<Record<string, string>> = { prime256v1: 'ES256', secp384r1: 'ES384', secp521r1: 'ES512' }

/** Reads the keys from the settings and their key file. @throws StartError `MERCURE_KEYS` */
export async function readKeys({ mercureJwtKey, mercureJwksFile }: SseConfig): Promise<TokenKey[]> {
  const keys = mercureJwtKey ? [parseKey(mercureJwtKey.replaceAll('\\n', '\n'))] : []
  return mercureJwksFile ? [...keys, ...(await readKeyFile(mercureJwksFile))] : keys
}

const createKeyError = (why: string) => new StartError('MERCURE_KEYS', `sse: invalid keys of access tokens: ${why}`)

function parseKey(text: string): TokenKey {
  if (!text.includes('-----BEGIN')) return toSecretKey(Buffer.from(text), undefined)
  if (text.includes('PRIVATE KEY')) throw createKeyError('MERCURE_JWT_KEY is a private key; a public key is required')
  try {
    return checkKey({ id: undefined, key: createPublicKey(text) })
  } catch (error) {
    throw error instanceof StartError ? error : createKeyError('MERCURE_JWT_KEY is not a public key')
  }
}

async function readKeyFile(file: string): Promise<TokenKey[]> {
  let keys: unknown
  try {
    keys = JSON.parse(await readFile(file, 'utf8')).keys
  } catch {
    throw createKeyError(`${file} cannot be read as JSON`)
  }
  if (!Array.isArray(keys) || keys.length === 0) throw createKeyError(`${file} has no keys`)
  return keys.map((jwk: JsonWebKey & { kid?: string; alg?: string; k?: string }) => {
    try {
      if (jwk.kty === 'oct') return toSecretKey(Buffer.from(jwk.k ?? '', 'base64url'), jwk.kid, jwk.alg)
      return checkKey({ id: jwk.kid, key: createPublicKey({ key: jwk, format: 'jwk' }) }, jwk.alg)
    } catch (error) {
      throw error instanceof StartError ? error : createKeyError(`${file} has an invalid key`)
    }
  })
}

function toSecretKey(secret: Buffer, id: string | undefined, alg?: string): TokenKey {
  if (secret.length < MIN_SECRET_BYTES) throw createKeyError(`a secret requires ${MIN_SECRET_BYTES} bytes or more`)
  return checkKey({ id, key: createSecretKey(secret) }, alg)
}

/** @param alg the only permitted algorithm, if the key names one */
function checkKey({ id, key }: Pick<TokenKey, 'id' | 'key'>, alg?: string): TokenKey {
  const supported = getAlgorithms(key)
  if (supported.length === 0 || (alg !== undefined && !supported.includes(alg)))
    throw createKeyError('no supported algorithm accepts a key')
  return { id, key, algorithms: alg === undefined ? supported : [alg] }
}

function getAlgorithms({ type, asymmetricKeyType: kind, asymmetricKeyDetails: details }: KeyObject): string[] {
  if (type === 'secret') return ['HS256', 'HS384', 'HS512']
  if (kind === 'rsa') return (details?.modulusLength ?? 0) < 2_048 ? [] : ['RS256', 'RS384', 'RS512', 'PS256']
  if (kind === 'ec') return [CURVES[details?.namedCurve ?? ''] ?? []].flat()
  return kind === 'ed25519' ? ['EdDSA', 'Ed25519'] : []
}
