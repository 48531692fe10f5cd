import { hash } from 'node:crypto'
import { googleErrors } from '../core/google-errors.ts'
import type { ListQuery } from '../lists/list-query.ts'
import type { ListResource, Selection, WorldMoment } from '../lists/list-resource.ts'
import { leaves, thumbnailsShape } from '../lists/list-shape.ts'
import { buildPageTokens, getPageRange } from '../lists/page-token.ts'
import { selectPage } from '../lists/select-page.ts'
import { formatTime } from '../world/time-format.ts'
import { buildThumbnails, getVideoTexts } from './video-parts.ts'
import type { Playlist, PlaylistEntry, World } from '../world/world.ts'

/** A video of a playlist, with its position from 0. */
interface PlaylistItem extends PlaylistEntry {
  readonly playlist: Playlist
  readonly position: number
}

/** Returns an id as Google forms it: base64 of the playlist and of 16 hexadecimal digits. */
const formatItemId = ({ playlist, videoId }: PlaylistItem) =>
  Buffer.from(`${playlist.id}.${hash('sha1', videoId).slice(0, 16).toUpperCase()}`).toString('base64url')

function buildSnippet({ playlist, position, videoId, at }: PlaylistItem, { world, time }: WorldMoment) {
  const video = world.getVideo(videoId, time)
  const texts = video ? getVideoTexts(video) : { title: 'Deleted video', description: 'This video is unavailable.' }
  const { channel } = playlist
  return {
    publishedAt: formatTime(at),
    channelId: channel.id,
    title: texts.title,
    description: texts.description,
    thumbnails: video ? buildThumbnails(videoId) : {},
    channelTitle: channel.title,
    playlistId: playlist.id,
    position,
    resourceId: { kind: 'youtube#video', videoId },
    ...(video && { videoOwnerChannelTitle: video.channel.title, videoOwnerChannelId: video.channel.id }),
  }
}

function buildContentDetails({ videoId }: PlaylistItem, { world, time }: WorldMoment) {
  const video = world.getVideo(videoId, time)
  return { videoId, ...(video && { videoPublishedAt: formatTime(video.publishedAt) }) }
}

/** Lists that belong to the signed-in user. */
const USER_PLAYLISTS = {
  HL: () => googleErrors.PLAYLIST_UNSUPPORTED(),
  WL: () => googleErrors.PLAYLIST_UNSUPPORTED(),
  LL: () => googleErrors.PLAYLIST_FORBIDDEN(),
} as const

function findPlaylist(id: string, world: World): Playlist {
  if (Object.hasOwn(USER_PLAYLISTS, id)) throw USER_PLAYLISTS[id as keyof typeof USER_PLAYLISTS]()
  const playlist = world.getPlaylist(id)
  if (!playlist) throw googleErrors.PLAYLIST_NOT_FOUND()
  return playlist
}

function selectItems({ ids, videoId, ...query }: ListQuery, { world, time }: WorldMoment): Selection<PlaylistItem> {
  const playlist = findPlaylist(ids[0]!, world)
  const items = world.listEntries(playlist, time).map((entry, position) => ({ ...entry, playlist, position }))
  if (videoId !== undefined) {
    if (!world.getVideo(videoId, time)) throw googleErrors.VIDEO_NOT_FOUND()
    return selectPage(items.filter((item) => item.videoId === videoId).toArray(), query)
  }
  // A list may have 10,000 items: only those of the page are built.
  const range = getPageRange(query.pageToken, query.maxResults)
  const total = world.countEntries(playlist, time)
  return {
    items: items.drop(range.start).take(range.count).toArray(),
    total,
    perPage: query.maxResults,
    ...buildPageTokens(range, total),
  }
}

/** `playlistItems.list`, by playlist. */
export const playlistItemsResource: ListResource<PlaylistItem> = {
  name: 'playlistItems',
  kind: 'youtube#playlistItem',
  filters: ['id', 'playlistId'],
  refusedFilters: { id: () => googleErrors.FILTERS_INVALID() },
  parameters: ['maxResults', 'onBehalfOfContentOwner', 'pageToken', 'videoId'],
  partBuilders: {
    snippet: buildSnippet,
    contentDetails: buildContentDetails,
    status: ({ videoId }, { world, time }) => ({
      privacyStatus: world.getVideo(videoId, time) ? 'public' : 'privacyStatusUnspecified',
    }),
  },
  partsWithoutContent: new Set(['id']),
  ownerParts: {},
  shape: {
    snippet: {
      ...leaves('publishedAt', 'channelId', 'title', 'description', 'channelTitle', 'playlistId', 'position'),
      ...leaves('videoOwnerChannelTitle', 'videoOwnerChannelId'),
      thumbnails: thumbnailsShape,
      resourceId: leaves('kind', 'videoId', 'channelId', 'playlistId'),
    },
    contentDetails: leaves('videoId', 'videoPublishedAt', 'startAt', 'endAt', 'note'),
    status: leaves('privacyStatus'),
  },
  omitsEmptyItems: false,
  getId: formatItemId,
  select: selectItems,
}
