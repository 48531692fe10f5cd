import { googleErrors } from '../core/google-errors.ts'
import { selectAll, type ListResource } from '../lists/list-resource.ts'
import { leaves, thumbnailsShape } from '../lists/list-shape.ts'
import { videoPartBuilders } from './video-parts.ts'
import type { Video } from '../world/world.ts'

/** `videos.list`, by ids. */
export const videosResource: ListResource<Video> = {
  name: 'videos',
  kind: 'youtube#video',
  filters: ['chart', 'id', 'myRating'],
  refusedFilters: { chart: () => googleErrors.CHART_NOT_FOUND(), myRating: () => googleErrors.LOGIN_REQUIRED() },
  parameters: [
    'hl',
    'locale',
    'maxHeight',
    'maxResults',
    'maxWidth',
    'onBehalfOfContentOwner',
    'pageToken',
    'regionCode',
    'videoCategoryId',
  ],
  partBuilders: videoPartBuilders,
  partsWithoutContent: new Set([
    'id',
    'localizations',
    'paidProductPlacementDetails',
    'player',
    'recordingDetails',
    'topicDetails',
  ]),
  ownerParts: {
    fileDetails: () => googleErrors.PART_FORBIDDEN(),
    processingDetails: () => googleErrors.PART_FORBIDDEN(),
    suggestions: () => googleErrors.PART_FORBIDDEN(),
  },
  shape: {
    snippet: {
      ...leaves('publishedAt', 'channelId', 'title', 'description', 'channelTitle', 'tags', 'categoryId'),
      ...leaves('liveBroadcastContent', 'defaultLanguage', 'defaultAudioLanguage'),
      thumbnails: thumbnailsShape,
      localized: leaves('title', 'description'),
    },
    contentDetails: {
      ...leaves('duration', 'dimension', 'definition', 'caption', 'licensedContent', 'projection'),
      ...leaves('hasCustomThumbnail'),
      contentRating: 'any',
      regionRestriction: leaves('allowed', 'blocked'),
      countryRestriction: 'any',
    },
    status: leaves(
      'uploadStatus',
      'failureReason',
      'rejectionReason',
      'privacyStatus',
      'publishAt',
      'license',
      'embeddable',
      'publicStatsViewable',
      'madeForKids',
      'selfDeclaredMadeForKids',
      'containsSyntheticMedia',
    ),
    statistics: leaves('viewCount', 'likeCount', 'dislikeCount', 'favoriteCount', 'commentCount'),
    liveStreamingDetails: 'any',
    localizations: 'any',
    paidProductPlacementDetails: 'any',
    player: 'any',
    recordingDetails: 'any',
    topicDetails: 'any',
    fileDetails: 'any',
    processingDetails: 'any',
    suggestions: 'any',
    ageGating: 'any',
    monetizationDetails: 'any',
    projectDetails: 'any',
  },
  omitsEmptyItems: false,
  getId: ({ id }) => id,
  select: ({ ids }, { world, time }) =>
    selectAll(ids.map((id) => world.getVideo(id, time)).filter((video) => video !== undefined)),
}
