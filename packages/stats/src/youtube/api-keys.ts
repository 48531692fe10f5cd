import { readFileSync } from 'node:fs'
import { watchContent } from '@influencer-stats/runtime/watch-content'
import type { StatsLogger } from '../logger/logger.ts'

/** Options of the API keys. The first key is in use; the second is the standby key. */
export interface ApiKeyOptions {
  /** Keys, separated by white space: usually one per line. */
  readonly text: string
  /**
   * Called when another key is in use.
   * @param refused last characters of the previous key, if YouTube refused it
   */
  onChange?(refused?: string): void
}

const parseKeys = (text: string): string[] => text.split(/\s+/).filter((line) => line !== '')

/** Returns a key in a form that may be shown: its last four characters. Of a key shorter than 12 characters it shows none. */
export const maskKey = (key: string): string => `…${key.length >= 12 ? key.slice(-4) : ''}`

/**
 * API key for YouTube. The standby key replaces the first only after YouTube has refused the first as invalid or
 * expired. It never serves to gain quota: YouTube's policies forbid spreading calls over the quotas of several keys.
 */
export class ApiKeys {
  #keys: string[]
  readonly #onChange: ApiKeyOptions['onChange']

  constructor({ text, onChange }: ApiKeyOptions) {
    this.#keys = parseKeys(text)
    this.#onChange = onChange
  }

  get current(): string {
    return this.#keys[0] ?? ''
  }

  /** The current key, in a form that may be shown. */
  get maskedKey(): string {
    return maskKey(this.current)
  }

  /**
   * Records that YouTube refused this key permanently.
   * @returns true if another key is in use now
   */
  refuse(key: string): boolean {
    if (this.current !== key) return true
    if (this.#keys.length < 2) return false
    this.#keys.shift()
    this.#onChange?.(maskKey(key))
    return true
  }

  /**
   * Replaces the keys by the new content of the key file.
   * @returns true if it contains a key
   */
  replace(text: string): boolean {
    const keys = parseKeys(text)
    if (keys.length === 0) return false
    const before = this.current
    this.#keys = keys
    if (this.current !== before) this.#onChange?.()
    return true
  }
}

export interface KeyFileOptions {
  /** Called when the key in use changes. */
  onChange(): void
  readonly config: { readonly youtubeApiKey: string; readonly youtubeApiKeyFile: string }
  readonly logger: Pick<StatsLogger, 'info' | 'error'>
}

/** Opens the API keys of the settings, and watches the key file for new keys if there is one. */
export function openApiKeys({ config, logger, onChange }: KeyFileOptions): { readonly keys: ApiKeys; close(): void } {
  const { youtubeApiKey: text, youtubeApiKeyFile: file } = config
  const keys: ApiKeys = new ApiKeys({
    text,
    onChange(refused) {
      const use = `the API key ${keys.maskedKey} is in use`
      if (refused)
        logger.error(`YouTube refused the API key ${refused} permanently; the standby key replaces it: ${use}`)
      else logger.info(use)
      onChange()
    },
  })
  if (file === '') return { keys, close() {} }
  const close = watchContent({
    read: () => readFileSync(file, 'utf8').trim(),
    initial: text,
    onChange(content) {
      if (!keys.replace(content)) throw new Error('it is empty')
    },
    onFault: ({ message }) =>
      logger.error(`the file of the API key is invalid: ${message}; the previous key remains in use`),
  })
  return { keys, close }
}
