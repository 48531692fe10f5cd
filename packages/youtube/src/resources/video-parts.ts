import type { WorldMoment } from '../lists/list-resource.ts'
import { createSeededRandom } from '../world/seeded-random.ts'
import { formatDuration, formatTime } from '../world/time-format.ts'
import { getVideoCounts } from '../world/video-counts.ts'
import type { Video } from '../world/world.ts'

type PartContent = Record<string, unknown>

const SUBJECTS = [
  'Morning routine',
  'Street food',
  'Tiny house',
  'Road trip',
  'Unboxing',
  'Guitar cover',
  'Home workout',
]
const CATEGORIES = ['10', '17', '19', '22', '24', '26', '28']

const pick = <T>(from: readonly T[], random: () => number): T => from[Math.floor(random() * from.length)]!

function buildThumbnail(id: string, name: string, width: number, height: number): PartContent {
  return { url: `https://i.ytimg.com/vi/${id}/${name}.jpg`, width, height }
}

export const buildThumbnails = (id: string): PartContent => ({
  default: buildThumbnail(id, 'default', 120, 90),
  medium: buildThumbnail(id, 'mqdefault', 320, 180),
  high: buildThumbnail(id, 'hqdefault', 480, 360),
})

/** Ids that end in this belong to videos that are live, or will be. */
const LIVE_ENDINGS: Readonly<Record<string, 'live' | 'upcoming'>> = { '-L': 'live', '-U': 'upcoming' }

const getLiveState = ({ id, added }: Video): 'none' | 'live' | 'upcoming' =>
  added?.live ?? LIVE_ENDINGS[id.slice(-2)] ?? 'none'

/** Returns title, description and other texts of a video. */
export function getVideoTexts({ id, channel, added }: Video) {
  const random = createSeededRandom(`${id} snippet`)
  const subject = pick(SUBJECTS, random)
  // The second number of this sequence determines the channel: see `World`.
  random()
  const title = added?.title ?? `${subject} #${Math.floor(random() * 500) + 1}`
  return {
    title,
    description: added?.description ?? `${title}, by ${channel.title}. Stand-in for video ${id}.`,
    tags: added?.tags ?? subject.toLowerCase().split(' '),
    categoryId: pick(CATEGORIES, random),
  }
}

function buildSnippet(video: Video): PartContent {
  const { title, description, tags, categoryId } = getVideoTexts(video)
  return {
    publishedAt: formatTime(video.publishedAt),
    channelId: video.channel.id,
    title,
    description,
    thumbnails: buildThumbnails(video.id),
    channelTitle: video.channel.title,
    ...(tags.length > 0 && { tags }),
    categoryId,
    liveBroadcastContent: getLiveState(video),
    localized: { title, description },
  }
}

/** Share of the videos that are Shorts, and of those that take hours. */
const SHORTS_SHARE = 0.2
const LONG_SHARE = 0.03

/** Returns the length of a video (s). */
function drawDuration(id: string, random: () => number): number {
  const minutes = 1 + Math.floor(random() * 40)
  const seconds = 1 + Math.floor(random() * 59)
  const form = createSeededRandom(`${id} form`)()
  if (form < SHORTS_SHARE) return Math.max(5, seconds)
  return minutes * 60 + seconds + (form > 1 - LONG_SHARE ? 3_600 : 0)
}

function buildContentDetails(video: Video): PartContent {
  const random = createSeededRandom(`${video.id} content`)
  const drawn = drawDuration(video.id, random)
  // A broadcast has a length only after its end.
  const duration = getLiveState(video) === 'none' ? (video.added?.duration ?? drawn) : 0
  return {
    duration: formatDuration(duration),
    dimension: '2d',
    definition: random() < 0.9 ? 'hd' : 'sd',
    caption: String(random() < 0.3),
    licensedContent: random() < 0.5,
    contentRating: {},
    projection: 'rectangular',
  }
}

function buildStatus(video: Video): PartContent {
  return {
    uploadStatus: getLiveState(video) === 'none' ? 'processed' : 'uploaded',
    privacyStatus: 'public',
    license: 'youtube',
    embeddable: true,
    publicStatsViewable: true,
    madeForKids: createSeededRandom(`${video.id} status`)() < 0.1,
  }
}

/** Builds the counts in the API's format: unsigned 64-bit numbers, so strings in JSON. */
function buildStatistics(video: Video, { time }: WorldMoment): PartContent {
  // An upcoming broadcast has no views yet.
  const at = getLiveState(video) === 'upcoming' ? video.publishedAt : time
  const { views, likes, dislikes, favorites, comments } = getVideoCounts(video.id, at, video.publishedAt)
  return {
    viewCount: String(views),
    likeCount: String(likes),
    dislikeCount: String(dislikes),
    favoriteCount: String(favorites),
    ...(comments !== undefined && { commentCount: String(comments) }),
  }
}

const HOUR_MS = 3_600_000

/** Builds the part that only broadcasts have. */
function buildLiveStreamingDetails(video: Video, { time }: WorldMoment): PartContent | undefined {
  const state = getLiveState(video)
  const hour = time - (time % HOUR_MS)
  if (state === 'none') return undefined
  if (state === 'upcoming') return { scheduledStartTime: formatTime(hour + 24 * HOUR_MS) }
  return { actualStartTime: formatTime(hour), scheduledStartTime: formatTime(hour), concurrentViewers: '42' }
}

/** The functions that build the parts of a video. */
export const videoPartBuilders = {
  snippet: buildSnippet,
  contentDetails: buildContentDetails,
  status: buildStatus,
  statistics: buildStatistics,
  liveStreamingDetails: buildLiveStreamingDetails,
}
