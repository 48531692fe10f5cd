import { getVideoCounts, getPublishTime } from './video-counts.ts'
import { createSeededRandom } from './seeded-random.ts'

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

function drawChannel(random: () => number): { id: string; title: string } {
  const number = Math.floor(random() * 5_000)
  return { id: `UC${String(number).padStart(4, '0').repeat(6).slice(0, 22)}`, title: `Channel ${number}` }
}

function buildSnippet(id: string): PartContent {
  const random = createSeededRandom(`${id} snippet`)
  const subject = pick(SUBJECTS, random)
  const channel = drawChannel(random)
  const title = `${subject} #${Math.floor(random() * 500) + 1}`
  const description = `${title}, by ${channel.title}. Stand-in for video ${id}.`
  return {
    publishedAt: new Date(getPublishTime(id)).toISOString().replace('.000', ''),
    channelId: channel.id,
    title,
    description,
    thumbnails: {
      default: buildThumbnail(id, 'default', 120, 90),
      medium: buildThumbnail(id, 'mqdefault', 320, 180),
      high: buildThumbnail(id, 'hqdefault', 480, 360),
    },
    channelTitle: channel.title,
    tags: subject.toLowerCase().split(' '),
    categoryId: pick(CATEGORIES, random),
    liveBroadcastContent: 'none',
    localized: { title, description },
  }
}

function buildContentDetails(id: string): PartContent {
  const random = createSeededRandom(`${id} content`)
  return {
    duration: `PT${1 + Math.floor(random() * 40)}M${1 + Math.floor(random() * 59)}S`,
    dimension: '2d',
    definition: random() < 0.9 ? 'hd' : 'sd',
    caption: String(random() < 0.3),
    licensedContent: random() < 0.5,
    contentRating: {},
    projection: 'rectangular',
  }
}

function buildStatus(id: string): PartContent {
  return {
    uploadStatus: 'processed',
    privacyStatus: 'public',
    license: 'youtube',
    embeddable: true,
    publicStatsViewable: true,
    madeForKids: createSeededRandom(`${id} status`)() < 0.1,
  }
}

/** Builds the counts in the API's format: unsigned 64-bit numbers, so strings in JSON. */
function buildStatistics(id: string, time: number): PartContent {
  const { views, likes, dislikes, favorites, comments } = getVideoCounts(id, time)
  return {
    viewCount: String(views),
    likeCount: String(likes),
    dislikeCount: String(dislikes),
    favoriteCount: String(favorites),
    ...(comments !== undefined && { commentCount: String(comments) }),
  }
}

/**
 * For each part of a video, the function that builds its content. The order is that in which Google writes the parts.
 * `time` is in ms since 1970.
 */
export const partBuilders: Readonly<Record<string, (id: string, time: number) => PartContent>> = {
  snippet: buildSnippet,
  contentDetails: buildContentDetails,
  status: buildStatus,
  statistics: buildStatistics,
}

/** Valid parts that add nothing to a reply: the stand-in has no content for them, or every video contains it (`id`). */
export const PARTS_WITHOUT_CONTENT = new Set([
  'id',
  'liveStreamingDetails',
  'localizations',
  'paidProductPlacementDetails',
  'player',
  'recordingDetails',
  'topicDetails',
])

/** Parts that only a video's owner may read. */
export const OWNER_PARTS = new Set(['fileDetails', 'processingDetails', 'suggestions'])
