import type { LevelShare } from '@influencer-stats/runtime/level-health'
import { secretsOf } from '@influencer-stats/runtime/secrets'
import type { AppContext } from '@influencer-stats/runtime/service'
import type { ClientOptions } from './client/client.ts'
import type { Logger, LoggerOptions } from './logger/logger.ts'
import type { QuotaMeter } from './quota-meter.ts'
import { settings, type StatsConfig } from './settings.ts'
import type { StateOptions } from './state/state.ts'

type Context = Pick<AppContext<StatsConfig, Record<never, never>, Record<never, never>>, 'config' | 'log'>

/** What any logger is made of. */
export function loggerOptions(config: Context['config']): LoggerOptions {
  return { level: config.logLevel, secrets: secretsOf({ settings }, config) }
}

/** What any client is made of. */
export function clientOptions(config: StatsConfig, meter: QuotaMeter, logger: Logger): ClientOptions {
  const { youtubeUri: uri, youtubeApiKey: key, upstreamTimeout: timeout, upstreamConnections: connections } = config
  return { uri: uri.replace(/\/+$/, ''), key, timeout, connections, meter, logger }
}

/** What any state is made of. */
export function stateOptions({ config, log }: Context, share?: LevelShare): StateOptions {
  return {
    share,
    log,
    folder: config.data,
    kvUri: config.kvUri,
    kvToken: config.apiToken,
    onOutage: (cause) => log.error(cause, `the state at ${config.kvUri} cannot be used`),
  }
}
