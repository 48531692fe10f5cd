import { isCluster } from '@influencer-stats/log/settings'
import { toReplicaFolder } from '@influencer-stats/log/log-state'
import type { LevelShare } from '@influencer-stats/runtime/level-health'
import { getSecrets } from '@influencer-stats/runtime/secrets'
import type { AppContext } from '@influencer-stats/runtime/service'
import { createUpstreamTimer, type UpstreamTimer } from '@influencer-stats/runtime/upstream-timer'
import type { Collections } from './campaigns/collections.ts'
import type { VideoDetails } from './core/video-details.ts'
import type { StatsLogger } from './logger/logger.ts'
import { parts } from './parts.ts'
import { VideoDetailsRecorder } from './persist/video-details-recorder.ts'
import type { QuotaMeter } from './quota/quota-meter.ts'
import { settings, type StatsConfig } from './settings.ts'
import type { StatsState } from './state/stats-state.ts'
import { openApiKeys } from './youtube/api-keys.ts'

type PartContext = Pick<
  AppContext<StatsConfig, Record<never, never>, Record<never, never>>,
  'config' | 'log' | 'registry' | 'tracer'
>

export const openLogger = (config: PartContext['config']): Promise<StatsLogger> =>
  parts.logger[config.logger]({ level: config.logLevel, secrets: getSecrets({ settings }, config) })

/** @param share this thread's share of the database; undefined on the thread that opens the database */
export function openState(context: PartContext, share?: LevelShare): Promise<StatsState> {
  const { config, log } = context
  return parts.state[config.state]({
    share,
    log,
    folder: isCluster(config) ? toReplicaFolder(config.data) : config.data,
    kvUri: config.kvUri,
    kvToken: config.apiToken,
    timer: config.state === 'kv' ? createUpstreamTimer(context) : undefined,
    onOutage: (cause) => log.error(cause, `the state at ${config.kvUri} cannot be used`),
  })
}

export interface ClientContext {
  readonly config: StatsConfig
  readonly collections: Pick<Collections, 'saveVideos'>
  readonly logger: StatsLogger
  readonly meter: QuotaMeter
  readonly timer: UpstreamTimer
  /** Called when another API key is in use. */
  onKeyChange(): void
  /** Called with the details of videos that a call returned. */
  onDetails?(details: readonly VideoDetails[]): void
}

/** Opens the client of the YouTube Data API with its keys, and the recorder of the details that its calls return. */
export async function openClient(context: ClientContext) {
  const { config, collections, logger, meter, timer, onKeyChange, onDetails } = context
  const recorder = new VideoDetailsRecorder({
    save: (rows) => collections.saveVideos(rows),
    onFault: (fault) => logger.error('video details could not be stored', fault),
    ...(onDetails && { onDetails }),
  })
  const { keys, close: closeKeys } = openApiKeys({ config, logger, onChange: onKeyChange })
  const client = await parts.client[config.client]({
    uri: config.youtubeUri.replace(/\/+$/, ''),
    timeout: config.upstreamTimeout,
    connections: config.upstreamConnections,
    keys,
    meter,
    logger,
    recorder,
    timer,
  })
  return {
    keys,
    recorder,
    client,
    /** @param closeCaller closes the part that makes the calls; it waits for the calls in flight */
    async close(closeCaller: () => Promise<void>): Promise<void> {
      closeKeys()
      const closed = closeCaller()
      // Ends the calls in flight at once, so that they need not reach their timeouts.
      await client.close()
      await closed
      await recorder.close()
    },
  }
}
