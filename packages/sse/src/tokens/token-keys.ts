import { StartError } from '@influencer-stats/runtime/errors'
import { createPublicKey, createSecretKey, type JsonWebKey, type KeyObject } from 'node:crypto'

/** A key of access tokens and its permitted algorithms. A token with another algorithm is not valid. */
export interface TokenKey {
  /** The `kid` of the key, if it has one. */
  readonly id: string | undefined
  /** The only issuer whose tokens this key may sign. */
  readonly issuer: string
  readonly algorithms: readonly string[]
  readonly key: KeyObject
}

/** Minimum length of a secret (bytes); shorter ones can be guessed (RFC 7518, 3.2). */
const MIN_SECRET_BYTES = 32

const CURVES: Readonly<Record<string, string>> = { prime256v1: 'ES256', secp384r1: 'ES384', secp521r1: 'ES512' }

export const createKeyError = (why: string) =>
  new StartError('MERCURE_KEYS', `sse: invalid keys of access tokens: ${why}`)

/**
 * Parses a key: a secret, or a public key as PEM. `\n` in the text is a line end.
 * @param name environment variable of the key
 * @throws StartError `MERCURE_KEYS`
 */
export function parseKey(setting: string, name: string, issuer: string): TokenKey {
  const text = setting.replaceAll('\\n', '\n')
  if (!text.includes('-----BEGIN')) return toSecretKey(Buffer.from(text), { id: undefined, issuer })
  if (text.includes('PRIVATE KEY')) throw createKeyError(`${name} is a private key; a public key is required`)
  try {
    return checkKey({ id: undefined, issuer, key: createPublicKey(text) })
  } catch (error) {
    throw error instanceof StartError ? error : createKeyError(`${name} is not a public key`)
  }
}

/** A JSON Web Key. `iss` is the issuer of the key; other issuers may not use it. */
type IssuerKey = JsonWebKey & { kid?: string; alg?: string; k?: string; iss?: string; use?: string }

/**
 * Parses a JSON Web Key Set of the operator.
 * @param source name of the text, for errors
 * @param issuer issuer of the keys that name none
 * @throws StartError `MERCURE_KEYS`
 */
export const parseKeySet = (text: string, source: string, issuer: string): TokenKey[] =>
  readKeySet(text, source).map((jwk) => {
    try {
      const owner = { id: jwk.kid, issuer: jwk.iss ?? issuer }
      if (jwk.kty === 'oct') return toSecretKey(Buffer.from(jwk.k ?? '', 'base64url'), owner, jwk.alg)
      return toPublicKey(jwk, owner)
    } catch (error) {
      throw error instanceof StartError ? error : createKeyError(`${source} has an invalid key`)
    }
  })

/**
 * Parses a JSON Web Key Set that an issuer publishes. It may have keys for other purposes, which are ignored.
 * @param source URL of the text, for errors
 * @throws StartError `MERCURE_KEYS`
 */
export function parsePublicKeySet(text: string, source: string, issuer: string): TokenKey[] {
  const keys = readKeySet(text, source).flatMap((jwk) => {
    try {
      return jwk.use === 'enc' ? [] : toPublicKey(jwk, { id: jwk.kid, issuer })
    } catch {
      return []
    }
  })
  if (keys.length === 0) throw createKeyError(`${source} has no public key for signatures`)
  return keys
}

function readKeySet(text: string, source: string): IssuerKey[] {
  let keys: unknown
  try {
    keys = JSON.parse(text).keys
  } catch {
    throw createKeyError(`${source} cannot be read as JSON`)
  }
  if (!Array.isArray(keys) || keys.length === 0) throw createKeyError(`${source} has no keys`)
  return keys
}

const toPublicKey = (jwk: IssuerKey, owner: KeyOwner) =>
  checkKey({ ...owner, key: createPublicKey({ key: jwk, format: 'jwk' }) }, jwk.alg)

type KeyOwner = Pick<TokenKey, 'id' | 'issuer'>

function toSecretKey(secret: Buffer, owner: KeyOwner, alg?: string): TokenKey {
  if (secret.length < MIN_SECRET_BYTES) throw createKeyError(`a secret requires ${MIN_SECRET_BYTES} bytes or more`)
  return checkKey({ ...owner, key: createSecretKey(secret) }, alg)
}

/** @param alg the only permitted algorithm, if the key names one */
function checkKey({ key, ...owner }: KeyOwner & Pick<TokenKey, 'key'>, alg?: string): TokenKey {
  const supported = getAlgorithms(key)
  if (supported.length === 0 || (alg !== undefined && !supported.includes(alg)))
    throw createKeyError('no supported algorithm accepts a key')
  return { ...owner, key, algorithms: alg === undefined ? supported : [alg] }
}

function getAlgorithms({ type, asymmetricKeyType: kind, asymmetricKeyDetails: details }: KeyObject): string[] {
  if (type === 'secret') return ['HS256', 'HS384', 'HS512']
  if (kind === 'rsa') return (details?.modulusLength ?? 0) < 2_048 ? [] : ['RS256', 'RS384', 'RS512', 'PS256']
  if (kind === 'ec') return [CURVES[details?.namedCurve ?? ''] ?? []].flat()
  return kind === 'ed25519' ? ['EdDSA', 'Ed25519'] : []
}
