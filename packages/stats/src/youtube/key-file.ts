import { readFileSync } from 'node:fs'
import { watchContent } from '@influencer-stats/runtime/watch-content'
import { ApiKeys } from './api-keys.ts'
import type { StatsLogger } from '../logger/logger.ts'
import type { StatsConfig } from '../settings.ts'

export interface KeyFileOptions {
  /** Called when the key in use changes. */
  onChange(): void
  readonly config: Pick<StatsConfig, 'youtubeApiKey' | 'youtubeApiKeyFile'>
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
