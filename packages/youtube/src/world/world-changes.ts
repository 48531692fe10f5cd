import type { FromSchema } from 'json-schema-to-ts'

const object = <const Properties extends object, const More extends object = {}>(properties: Properties, more?: More) =>
  ({ type: 'object', ...more!, additionalProperties: false, properties }) as const

const MAX_TIME = 8_640_000_000_000_000
const MAX_VIDEOS_PER_CHANGE = 1_000
const MAX_CHANNELS = 1_000
/** Maximum number of added uploads, and of items added to playlists. */
export const MAX_ADDED = 10_000

export const VIDEO_ID_PATTERN = '^[A-Za-z0-9_-]{10}[A-Za-z0-9-]$'
export const CHANNEL_ID_PATTERN = '^UC[0-9]{22}$'
export const PLAYLIST_ID_PATTERN = '^PL[0-9]{32}$'

const videoId = { type: 'string', pattern: VIDEO_ID_PATTERN } as const
const channelId = { type: 'string', pattern: CHANNEL_ID_PATTERN } as const
const playlistId = { type: 'string', pattern: PLAYLIST_ID_PATTERN } as const
const at = {
  type: 'integer',
  minimum: 0,
  maximum: MAX_TIME,
  description: 'Time of the publication or of the addition (ms since 1970); by default the current time.',
} as const

const uploadProperties = {
  id: videoId,
  at,
  title: { type: 'string', minLength: 1, maxLength: 100 },
  description: { type: 'string', maxLength: 5_000 },
  tags: { type: 'array', maxItems: 100, items: { type: 'string', minLength: 1, maxLength: 100 } },
  duration: { type: 'integer', minimum: 1, maximum: 43_200, description: 'Length of the video (s).' },
  live: { type: 'string', enum: ['none', 'live', 'upcoming'] },
} as const

/** Videos that a channel publishes, or that are added to a playlist. */
export const additionSchema = object(
  {
    channel: { ...channelId, description: 'The channel that publishes the videos.' },
    playlist: { ...playlistId, description: 'The playlist to which the videos are added: only `id` and `at` of each.' },
    videos: {
      type: 'array',
      minItems: 1,
      maxItems: MAX_VIDEOS_PER_CHANGE,
      items: object(uploadProperties, { required: ['id'] }),
    },
  },
  {
    title: 'Addition',
    required: ['videos'],
    examples: [{ channel: 'UC0007000700070007000700', videos: [{ id: 'new-upload1', title: 'A new video' }] }],
  },
)

export type Addition = FromSchema<typeof additionSchema>

/** An upload of a channel. Absent properties are invented. */
export type AddedUpload = Omit<Addition['videos'][number], 'at'> & { readonly at: number; readonly channel: string }

/** A video that was added to a playlist. */
export interface AddedItem {
  readonly playlist: string
  readonly video: string
  /** ms since 1970 */
  readonly at: number
}

/** All additions. */
export const additionsSchema = object(
  {
    uploads: {
      type: 'array',
      items: object({ ...uploadProperties, channel: channelId }, { required: ['id', 'at', 'channel'] }),
    },
    items: {
      type: 'array',
      items: object({ playlist: playlistId, video: videoId, at }, { required: ['playlist', 'video', 'at'] }),
    },
  },
  { title: 'Additions', required: ['uploads', 'items'] },
)

export interface Additions {
  readonly uploads: readonly AddedUpload[]
  readonly items: readonly AddedItem[]
}

const channelIds = (description: string) =>
  ({ type: 'array', maxItems: MAX_CHANNELS, items: channelId, description }) as const

/** Channels that differ from the invented ones. */
export const channelFlagsSchema = object(
  {
    hidden: channelIds('These channels hide their number of subscribers.'),
    removed: channelIds('These channels do not exist, nor do their videos and playlists.'),
  },
  { title: 'ChannelFlags', examples: [{ hidden: ['UC0007000700070007000700'] }] },
)

export type ChannelFlags = FromSchema<typeof channelFlagsSchema>

/** Merges an addition. A video replaces an earlier addition of the same video to the same kind of list. */
export function mergeAddition(before: Additions, { channel, playlist, videos }: Addition, now: number): Additions {
  const ids = new Set(videos.map(({ id }) => id))
  if (channel !== undefined) {
    const added = videos.map((video) => ({ ...video, at: video.at ?? now, channel }))
    return { items: before.items, uploads: [...before.uploads.filter(({ id }) => !ids.has(id)), ...added] }
  }
  const others = before.items.filter((item) => item.playlist !== playlist || !ids.has(item.video))
  const added = videos.map(({ id, at: time = now }) => ({ playlist: playlist!, video: id, at: time }))
  return { uploads: before.uploads, items: [...others, ...added] }
}
