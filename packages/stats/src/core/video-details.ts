import { omitUndefined, toText, toTime } from './received/received-text.ts'

export const LIVE_STATES = ['none', 'live', 'upcoming'] as const
export type LiveState = (typeof LIVE_STATES)[number]

/** Data of a video other than its numbers. Fields that YouTube does not state are absent. */
export interface VideoDetails {
  readonly id: string
  readonly title?: string
  readonly channel?: string
  readonly channelId?: string
  /** ISO 8601. */
  readonly publishedAt?: string
  /** Length in seconds. Absent for a live broadcast that has not ended. */
  readonly duration?: number
  /** State of a live broadcast at the time of the request; `none` for a video, and after the broadcast. */
  readonly live?: LiveState
  /** Request time (ms since the epoch). */
  readonly asOf: number
}

/** Reads the `snippet` of an item of `videos.list`. */
export function toDetails(item: any, asOf: number): VideoDetails {
  const { title, channelTitle, channelId, publishedAt, liveBroadcastContent } = item?.snippet ?? {}
  const present = omitUndefined({
    title: toText(title),
    channel: toText(channelTitle),
    channelId: toText(channelId),
    publishedAt: toTime(publishedAt),
    duration: parseDuration(item?.contentDetails?.duration),
    live: LIVE_STATES.find((state) => state === liveBroadcastContent),
  })
  return { id: item.id, ...present, asOf }
}

/** Days, hours, minutes and seconds. YouTube also states weeks, for videos of a week or more. */
const DURATION = /^P(?:(\d{1,4})W)?(?:(\d{1,4})D)?(?:T(?:(\d{1,4})H)?(?:(\d{1,4})M)?(?:(\d{1,6})S)?)?$/
const UNITS = [604_800, 86_400, 3_600, 60, 1]

/** Returns an ISO 8601 duration in seconds; undefined for other values and for 0, which YouTube states while a broadcast runs. */
function parseDuration(value: unknown): number | undefined {
  const parts = typeof value === 'string' ? DURATION.exec(value)?.slice(1) : undefined
  const seconds = parts?.reduce((sum, part, i) => sum + Number(part ?? 0) * UNITS[i]!, 0)
  return seconds || undefined
}

/** Maximum length of a video that is taken for a Short (s). YouTube's API states neither Shorts nor the shape of a video. */
const MAX_SHORT_SECONDS = 60

/** True for a video of up to 60 s. A Short may have up to 180 s, but then so may any other video. */
export const isShort = ({ duration, live }: Pick<VideoDetails, 'duration' | 'live'>): boolean =>
  duration !== undefined && duration <= MAX_SHORT_SECONDS && (live ?? 'none') === 'none'
