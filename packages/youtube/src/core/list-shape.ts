import type { FieldShape } from './field-mask.ts'

const leaves = <Name extends string>(...names: Name[]) =>
  Object.fromEntries(names.map((name) => [name, 'leaf'])) as Record<Name, 'leaf'>

const thumbnail = leaves('url', 'width', 'height')

/**
 * The fields that the parameter `fields` may name in a list of videos. `'any'` marks objects that the stand-in omits or
 * leaves empty: any field name is accepted below them.
 */
export const listShape: FieldShape = {
  ...leaves('kind', 'etag', 'eventId', 'visitorId', 'nextPageToken', 'prevPageToken'),
  pageInfo: leaves('totalResults', 'resultsPerPage'),
  tokenPagination: {},
  items: {
    ...leaves('kind', 'etag', 'id'),
    snippet: {
      ...leaves('publishedAt', 'channelId', 'title', 'description', 'channelTitle', 'tags', 'categoryId'),
      ...leaves('liveBroadcastContent', 'defaultLanguage', 'defaultAudioLanguage'),
      thumbnails: { default: thumbnail, medium: thumbnail, high: thumbnail, standard: thumbnail, maxres: thumbnail },
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
}
