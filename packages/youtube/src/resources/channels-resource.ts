import { formatUploadsId, getChannelCounts, type Channel } from '../world/channels.ts'
import { googleErrors } from '../core/google-errors.ts'
import type { ListQuery } from '../lists/list-query.ts'
import type { ListResource, WorldMoment } from '../lists/list-resource.ts'
import { leaves, thumbnailsShape } from '../lists/list-shape.ts'
import { selectPage } from '../lists/select-page.ts'
import { formatTime } from '../world/time-format.ts'

const buildThumbnail = ({ number }: Channel, size: number) => ({
  url: `https://yt3.ggpht.com/ytc/stand-in-${number}=s${size}-c-k-c0x00ffffff-no-rj`,
  width: size,
  height: size,
})

function buildSnippet(channel: Channel) {
  const { title, handle, createdAt } = channel
  const description = `${title} of the stand-in.`
  return {
    title,
    description,
    customUrl: handle,
    publishedAt: formatTime(createdAt),
    thumbnails: {
      default: buildThumbnail(channel, 88),
      medium: buildThumbnail(channel, 240),
      high: buildThumbnail(channel, 800),
    },
    localized: { title, description },
  }
}

function buildStatistics(channel: Channel, { world, time }: WorldMoment) {
  const { subscribers, views } = getChannelCounts(channel, time)
  const isHidden = world.hidesSubscribers(channel)
  return {
    viewCount: String(views),
    ...(!isHidden && { subscriberCount: String(subscribers) }),
    hiddenSubscriberCount: isHidden,
    videoCount: String(world.countEntries({ id: formatUploadsId(channel), channel, isUploads: true }, time)),
  }
}

function findChannels({ filter, ids }: ListQuery, { world }: WorldMoment): Channel[] {
  const find =
    filter === 'id' ? world.getChannel : filter === 'forHandle' ? world.getChannelByHandle : world.getChannelByUserName
  return ids.map((id) => find(id)).filter((channel) => channel !== undefined)
}

const requiresLogin = () => googleErrors.LOGIN_REQUIRED()

/** `channels.list`, by ids, by handle or by user name. */
export const channelsResource: ListResource<Channel> = {
  name: 'channels',
  kind: 'youtube#channel',
  filters: ['categoryId', 'forHandle', 'forUsername', 'id', 'managedByMe', 'mine', 'mySubscribers'],
  refusedFilters: {
    categoryId: () => googleErrors.FILTERS_INVALID(),
    managedByMe: requiresLogin,
    mine: requiresLogin,
    mySubscribers: requiresLogin,
  },
  parameters: ['hl', 'maxResults', 'onBehalfOfContentOwner', 'pageToken'],
  partBuilders: {
    snippet: buildSnippet,
    contentDetails: (channel) => ({ relatedPlaylists: { likes: '', uploads: formatUploadsId(channel) } }),
    statistics: buildStatistics,
    status: () => ({
      privacyStatus: 'public',
      isLinked: true,
      longUploadsStatus: 'longUploadsUnspecified',
      madeForKids: false,
    }),
  },
  partsWithoutContent: new Set(['id', 'brandingSettings', 'contentOwnerDetails', 'localizations', 'topicDetails']),
  ownerParts: { auditDetails: () => googleErrors.AUDIT_FORBIDDEN() },
  shape: {
    snippet: {
      ...leaves('title', 'description', 'customUrl', 'publishedAt', 'country', 'defaultLanguage'),
      thumbnails: thumbnailsShape,
      localized: leaves('title', 'description'),
    },
    contentDetails: { relatedPlaylists: leaves('likes', 'uploads', 'favorites', 'watchHistory', 'watchLater') },
    statistics: leaves('viewCount', 'subscriberCount', 'hiddenSubscriberCount', 'videoCount', 'commentCount'),
    status: leaves(
      'privacyStatus',
      'isLinked',
      'longUploadsStatus',
      'madeForKids',
      'selfDeclaredMadeForKids',
      'isChannelMonetizationEnabled',
    ),
    auditDetails: 'any',
    brandingSettings: 'any',
    contentOwnerDetails: 'any',
    localizations: 'any',
    topicDetails: 'any',
  },
  // A reply of Google without channels has no `items`.
  omitsEmptyItems: true,
  getId: ({ id }) => id,
  select: (query, moment) => selectPage(findChannels(query, moment), query),
}
