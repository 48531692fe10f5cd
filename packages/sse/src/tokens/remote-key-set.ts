import type { Logger } from 'pino'
import { parsePublicKeySet, type TokenKey } from './token-keys.ts'

/** Interval at which a key set is fetched again (ms). */
const REFRESH_INTERVAL_MS = 300_000

/** Minimum time between two fetches (ms). Clients that invent key ids could otherwise cause any number of them. */
const MIN_FETCH_INTERVAL_MS = 10_000

const FETCH_TIMEOUT_MS = 5_000
const MAX_KEY_SET_BYTES = 1_048_576

export interface RemoteKeySetOptions {
  readonly url: string
  /** Issuer of the keys. */
  readonly issuer: string
  readonly log: Pick<Logger, 'info' | 'warn'>
  /** Called after each change of the keys. */
  onChange(): void
}

/** The JSON Web Key Set of an issuer, fetched from a URL. If a fetch fails, the previous keys remain in use. */
export class RemoteKeySet {
  keys: readonly TokenKey[] = []
  readonly #options: RemoteKeySetOptions
  readonly #timer: NodeJS.Timeout
  #text = ''
  #fetchedAt = -Infinity
  #pending: Promise<void> | undefined
  #lastFault = ''

  constructor(options: RemoteKeySetOptions) {
    this.#options = options
    this.#timer = setInterval(() => void this.#fetch(), REFRESH_INTERVAL_MS).unref()
    void this.#fetch()
  }

  /** Fetches the keys before their time, because a token has an unknown key. Returns without a fetch after a recent one. */
  async refresh(): Promise<void> {
    if (this.#pending || performance.now() - this.#fetchedAt >= MIN_FETCH_INTERVAL_MS) await this.#fetch()
  }

  /** Idempotent. */
  close(): void {
    clearInterval(this.#timer)
  }

  #fetch(): Promise<void> {
    return (this.#pending ??= this.#load().finally(() => {
      this.#pending = undefined
    }))
  }

  async #load(): Promise<void> {
    this.#fetchedAt = performance.now()
    const { url, issuer, log, onChange } = this.#options
    try {
      const text = await fetchText(url)
      if (text !== this.#text) {
        this.keys = parsePublicKeySet(text, url, issuer)
        this.#text = text
        log.info({ url, keys: this.keys.length }, 'new keys of access tokens are in use')
        onChange()
      }
      this.#lastFault = ''
    } catch (fault) {
      const { message, cause } = fault as Error
      const reason = cause instanceof Error ? cause.message : message
      if (reason !== this.#lastFault)
        log.warn({ url, reason }, 'the keys of access tokens cannot be fetched; the previous ones remain in use')
      this.#lastFault = reason
    }
  }
}

async function fetchText(url: string): Promise<string> {
  const reply = await fetch(url, {
    headers: { accept: 'application/jwk-set+json, application/json' },
    // The operator trusts this URL, but not the URLs to which it leads.
    redirect: 'error',
    signal: AbortSignal.timeout(FETCH_TIMEOUT_MS),
  })
  if (!reply.ok || !reply.body) throw new Error(`the reply has status ${reply.status}`)
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of reply.body) {
    if ((length += chunk.length) > MAX_KEY_SET_BYTES) throw new Error(`the reply exceeds ${MAX_KEY_SET_BYTES} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}
