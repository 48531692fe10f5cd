import { figuresOf, publishedAt } from './figures.ts'
import { randomOf } from './random.ts'

type Content = Record<string, unknown>

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

function thumbnail(id: string, name: string, width: number, height: number): Content {
  return { url: `https://i.ytimg.com/vi/${id}/${name}.jpg`, width, height }
}

function channelOf(random: () => number): { id: string; title: string } {
  const number = Math.floor(random() * 5_000)
  return { id: `UC${String(number).padStart(4, '0').repeat(6).slice(0, 22)}`, title: `Channel ${number}` }
}

function snippet(id: string): Content {
  const random = randomOf(`${id} snippet`)
  const subject = pick(SUBJECTS, random)
  const channel = channelOf(random)
  const title = `${subject} #${Math.floor(random() * 500) + 1}`
  const description = `${title}, by ${channel.title}. Stand-in for video ${id}.`
  return {
    publishedAt: new Date(publishedAt(id)).toISOString().replace('.000', ''),
    channelId: channel.id,
    title,
    description,
    thumbnails: {
      default: thumbnail(id, 'default', 120, 90),
      medium: thumbnail(id, 'mqdefault', 320, 180),
      high: thumbnail(id, 'hqdefault', 480, 360),
    },
    channelTitle: channel.title,
    tags: subject.toLowerCase().split(' '),
    categoryId: pick(CATEGORIES, random),
    liveBroadcastContent: 'none',
    localized: { title, description },
  }
}

function contentDetails(id: string): Content {
  const random = randomOf(`${id} content`)
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

function status(id: string): Content {
  return {
    uploadStatus: 'processed',
    privacyStatus: 'public',
    license: 'youtube',
    embeddable: true,
    publicStatsViewable: true,
    madeForKids: randomOf(`${id} status`)() < 0.1,
  }
}

/** Counts as the API gives them: unsigned 64-bit numbers, so strings in JSON. */
function statistics(id: string, time: number): Content {
  const { views, likes, dislikes, favorites, comments } = figuresOf(id, time)
  return {
    viewCount: String(views),
    likeCount: String(likes),
    dislikeCount: String(dislikes),
    favoriteCount: String(favorites),
    ...(comments !== undefined && { commentCount: String(comments) }),
  }
}

/** What each part says of a video at a time, in the order in which Google writes them. */
export const content: Readonly<Record<string, (id: string, time: number) => Content>> = {
  snippet,
  contentDetails,
  status,
  statistics,
}

/** Parts that exist but have nothing to say of these videos, or that the resource says anyway (`id`). */
export const PARTS_WITHOUT_CONTENT = new Set([
  'id',
  'liveStreamingDetails',
  'localizations',
  'paidProductPlacementDetails',
  'player',
  'recordingDetails',
  'topicDetails',
])

/** Parts that only a video's owner may see. */
export const OWNER_PARTS = new Set(['fileDetails', 'processingDetails', 'suggestions'])
