import type { ChannelDetails } from '../../core/received/channel-details.ts'
import type { Totals, VideoNumbers } from '../../core/video-numbers.ts'

/** Fields of a channel that replies contain. A field that YouTube does not state is absent. */
export type CreatorChannel = Pick<ChannelDetails, 'title' | 'handle' | 'thumbnail' | 'subscribers' | 'hidesSubscribers'>

/** Cost of a thousand views and of an engagement. A cost is absent if its count is 0. */
export interface CreatorCosts {
  readonly perThousandViews?: number
  readonly perEngagement?: number
}

/** Numbers of a creator. */
export interface CreatorNumbers {
  /** Sums over the distinct videos. */
  readonly stats: Totals
  /** Engagements divided by views; absent without views. */
  readonly rate?: number
}

/** A creator in one campaign. */
export interface CampaignCreator extends CreatorChannel, CreatorNumbers {
  /** Id of the channel. For a person without videos, the name in the fee. */
  readonly id: string
  /** Share of the views of the campaign; absent without views. */
  readonly share?: number
  /** In the currency of the campaign. */
  readonly fee?: number
  readonly costs?: CreatorCosts
}

/** The creators of a campaign, those with the most views first. */
export interface CampaignCreators {
  readonly creators: readonly CampaignCreator[]
  /** Sums of the videos whose channel is unknown; absent without such videos. */
  readonly unattributed?: Totals
}

/** Fees in one currency. */
export interface CreatorFees {
  /** Absent if the campaigns state none. */
  readonly currency?: string
  readonly amount: number
}

/** A creator over all campaigns. */
export interface CreatorSummary extends CreatorChannel, CreatorNumbers {
  readonly id: string
  /** Number of campaigns. */
  readonly campaignCount: number
  /** One row for each currency; absent without fees. */
  readonly fees?: readonly CreatorFees[]
  /** Costs in the campaigns with a fee; absent with several currencies. */
  readonly costs?: CreatorCosts
  /** Request time of the oldest numbers (ms since the epoch; `at`: of the monotonic clock). Absent without numbers. */
  readonly asOf?: number
  readonly at?: number
}

/** A campaign of a creator. */
export interface CreatorCampaign extends CreatorNumbers, Pick<CampaignCreator, 'share' | 'fee' | 'costs'> {
  readonly id: string
  readonly name?: string
  readonly currency?: string
}

/** A video of a creator. */
export interface CreatorVideo {
  readonly id: string
  readonly numbers: VideoNumbers
  /** Ids of the campaigns that contain it. */
  readonly campaigns: readonly string[]
}

/** A creator with its campaigns and the videos with the most views. */
export interface CreatorDetails {
  readonly summary: CreatorSummary
  readonly campaigns: readonly CreatorCampaign[]
  readonly videos: readonly CreatorVideo[]
}

/** Returns the numbers of a creator for these sums. */
export const toCreatorNumbers = (stats: Totals): CreatorNumbers => ({
  stats,
  ...(stats.impressions > 0 && { rate: stats.engagements / stats.impressions }),
})
