import { createSeededRandom } from './seeded-random.ts'
import { toTickStart } from './tick.ts'

/** An invented channel. Its number determines all its data. */
export interface Channel {
  readonly number: number
  readonly id: string
  readonly title: string
  /** With its `@`. */
  readonly handle: string
  /** Creation, and publication of the first upload (ms since 1970). */
  readonly createdAt: number
  readonly firstUploadAt: number
  /** Interval between two uploads (ms). */
  readonly uploadInterval: number
}

/** Number of channels that exist. */
const CHANNELS = 5_000
const CHANNEL_ID = /^UC(\d{4})\1\1\1\1\d\d$/
const HANDLE = /^@?channel(\d{1,4})$/i
const USER_NAME = /^user(\d{1,4})$/i

/** Ids of uploads: `UC`, the number of the channel in four digits, the index of the upload in five digits of base 36. */
const UPLOAD_ID = /^UC(\d{4})([0-9a-z]{5})$/

const DAY_MS = 86_400_000
const FIRST_CREATION_TIME = Date.UTC(2010, 0, 1)
const LAST_CREATION_TIME = Date.UTC(2020, 0, 1)
const MIN_UPLOAD_INTERVAL_DAYS = 0.5
const MAX_UPLOAD_INTERVAL_DAYS = 30

const toDigits = (number: number) => String(number).padStart(4, '0')
const toSecond = (time: number) => time - (time % 1_000)

/** Returns the 22 characters that the ids of a channel and of its uploads have in common. */
const toIdTail = (number: number) => toDigits(number).repeat(6).slice(0, 22)

export const formatChannelId = (number: number): string => `UC${toIdTail(number)}`
export const formatUploadsId = ({ number }: Channel): string => `UU${toIdTail(number)}`
export const formatPlaylistId = ({ number }: Channel): string => `PL${toDigits(number).repeat(8)}`

function toChannelNumber(digits: string | undefined): number | undefined {
  const number = Number(digits)
  return digits !== undefined && number < CHANNELS ? number : undefined
}

/** Returns the number of the channel with an id; undefined if there is no such channel. */
export function parseChannelId(id: string): number | undefined {
  const number = toChannelNumber(CHANNEL_ID.exec(id)?.[1])
  return number !== undefined && formatChannelId(number) === id ? number : undefined
}

/** @param handle with or without its `@` */
export const parseHandle = (handle: string): number | undefined => toChannelNumber(HANDLE.exec(handle)?.[1])
export const parseUserName = (name: string): number | undefined => toChannelNumber(USER_NAME.exec(name)?.[1])

/** Returns the number of the channel that an ordinary video, whose id is no id of an upload, belongs to. */
export function drawChannelNumber(random: () => number): number {
  return Math.floor(random() * CHANNELS)
}

export function createChannel(number: number): Channel {
  const random = createSeededRandom(`channel ${number}`)
  const createdAt = toSecond(FIRST_CREATION_TIME + random() * (LAST_CREATION_TIME - FIRST_CREATION_TIME))
  const days = MIN_UPLOAD_INTERVAL_DAYS * (MAX_UPLOAD_INTERVAL_DAYS / MIN_UPLOAD_INTERVAL_DAYS) ** random()
  const uploadInterval = toSecond(days * DAY_MS)
  return {
    number,
    id: formatChannelId(number),
    title: `Channel ${number}`,
    handle: `@channel${number}`,
    createdAt,
    firstUploadAt: toSecond(createdAt + random() * uploadInterval),
    uploadInterval,
  }
}

export const formatUploadId = ({ number }: Channel, index: number): string =>
  `UC${toDigits(number)}${index.toString(36).padStart(5, '0')}`

/** Returns the channel and the index of an upload, which may be in the future; undefined for other ids. */
export function parseUploadId(id: string): { readonly number: number; readonly index: number } | undefined {
  const [, digits, index] = UPLOAD_ID.exec(id) ?? []
  const number = toChannelNumber(digits)
  return number === undefined ? undefined : { number, index: Number.parseInt(index!, 36) }
}

/** Returns the publication of an upload (ms since 1970). Uploads are published at a constant interval. */
export const getUploadTime = ({ firstUploadAt, uploadInterval }: Channel, index: number): number =>
  firstUploadAt + index * uploadInterval

/** Returns the number of uploads that a channel has published at a time (ms since 1970). */
export const countUploads = ({ firstUploadAt, uploadInterval }: Channel, time: number): number =>
  Math.max(0, Math.floor((time - firstUploadAt) / uploadInterval) + 1)

/** Rounds down to three significant digits, as YouTube rounds subscribers. */
function roundSubscribers(count: number): number {
  const unit = 10 ** Math.max(0, String(count).length - 3)
  return Math.floor(count / unit) * unit
}

/** Returns the counts of a channel at a time (ms since 1970). They grow at a constant rate since its creation. */
export function getChannelCounts(channel: Channel, time: number): { subscribers: number; views: number } {
  const random = createSeededRandom(`channel ${channel.number} counts`)
  const days = Math.max(0, toTickStart(time) - channel.createdAt) / DAY_MS
  const subscribersPerDay = 10 ** (5 * random() - 1)
  const viewsPerSubscriber = 20 + 400 * random()
  const subscribers = Math.floor(subscribersPerDay * days)
  return {
    subscribers: roundSubscribers(subscribers),
    views: Math.floor(subscribersPerDay * viewsPerSubscriber * days),
  }
}

/** True if a channel hides its subscribers by itself: every tenth channel, those whose number ends in 9. */
export const hidesSubscribers = ({ number }: Channel): boolean => number % 10 === 9
