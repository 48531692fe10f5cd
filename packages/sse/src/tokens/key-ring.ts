import { StartError } from '@influencer-stats/runtime/errors'
import { watchContent } from '@influencer-stats/runtime/watch-content'
import { readFileSync } from 'node:fs'
import type { Logger } from 'pino'
import type { SseConfig } from '../settings.ts'
import { readLegacyKeys } from './legacy-tokens.ts'
import { RemoteKeySet } from './remote-key-set.ts'
import { parseKey, parseKeySet, type TokenKey } from './token-keys.ts'

export interface KeyRingOptions {
  readonly log: Pick<Logger, 'info' | 'warn'>
  /** Called after each change of the keys. */
  onChange(): void
}

/** The keys of access tokens: a key of the settings, a file that is followed, and URLs. */
export class KeyRing {
  readonly #fixed: readonly TokenKey[]
  #file: readonly TokenKey[]
  readonly #remote: readonly RemoteKeySet[]
  readonly #endWatch: () => void

  /** @throws StartError `MERCURE_KEYS` */
  constructor(config: SseConfig, { log, onChange }: KeyRingOptions) {
    const { fixed, fileText, fileKeys } = readKeys(config)
    const { mercureIssuer: issuers, mercureJwksUrl: urls, mercureJwksFile: file } = config
    this.#fixed = fixed
    this.#file = fileKeys
    this.#remote = urls.map((url, i) => new RemoteKeySet({ url, issuer: issuers[i]!, log, onChange }))
    this.#endWatch =
      file === ''
        ? () => {}
        : watchContent({
            read: () => readFileSync(file, 'utf8'),
            initial: fileText,
            onChange: (text) => {
              this.#file = parseFile(text, config)
              log.info({ file, keys: this.#file.length }, 'new keys of access tokens are in use')
              onChange()
            },
            onFault: ({ message: reason }) =>
              log.warn({ file, reason }, 'the new keys of access tokens are invalid; the previous ones remain in use'),
          })
  }

  /** Returns the keys that may have signed a token: those with its algorithm and, if both have an id, with its id. */
  find(alg: string, id: string | undefined): readonly TokenKey[] {
    return [...this.#fixed, ...this.#file, ...this.#remote.flatMap(({ keys }) => keys)].filter(
      (key) => key.algorithms.includes(alg) && (id === undefined || key.id === undefined || key.id === id),
    )
  }

  /** Fetches key sets that may have a new key: those without a key of this id. Resolves with false if there are none. */
  async refresh(id: string | undefined): Promise<boolean> {
    const hasKey = ({ keys }: RemoteKeySet) => (id === undefined ? keys.length > 0 : keys.some((key) => key.id === id))
    const stale = this.#remote.filter((set) => !hasKey(set))
    await Promise.all(stale.map((set) => set.refresh()))
    return stale.length > 0
  }

  /** Idempotent. */
  close(): void {
    this.#endWatch()
    for (const set of this.#remote) set.close()
  }
}

const createSettingError = (why: string) => new StartError('MERCURE_KEYS', `sse: ${why}`)

/** Reads the keys that the settings and their file contain. @throws StartError `MERCURE_KEYS` */
function readKeys(config: SseConfig) {
  const { mercureJwtKey, mercureJwksFile: file, mercureIssuer } = config
  const fixed =
    mercureJwtKey && mercureIssuer.length > 0 ? [parseKey(mercureJwtKey, 'MERCURE_JWT_KEY', mercureIssuer[0]!)] : []
  if (!file) return { fixed, fileText: '', fileKeys: [] }
  let fileText: string
  try {
    fileText = readFileSync(file, 'utf8')
  } catch {
    throw createSettingError(`invalid keys of access tokens: ${file} cannot be read`)
  }
  return { fixed, fileText, fileKeys: parseFile(fileText, config) }
}

/** Parses the key set of the operator. @throws StartError `MERCURE_KEYS` */
function parseFile(text: string, { mercureJwksFile, mercureIssuer: issuers }: SseConfig): TokenKey[] {
  const keys = parseKeySet(text, mercureJwksFile, issuers[0]!)
  const stranger = keys.find(({ issuer }) => !issuers.includes(issuer))
  if (stranger) throw createSettingError(`the issuer ${stranger.issuer} of a key is not in MERCURE_ISSUER`)
  return keys
}

/** True if the settings name keys. */
export const hasKeys = ({ mercureJwtKey, mercureJwksFile, mercureJwksUrl }: SseConfig): boolean =>
  mercureJwtKey !== '' || mercureJwksFile !== '' || mercureJwksUrl.length > 0

/** True if `MERCURE_JWT_KEY` is for 0.x tokens only, which have no issuer. */
const isForLegacyTokens = (config: SseConfig): boolean =>
  config.mercureCompatibility !== '' &&
  config.mercureIssuer.length === 0 &&
  config.mercureJwksFile === '' &&
  config.mercureJwksUrl.length === 0

/** Checks the keys and their issuers. @throws StartError `MERCURE_KEYS` */
export function checkKeySettings(config: SseConfig): void {
  readLegacyKeys(config)
  if (!hasKeys(config) || isForLegacyTokens(config)) return
  const { mercureIssuer: issuers, mercureAudience, mercureJwksUrl: urls } = config
  if (issuers.length === 0 || !mercureAudience)
    throw createSettingError('access tokens need MERCURE_ISSUER and MERCURE_AUDIENCE in addition to their key')
  if (urls.length > issuers.length)
    throw createSettingError('each URL of MERCURE_JWKS_URL needs its issuer, in the same order, in MERCURE_ISSUER')
  readKeys(config)
}
