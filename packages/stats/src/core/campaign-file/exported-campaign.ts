import { computeCosts, getTotalCost, type Collection, type Fee } from '../campaign.ts'
import { toIsoTime } from '../iso-time.ts'
import type { VideoDetails } from '../video-details.ts'
import { sum, type Snapshot, type VideoNumbers } from '../video-numbers.ts'
import { addReported, sumCounts, type ReportedSums } from '../posts/reported.ts'
import type { CampaignPost, ExportedCampaign, ExportedDetails, ExportedSums } from './campaign-content.ts'

/**
 * Returns a campaign for a file, with its last stored numbers.
 * @param details of the videos, in their order; undefined if they are not known
 * @param posts its posts of other platforms. The cost is that of the videos and of the posts
 */
export function toExportedCampaign(
  { revision: _revision, created: _created, ...fields }: Collection,
  snapshot: Snapshot | undefined,
  details: readonly (VideoDetails | undefined)[],
  posts: readonly CampaignPost[],
): ExportedCampaign {
  const campaign = { ...fields, ...(posts.length > 0 && { posts }) }
  if (!snapshot) return campaign
  const reported = sumCounts(
    posts.map(({ numbers = {} }) => numbers),
    posts.length,
  )
  const numbers = new Map(snapshot.videos.map((video) => [video.id, video]))
  const asOf = toIsoTime(snapshot.asOf)
  const videoDetails = new Map<string, ExportedDetails>()
  const creators = new Map<string, { readonly title: string | undefined; readonly videos: VideoNumbers[] }>()
  for (const [i, id] of campaign.videos.entries()) {
    const [video, { title, channel, channelId } = {} as Partial<VideoDetails>] = [numbers.get(id), details[i]]
    const { likes, comments } = video ?? {}
    videoDetails.set(id, { title, creator: channel, likes, comments, ...(video && toSums([video], asOf)) })
    if (!video || channelId === undefined) continue
    const creator = findCreator(campaign.fees, channelId, channel)
    const found = creators.get(creator)
    if (found) found.videos.push(video)
    else creators.set(creator, { title: channel, videos: [video] })
  }
  const fees = new Map(campaign.fees?.map(({ creator, amount }) => [creator, amount]))
  const creatorDetails = [...creators].map(
    ([creator, { title, videos }]) => [creator, { title, ...toSums(videos, asOf, fees.get(creator)) }] as const,
  )
  return {
    ...campaign,
    sums: toSums(snapshot.videos, asOf, getTotalCost(campaign), reported),
    videoDetails,
    creatorDetails: new Map(creatorDetails),
  }
}

/** Returns the creator of the fee for a channel, by its id or its title; without a fee, the id. */
const findCreator = (fees: readonly Fee[] = [], channelId: string, title: string | undefined): string =>
  fees.find(({ creator }) => creator === channelId || creator === title)?.creator ?? channelId

/** A sum of counts that were never known is absent. */
function toSums(videos: readonly VideoNumbers[], asOf: string, cost?: number, reported?: ReportedSums): ExportedSums {
  const { impressions, engagements } = sum(videos)
  const { perThousandViews, perEngagement } =
    cost === undefined
      ? ({} as ReturnType<typeof computeCosts>)
      : computeCosts(cost, addReported({ impressions, engagements }, reported))
  return {
    views: videos.some(({ views }) => views !== undefined) ? impressions : undefined,
    engagements: videos.some((one) => (one.likes ?? one.comments) !== undefined) ? engagements : undefined,
    costPerThousandViews: perThousandViews,
    costPerEngagement: perEngagement,
    asOf,
  }
}
