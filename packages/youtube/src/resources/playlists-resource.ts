import { formatPlaylistId } from '../world/channels.ts'
import { googleErrors } from '../core/google-errors.ts'
import type { ListQuery } from '../lists/list-query.ts'
import type { ListResource, WorldMoment } from '../lists/list-resource.ts'
import { leaves, thumbnailsShape } from '../lists/list-shape.ts'
import { selectPage } from '../lists/select-page.ts'
import { formatTime } from '../world/time-format.ts'
import type { Playlist } from '../world/world.ts'
import { buildThumbnails } from './video-parts.ts'

const getTitle = ({ channel, isUploads }: Playlist) =>
  isUploads ? `Uploads from ${channel.title}` : `First videos of ${channel.title}`

function buildSnippet(playlist: Playlist, { world, time }: WorldMoment) {
  const { channel } = playlist
  const title = getTitle(playlist)
  const [first] = world.listEntries(playlist, time)
  return {
    publishedAt: formatTime(channel.createdAt),
    channelId: channel.id,
    title,
    description: '',
    thumbnails: first ? buildThumbnails(first.videoId) : {},
    channelTitle: channel.title,
    localized: { title, description: '' },
  }
}

function findPlaylists({ filter, ids }: ListQuery, { world }: WorldMoment): Playlist[] {
  if (filter === 'id') return ids.map((id) => world.getPlaylist(id)).filter((playlist) => playlist !== undefined)
  const channel = world.getChannel(ids[0]!)
  if (!channel) throw googleErrors.CHANNEL_NOT_FOUND()
  return [{ id: formatPlaylistId(channel), channel, isUploads: false }]
}

/** `playlists.list`, by ids or by channel. The list of uploads of a channel is found only by its id, as with Google. */
export const playlistsResource: ListResource<Playlist> = {
  name: 'playlists',
  kind: 'youtube#playlist',
  filters: ['channelId', 'id', 'mine'],
  refusedFilters: { mine: () => googleErrors.LOGIN_REQUIRED() },
  parameters: ['hl', 'maxResults', 'onBehalfOfContentOwner', 'onBehalfOfContentOwnerChannel', 'pageToken'],
  partBuilders: {
    snippet: buildSnippet,
    status: () => ({ privacyStatus: 'public' }),
    contentDetails: (playlist, { world, time }) => ({ itemCount: world.countEntries(playlist, time) }),
  },
  partsWithoutContent: new Set(['id', 'localizations', 'player']),
  ownerParts: {},
  shape: {
    snippet: {
      ...leaves('publishedAt', 'channelId', 'title', 'description', 'channelTitle', 'tags', 'defaultLanguage'),
      ...leaves('thumbnailVideoId'),
      thumbnails: thumbnailsShape,
      localized: leaves('title', 'description'),
    },
    status: leaves('privacyStatus', 'podcastStatus'),
    contentDetails: leaves('itemCount'),
    localizations: 'any',
    player: 'any',
  },
  omitsEmptyItems: false,
  getId: ({ id }) => id,
  select: (query, moment) => selectPage(findPlaylists(query, moment), query),
}
