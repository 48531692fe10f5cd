import type { VideoDetails } from '../../src/core/video-details.ts'
import type { VideoNumbers } from '../../src/core/video-numbers.ts'
import { CreatorIndex } from '../../src/campaigns/creators/creator-index.ts'
import { createStoredCreators } from '../../src/campaigns/creators/creator-source.ts'
import type { ChannelDetails } from '../../src/core/received/channel-details.ts'
import { createMapState } from '../../src/state/map-state.ts'
import type { Collection } from '../../src/state/stats-state.ts'
import type { YoutubeHandler } from './fake-youtube.ts'

/** Returns the id of a channel by its number. */
export const channelId = (number: number): string => `UC${String(number).padStart(22, '0')}`

/**
 * Gives every video 100 views, 10 likes and 5 comments, and the channel that `getChannel` returns. Of the channels
 * themselves it knows nothing.
 */
export const withChannels =
  (getChannel: (video: string) => number): YoutubeHandler =>
  (ids, reply) =>
    reply.end(
      JSON.stringify({
        kind: 'youtube#videoListResponse',
        items: ids
          .filter((id) => !id.startsWith('UC'))
          .map((id) => ({
            id,
            snippet: {
              title: `Video ${id}`,
              channelTitle: `Channel ${getChannel(id)}`,
              channelId: channelId(getChannel(id)),
            },
            statistics: { viewCount: '100', likeCount: '10', commentCount: '5' },
          })),
      }),
    )

export interface CreatorWorld {
  readonly campaigns: readonly (Omit<Collection, 'revision'> & { readonly asOf?: number })[]
  readonly numbers: readonly VideoNumbers[]
  readonly channels?: readonly ChannelDetails[]
  /** Number of the channel of a video; undefined if it is unknown. */
  getChannel(video: string): number | undefined
}

/** An index of creators over a state in memory. */
export function createIndex({ campaigns, numbers, channels = [], getChannel }: CreatorWorld) {
  const state = createMapState()
  const byId = new Map(numbers.map((video) => [video.id, video]))
  for (const { asOf = 1_000, ...campaign } of campaigns) {
    state.put({ ...campaign, revision: 1 })
    const videos = campaign.videos.flatMap((id) => byId.get(id) ?? [])
    state.putSnapshots([{ id: campaign.id, snapshot: { videos, missing: [], asOf } }])
  }
  const toDetails = (id: string): VideoDetails => {
    const channel = getChannel(id)
    return {
      id,
      asOf: 0,
      ...(channel !== undefined && { channelId: channelId(channel), channel: `Channel ${channel}` }),
    }
  }
  state.putVideos(numbers.map(({ id }) => ({ id, details: toDetails(id) })))
  state.putRecords(channels.map((value) => ({ kind: 'channel' as const, key: value.id, value })))
  const index = new CreatorIndex(createStoredCreators(state, 'test'), state, () => 'test')
  return { state, index }
}
