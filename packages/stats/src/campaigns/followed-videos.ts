import type { CampaignSource, FollowedVideos } from '../core/campaign.ts'
import { MAX_VIDEOS, removeDuplicates } from '../core/ids.ts'

/** Maximum number of refused videos. Beyond it, the oldest removals are forgotten. */
export const MAX_REFUSED = 5_000

interface FollowingCampaign extends FollowedVideos {
  readonly videos: readonly string[]
  readonly sources?: readonly CampaignSource[]
}

/**
 * Returns the followed and refused videos after a person changed the videos or the sources of a campaign. A followed video
 * that is removed becomes refused; a refused video that is added is no longer refused. Videos of removed sources remain
 * as ordinary videos.
 */
export function updateFollowed(before: FollowedVideos, { videos, sources = [] }: FollowingCampaign): FollowedVideos {
  if (!before.followed && !before.refused) return {}
  const { followed = {}, refused = [] } = before
  const isVideo = createLookUp(videos)
  const isSource = createLookUp(sources.map(({ id }) => id))
  const removed = Object.keys(followed).filter((video) => !isVideo(video))
  return toFollowedVideos(
    Object.entries(followed).filter(([video, source]) => isVideo(video) && isSource(source)),
    removeDuplicates([...refused.filter((video) => !isVideo(video)), ...removed]),
  )
}

/**
 * Returns a campaign with the uploads that its sources found; the campaign itself if it has all of them. Refused videos,
 * uploads of removed sources, and videos beyond the maximum are not added.
 * @param uploads id of the source of each upload, by the id of the upload
 */
export function addFollowed<C extends FollowingCampaign>(campaign: C, uploads: Readonly<Record<string, string>>): C {
  const { videos, sources = [], followed = {}, refused = [] } = campaign
  const isExcluded = createLookUp([...videos, ...refused])
  const isSource = createLookUp(sources.map(({ id }) => id))
  const added = Object.entries(uploads)
    .filter(([video, source]) => !isExcluded(video) && isSource(source))
    .slice(0, Math.max(0, MAX_VIDEOS - videos.length))
  if (added.length === 0) return campaign
  return {
    ...campaign,
    videos: [...videos, ...added.map(([video]) => video)],
    ...toFollowedVideos([...Object.entries(followed), ...added], refused),
  }
}

function createLookUp(ids: readonly string[]): (id: string) => boolean {
  const known = new Set(ids)
  return (id) => known.has(id)
}

const toFollowedVideos = (followed: (readonly [string, string])[], refused: readonly string[]): FollowedVideos => ({
  ...(followed.length > 0 && { followed: Object.fromEntries(followed) }),
  ...(refused.length > 0 && { refused: refused.slice(-MAX_REFUSED) }),
})
