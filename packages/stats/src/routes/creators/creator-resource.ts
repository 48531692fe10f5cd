import type { CreatorSort } from '../../campaigns/creators/creator-selection.ts'
import type { CreatorCampaign, CreatorSummary, CreatorVideo } from '../../campaigns/creators/creator.ts'
import type { ChannelCounts } from '../../core/received/channel-details.ts'
import type { VideoResource } from '../videos-view.ts'

/** A creator over all collections. */
export interface Creator extends Omit<CreatorSummary, 'asOf' | 'at'> {
  /** Time of the request for the oldest of the numbers. Absent without numbers. */
  readonly asOf?: string
  readonly stale?: boolean
}

/** A creator with its collections, its videos with the most views, and the counts of its channel over time. */
export interface CreatorWithVideos extends Creator {
  readonly campaigns: readonly CreatorCampaign[]
  readonly videos: readonly (VideoResource & Pick<CreatorVideo, 'campaigns'>)[]
  readonly history: readonly (ChannelCounts & { readonly at: string })[]
}

/** A page of creators. */
export interface CreatorPage {
  readonly creators: readonly Creator[]
  /** Number of creators that match. */
  readonly total: number
  readonly next?: string
}

export interface CreatorListOptions {
  readonly sort?: CreatorSort
  readonly q?: string
  readonly limit?: number
  /** `next` of the previous page. */
  readonly after?: string
}
