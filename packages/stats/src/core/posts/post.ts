import { toIsoTime } from '../iso-time.ts'

/** Platforms whose posts a campaign can contain. */
export const POST_PLATFORMS = ['instagram', 'tiktok', 'twitch', 'x', 'facebook', 'linkedin'] as const
export type PostPlatform = (typeof POST_PLATFORMS)[number]

export const POST_COUNTS = ['views', 'likes', 'comments', 'shares', 'saves'] as const
export type PostCountName = (typeof POST_COUNTS)[number]

/** Reported counts. A count that was not reported is absent. */
export type PostCounts = { readonly [Name in PostCountName]?: number }

/** Fields of a post that a client sets. */
export interface PostContent {
  readonly platform: PostPlatform
  /** The normalised link. */
  readonly url: string
  readonly creator?: string
  readonly title?: string
  /** A day (YYYY-MM-DD), or an ISO time. */
  readonly published?: string
}

/** The last reported value of each count, and the time of the newest report (ms since 1970). */
export interface LastCounts extends PostCounts {
  readonly at: number
}

/** A post as the record `post` stores it. */
export interface Post extends PostContent {
  /** Changes with every change of the post and of its numbers (us since 1970). */
  readonly revision: number
  /** Number of its records `post-numbers`. */
  readonly points: number
  /** Absent without numbers. */
  readonly last?: LastCounts
}

/** Numbers of one time, as the record `post-numbers` stores them. */
export interface PostNumbers extends PostCounts {
  /** ms since 1970 */
  readonly at: number
  readonly note?: string
  /** us since 1970 */
  readonly revision: number
}

export const MAX_POSTS = 200
/** Maximum number of times with numbers of a post: daily ones of more than two years. */
export const MAX_POST_POINTS = 1_000
export const MAX_POST_COUNT = 1e15
export const MAX_NOTE_LENGTH = 500
/** Maximum length of the title and of the name of the creator. */
export const MAX_POST_TEXT_LENGTH = 300
/** By this much the clock of a client may be ahead (ms). */
export const MAX_CLOCK_SKEW_MS = 60_000

/** Returns the default id of a post. @param id of the platform, in which LinkedIn uses colons */
export const toPostId = ({ platform, id }: { readonly platform: string; readonly id: string }): string =>
  `${platform}-${id.replace(/[^\w.~-]/g, '-')}`.slice(0, 128)

export const toPostKey = (collection: string, post = ''): string => `${collection}/${post}`
export const toNumbersKey = (collection: string, post: string, at: number): string =>
  `${collection}/${post}/${String(at).padStart(16, '0')}`

/** Splits the key of the record `post`. */
export function parsePostKey(key: string): { readonly collection: string; readonly post: string } {
  const at = key.indexOf('/')
  return { collection: key.slice(0, at), post: key.slice(at + 1) }
}

export const pickCounts = (counts: PostCounts): PostCounts =>
  Object.fromEntries(POST_COUNTS.flatMap((name) => (counts[name] === undefined ? [] : [[name, counts[name]]])))

/** Returns the last value of each count. @param points ascending by time */
export function findLastCounts(points: readonly PostNumbers[]): LastCounts | undefined {
  if (points.length === 0) return undefined
  return { ...points.reduce<PostCounts>((last, one) => ({ ...last, ...pickCounts(one) }), {}), at: points.at(-1)!.at }
}

/** A post as in replies. */
export interface PostResource extends PostContent {
  readonly id: string
  /** Number of times with numbers. */
  readonly points: number
  /** Last reported value of each count, and the time of the newest numbers. Absent without numbers. */
  readonly numbers?: PostCounts & { readonly asOf: string }
}

export function toPostReply(id: string, { revision: _revision, points, last, ...content }: Post): PostResource {
  if (!last) return { id, ...content, points }
  const { at, ...counts } = last
  return { id, ...content, points, numbers: { ...counts, asOf: toIsoTime(at) } }
}

/** Returns numbers as in replies. */
export const toNumbersReply = ({ at, note, revision: _revision, ...counts }: PostNumbers) => ({
  at: toIsoTime(at),
  ...counts,
  ...(note !== undefined && { note }),
})
