import type { UpstreamOutage } from '../core/upstream-state.ts'
import type { SnapshotThrottleOptions } from '../persist/snapshot-throttle.ts'
import type { VideoDetailsRecorder } from '../persist/video-details-recorder.ts'
import type { QuotaMeter } from '../quota/quota-meter.ts'
import type { FetchedVideos } from '../state/stats-change.ts'
import type { VideoClient } from '../youtube/video-client.ts'
import type { FirstNumbersOptions } from './first-numbers.ts'
import type { ReplyTableOptions } from './reply-table.ts'
import type { SidePoller } from './side/side-poller.ts'
import type { UpstreamStatusOptions } from './upstream-status.ts'

export interface PollerOptions extends ReplyTableOptions, FirstNumbersOptions, UpstreamStatusOptions {
  readonly collections: ReplyTableOptions['collections'] & SnapshotThrottleOptions['collections']
  readonly client: Pick<VideoClient, 'call' | 'idsPerCall'>
  readonly recorder?: Pick<VideoDetailsRecorder, 'recordNumbers'>
  /** Makes the calls for channels and followed playlists. */
  readonly side?: SidePoller
  readonly meter: QuotaMeter
  /** Minimum interval between two refreshes (ms). */
  readonly refreshInterval: number
  /** Maximum number of concurrent calls. */
  readonly connections: number
  /** True in a cluster: this poller makes no calls before `begin`. */
  readonly isFollower?: boolean
  /** Called with the numbers of every successful call. */
  onFetched?(fetched: FetchedVideos): void
  onFailed?(ids: readonly string[], detail: string, outage?: UpstreamOutage): void
}
