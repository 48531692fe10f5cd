import { hash } from 'node:crypto'
import { toIsoTime } from './iso-time.ts'
import {
  COUNT_NAMES,
  sum,
  type CountName,
  type VideoRemoval,
  type Snapshot,
  type Totals,
  type VideoNumbers,
} from './video-numbers.ts'

/** A prepared reply, which a cached read sends unchanged. Plain data, so that it can cross threads. */
export interface PreparedReply {
  /**
   * JSON; ASCII only. A string, not a Buffer: then one write sends the head and the body together, which saves 1.5 us
   * per request.
   */
  readonly body: string
  readonly etag: string
  /** Request time of the oldest of the numbers (ms since the epoch). */
  readonly asOf: number
  /** The same time by the monotonic clock, from which their age is computed. */
  readonly at: number
}

/** A snapshot, and the request time of its oldest numbers by the monotonic clock. */
export interface StatsReading {
  readonly snapshot: Snapshot
  readonly at: number
  /** Origin of the numbers. */
  readonly source?: string | undefined
}

const toEtag = (body: string) => `"${hash('sha1', body, 'base64url')}"`

function prepareBody(content: object, { snapshot: { asOf }, at }: StatsReading): PreparedReply {
  const body = JSON.stringify(content)
  return { body, etag: toEtag(body), asOf, at }
}

/** A collection's numbers as in a reply, without `stale`. Times are ISO 8601 texts. */
export interface Summary extends Totals {
  readonly missing: readonly string[]
  readonly unknown?: readonly string[]
  readonly gone?: readonly { readonly id: string; readonly since: string; readonly asOf: string }[]
  /** Number of videos per count that YouTube does not state. The sums contain the last known values. */
  readonly hidden?: { readonly [Name in CountName]?: number }
  readonly asOf: string
}

/** A summary, and the request time of its oldest numbers by the monotonic clock. */
export interface KnownSummary {
  readonly summary: Summary
  readonly at: number
  /** Origin of the numbers. */
  readonly source?: string | undefined
}

const toTimes = ({ since, asOf }: VideoRemoval) => ({ since: toIsoTime(since), asOf: toIsoTime(asOf) })

/** Parts without content are undefined, so JSON omits them. */
export const summarize = ({ videos, missing, unknown, asOf }: Snapshot): Summary => ({
  ...sum(videos),
  missing,
  unknown,
  gone: listRemoved(videos),
  hidden: countHidden(videos),
  asOf: toIsoTime(asOf),
})

function listRemoved(videos: readonly VideoNumbers[]): Summary['gone'] {
  if (!videos.some(({ gone }) => gone)) return undefined
  return videos.flatMap(({ id, gone }) => (gone ? [{ id, ...toTimes(gone) }] : []))
}

function countHidden(videos: readonly VideoNumbers[]): Summary['hidden'] {
  if (!videos.some(({ hidden }) => hidden?.length)) return undefined
  const counted = videos.flatMap(({ hidden }) => hidden ?? [])
  const numbers = COUNT_NAMES.map((name) => [name, counted.filter((count) => count === name).length] as const)
  return Object.fromEntries(numbers.filter(([, number]) => number > 0))
}

function toByVideo({ hidden, hiddenSince, omitted: _omitted, gone, ...counts }: VideoNumbers) {
  return {
    ...counts,
    ...(hidden && { hidden, hiddenSince: toIsoTime(hiddenSince!) }),
    ...(gone && { gone: toTimes(gone) }),
  }
}

/** The reply of `GET /collections/:id/stats`. */
export function prepare(reading: StatsReading, summary = summarize(reading.snapshot)): PreparedReply {
  return prepareBody({ ...summary, stale: false, source: reading.source }, reading)
}

/** The same reply with each video's numbers (`?by=video`). */
export function prepareByVideo(reading: StatsReading): PreparedReply {
  const { snapshot, source } = reading
  return prepareBody({ ...summarize(snapshot), stale: false, source, byVideo: snapshot.videos.map(toByVideo) }, reading)
}

/** Numbers are stale when they are older than this many refresh intervals. */
export const STALE_INTERVALS = 2

const staleReplies = new WeakMap<PreparedReply, PreparedReply>()

/** Returns the reply for stale numbers. */
export function toStaleReply(prepared: PreparedReply): PreparedReply {
  let stale = staleReplies.get(prepared)
  if (!stale) {
    // The first match is the field: before it there are only numbers, times and ids of videos.
    const body = prepared.body.replace('"stale":false', '"stale":true')
    stale = { ...prepared, body, etag: toEtag(body) }
    staleReplies.set(prepared, stale)
  }
  return stale
}

/**
 * Returns the reply for the time `now`.
 * @param staleAfter age from which its numbers are stale (ms)
 */
export const withStaleness = (prepared: PreparedReply, now: number, staleAfter: number): PreparedReply =>
  now - prepared.at > staleAfter ? toStaleReply(prepared) : prepared

const removeTime = ({ body, asOf }: PreparedReply) => body.replace(toIsoTime(asOf), '')

/** True if two replies differ in nothing but `asOf`. */
export const hasSameNumbers = (a: PreparedReply, b: PreparedReply) => removeTime(a) === removeTime(b)
