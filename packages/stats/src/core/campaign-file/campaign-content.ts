import type { Campaign, FollowedVideos } from '../campaign.ts'
import type { PostLink } from '../paste/content-link.ts'
import type { PostCounts } from '../paste/row-values.ts'

/** Reported numbers of a post. */
export interface PostReport extends PostCounts {
  /** An ISO time. Absent in an import that does not state it. */
  readonly at?: string
  readonly note?: string
}

export interface CampaignPost {
  /** Id that the client chose. */
  readonly id: string
  readonly platform: PostLink['platform']
  readonly url: string
  readonly creator?: string
  readonly title?: string
  /** A day, or an ISO time. */
  readonly published?: string
  /** Last reported value of each count. */
  readonly numbers?: PostReport
  /** Each report, the oldest first. Absent if there is only one, which is `numbers`. */
  readonly reports?: readonly PostReport[]
}

/** Everything that a file contains of a campaign. Lists that would be empty are absent, except for `videos`. */
export interface CampaignContent extends Campaign, FollowedVideos {
  readonly id?: string
  readonly videos: readonly string[]
  readonly posts?: readonly CampaignPost[]
}

/** Sums, for the reader of a file. An import ignores them. */
export interface ExportedSums {
  readonly views?: number | undefined
  readonly engagements?: number | undefined
  readonly costPerThousandViews?: number | undefined
  readonly costPerEngagement?: number | undefined
  /** An ISO time. */
  readonly asOf?: string | undefined
}

/** A video or a creator, for the reader of a file. An import ignores it. */
export interface ExportedDetails extends ExportedSums {
  readonly title?: string | undefined
  /** Title of the channel of a video. */
  readonly creator?: string | undefined
  readonly likes?: number | undefined
  readonly comments?: number | undefined
}

/** A campaign with what the reader of its file wants to see. */
export interface ExportedCampaign extends CampaignContent {
  readonly id: string
  readonly sums?: ExportedSums
  /** By the id of the video. */
  readonly videoDetails?: ReadonlyMap<string, ExportedDetails>
  /** By the creator of the fees. Creators without a fee are exported, too. */
  readonly creatorDetails?: ReadonlyMap<string, ExportedDetails>
}
