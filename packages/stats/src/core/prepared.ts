import { hash } from 'node:crypto'
import { sum, type Snapshot } from './numbers.ts'

/** A ready-made reply: what a cached read sends as it is. Plain data, so that it can cross threads. */
export interface Prepared {
  /**
   * JSON; ASCII only. A string, not a Buffer: head and body of a string become one write, which costs 1.5 us less a
   * request.
   */
  readonly body: string
  readonly etag: string
  /** When the numbers were true (ms since the epoch). */
  readonly asOf: number
}

/** A snapshot and whether fresher numbers should have been had. */
export interface Reading {
  readonly snapshot: Snapshot
  readonly stale: boolean
}

function prepareBody(content: object, asOf: number): Prepared {
  const body = JSON.stringify(content)
  return { body, etag: `"${hash('sha1', body, 'base64url')}"`, asOf }
}

function summary({ snapshot, stale }: Reading) {
  const { videos, missing, asOf } = snapshot
  return { ...sum(videos), missing, asOf: new Date(asOf).toISOString(), stale }
}

/** The reply of `GET /collections/:id/stats`. */
export function prepare(reading: Reading): Prepared {
  return prepareBody(summary(reading), reading.snapshot.asOf)
}

/** The same with each video's numbers (`?by=video`). */
export function prepareByVideo(reading: Reading): Prepared {
  return prepareBody({ ...summary(reading), byVideo: reading.snapshot.videos }, reading.snapshot.asOf)
}

const withoutTime = ({ body, asOf }: Prepared) => body.replace(new Date(asOf).toISOString(), '')

/** Whether two replies say the same but for when it was true. */
export const sameNumbers = (a: Prepared, b: Prepared) => withoutTime(a) === withoutTime(b)
