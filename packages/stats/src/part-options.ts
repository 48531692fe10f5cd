import { isCluster } from '@influencer-stats/log/settings'
import { toReplicaFolder } from '@influencer-stats/log/log-state'
import type { LevelShare } from '@influencer-stats/runtime/level-health'
import { getSecrets } from '@influencer-stats/runtime/secrets'
import type { AppContext } from '@influencer-stats/runtime/service'
import { createUpstreamTimer } from '@influencer-stats/runtime/upstream-timer'
import type { VideoClientOptions } from './youtube/video-client.ts'
import type { Collections } from './campaigns/collections.ts'
import type { StatsLogger, LoggerOptions } from './logger/logger.ts'
import { settings, type StatsConfig } from './settings.ts'
import type { StateOptions } from './state/stats-state.ts'
import type { VideoDetailsRecorderOptions } from './persist/video-details-recorder.ts'

type PartContext = Pick<
  AppContext<StatsConfig, Record<never, never>, Record<never, never>>,
  'config' | 'log' | 'registry' | 'tracer'
>

/** Returns the options of a logger. */
export function getLoggerOptions(config: PartContext['config']): LoggerOptions {
  return { level: config.logLevel, secrets: getSecrets({ settings }, config) }
}

/** Returns the options of a client. */
export function getClientOptions(
  config: StatsConfig,
  own: Pick<VideoClientOptions, 'keys' | 'meter' | 'recorder' | 'logger' | 'timer'>,
): VideoClientOptions {
  const { youtubeUri: uri, upstreamTimeout: timeout, upstreamConnections: connections } = config
  return { uri: uri.replace(/\/+$/, ''), timeout, connections, ...own }
}

/** Returns the options of the recorder of video details. */
export const getRecorderOptions = (
  collections: Pick<Collections, 'saveVideos'>,
  logger: StatsLogger,
): VideoDetailsRecorderOptions => ({
  save: (rows) => collections.saveVideos(rows),
  onFault: (fault) => logger.error('video details could not be stored', fault),
})

/** Returns the options of a state. */
export function getStateOptions(context: PartContext, share?: LevelShare): StateOptions {
  const { config, log } = context
  return {
    share,
    log,
    folder: isCluster(config) ? toReplicaFolder(config.data) : config.data,
    kvUri: config.kvUri,
    kvToken: config.apiToken,
    timer: config.state === 'kv' ? createUpstreamTimer(context) : undefined,
    onOutage: (cause) => log.error(cause, `the state at ${config.kvUri} cannot be used`),
  }
}
