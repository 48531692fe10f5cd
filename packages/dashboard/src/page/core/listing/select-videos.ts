import type { Video } from '@influencer-stats/stats/client'

/** Columns by which the videos of a campaign are ordered; with `-` the largest value comes first. */
export const VIDEO_COLUMNS = ['title', 'views', 'likes', 'comments', 'publishedAt'] as const
export type VideoColumn = (typeof VIDEO_COLUMNS)[number]
export type VideoSort = VideoColumn | `-${VideoColumn}`

export const DEFAULT_VIDEO_SORT: VideoSort = '-views'
const SORTS = new Set<string>(VIDEO_COLUMNS.flatMap((column) => [column, `-${column}`]))

/** Reads an order from an address. An invalid order is ignored. */
export const parseVideoSort = (sort: string | null): VideoSort =>
  sort !== null && SORTS.has(sort) ? (sort as VideoSort) : DEFAULT_VIDEO_SORT

const foldText = (text: string) => text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase()
const collator = new Intl.Collator(undefined, { numeric: true })

/** Returns the videos with all words of a search in title, channel or id, in an order. Videos without the value come last. */
export function selectVideos(videos: readonly Video[], sort: VideoSort, q: string): Video[] {
  const words = foldText(q).split(/\s+/).filter(Boolean)
  const isMatch = ({ id, title = '', channel = '' }: Video) => {
    const text = `${foldText(`${title}\n${channel}`)}\n${id.toLowerCase()}`
    return words.every((word) => text.includes(word))
  }
  const column = sort.replace('-', '') as VideoColumn
  const sign = sort.startsWith('-') ? -1 : 1
  return videos.filter(isMatch).sort((a, b) => compare(a[column], b[column], sign))
}

function compare(a: number | string | undefined, b: number | string | undefined, sign: number): number {
  if (a === undefined || b === undefined) return Number(a === undefined) - Number(b === undefined)
  return sign * (typeof a === 'number' ? a - (b as number) : collator.compare(a, b as string))
}
