import type { Campaign, CampaignPatch, CampaignSource, computeCosts, FollowedVideos } from '../core/campaign.ts'
import type { CampaignCreators } from '../campaigns/creators/creator.ts'
import type { GrowthByPeriod } from '../core/growth.ts'
import type { Totals } from '../core/video-numbers.ts'
import type { Stats } from './posts-client.ts'

/** A collection without its id. */
export interface CollectionContent extends Campaign {
  /** Ids of videos. A request may contain links instead. */
  readonly videos: readonly string[]
}

/** A source in a request: `id` may also be a handle or a link, which the service looks up. */
export type NewSource = Omit<CampaignSource, 'type'> & Partial<Pick<CampaignSource, 'type'>>

export interface NewCollectionContent extends Omit<CollectionContent, 'sources'> {
  readonly sources?: readonly NewSource[]
}

/** Changes of the fields of a collection; `null` removes a field. */
export interface EditedCollection extends Omit<CampaignPatch, 'sources'> {
  readonly videos?: readonly string[]
  readonly sources?: readonly NewSource[] | null
}

export interface Collection extends CollectionContent, FollowedVideos {
  readonly id: string
  /** Version of the collection: every change gives it a new one. */
  readonly version: string
  /**
   * Time of the PUT that created the collection. A deletion and a new PUT under the same id give another time. Absent if
   * version 0.2 created the collection.
   */
  readonly created?: string
}

/** A deleted collection that can be restored. */
export interface TrashedCollection extends Collection {
  /** Time of the deletion. */
  readonly deleted: string
  /** Time from which the collection is deleted for good. */
  readonly expires: string
}

/** Condition of a change. If the collection does not meet it, the change fails with the ServiceError `CONDITION_FAILED`. */
export interface ChangeCondition {
  /** Required version of the collection. */
  readonly ifVersion?: string | undefined
}

export interface PutCondition extends ChangeCondition {
  /** True if the collection must not exist. */
  readonly ifAbsent?: boolean
}

/** A collection with the requested additions. */
export interface CollectionRow extends Collection {
  readonly stats?: Stats
  readonly change?: GrowthByPeriod
  readonly costs?: ReturnType<typeof computeCosts>
  /** With `creators`: the creators of the collection, those with the most views first. */
  readonly creators?: CampaignCreators['creators']
  /** With `creators`: sums of the videos whose channel is unknown. Absent without such videos. */
  readonly unattributed?: Totals
}
