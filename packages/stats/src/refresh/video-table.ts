import type { Problem } from '@influencer-stats/runtime/problems'
import { collectSnapshot, updateVideo, type KnownVideo, type VideoNumbers } from '../core/video-numbers.ts'
import type { StatsReading } from '../core/prepared-reply.ts'

interface Video {
  /** Collections that contain it. */
  readonly collectionIds: Set<string>
  /** Absent if the video has no data yet, or if YouTube never returned numbers. */
  numbers?: VideoNumbers
  /**
   * Request time of the numbers. If the video has no numbers or was removed, request time of the last response that
   * omitted it. `asOf` is in ms since the epoch, `at` in ms of the monotonic clock. Both are absent without data.
   */
  asOf?: number
  at?: number
  /** Fault of the last call, if the video has no data because calls for it failed. */
  fault?: Problem
}

/**
 * Interval at which videos are refreshed that only archived collections contain (ms): a week, because YouTube's policies
 * permit no data that are older than 30 days.
 */
export const ARCHIVE_INTERVAL_MS = 7 * 86_400_000

/** Data of videos, stored once per video however many collections contain it. */
export class VideoTable {
  readonly #videos = new Map<string, Video>()
  readonly #isArchived: (collectionId: string) => boolean
  /** Number of the videos of `isDue`; undefined if it may have changed. */
  #dueCount: number | undefined

  /** @param isArchived true if a collection is in the archive */
  constructor(isArchived: (collectionId: string) => boolean) {
    this.#isArchived = isArchived
  }

  /**
   * Adds a collection's videos.
   * @returns the videos that no collection contained before
   */
  use(ids: readonly string[], collectionId: string): string[] {
    const added: string[] = []
    this.#dueCount = undefined
    for (const id of ids) {
      const video = this.#videos.get(id)
      if (video) video.collectionIds.add(collectionId)
      else {
        this.#videos.set(id, { collectionIds: new Set([collectionId]) })
        added.push(id)
      }
    }
    return added
  }

  /** Releases a collection's videos. Those that no collection contains any more are deleted. */
  release(ids: readonly string[], collectionId: string): void {
    this.#dueCount = undefined
    for (const id of ids) {
      const collectionIds = this.#videos.get(id)?.collectionIds
      collectionIds?.delete(collectionId)
      if (collectionIds?.size === 0) this.#videos.delete(id)
    }
  }

  /**
   * Updates `ids` from a response or a stored snapshot, which may be older than the known numbers. An id that is not in
   * `found` counts as omitted.
   * @param asOf request time (ms since the epoch)
   * @param at request time (ms of the monotonic clock)
   * @param interval time between two refreshes (ms)
   */
  recordNumbers(
    ids: readonly string[],
    found: readonly VideoNumbers[],
    asOf: number,
    at: number,
    interval: number,
  ): void {
    const byId = new Map(found.map((numbers) => [numbers.id, numbers]))
    for (const id of ids) {
      const video = this.#videos.get(id)
      if (!video) continue
      if (video.at === undefined) this.#dueCount = undefined
      const now = { numbers: byId.get(id), asOf, at }
      const known = video.at === undefined ? undefined : { numbers: video.numbers, asOf: video.asOf!, at: video.at }
      const [before, after] = known && known.at > at ? [now, known] : [known, now]
      Object.assign(video, updateVideo(before, after, interval), { fault: undefined })
    }
  }

  /** Returns the numbers of those of `ids` that have any. */
  getNumbers(ids: readonly string[]): VideoNumbers[] {
    return ids.flatMap((id) => this.#videos.get(id)?.numbers ?? [])
  }

  /**
   * Records that a call for `ids` failed.
   * @returns the ids that have no data
   */
  recordFault(ids: readonly string[], fault: Problem): string[] {
    return ids.filter((id) => {
      const video = this.#videos.get(id)
      if (!video || video.at !== undefined) return false
      video.fault = fault
      return true
    })
  }

  get ids(): Iterable<string> {
    return this.#videos.keys()
  }

  /** Number of videos that are refreshed at the usual pace. */
  get size(): number {
    return (this.#dueCount ??= [...this.#videos.keys()].filter((id) => this.isDue(id, -Infinity)).length)
  }

  /**
   * True if the schedule must contain a video: it has no data yet, a collection outside the archive contains it, or its
   * data are older than `ARCHIVE_INTERVAL_MS`.
   */
  isDue(id: string, now: number): boolean {
    const video = this.#videos.get(id)
    if (!video) return false
    if (video.at === undefined || now - video.at >= ARCHIVE_INTERVAL_MS) return true
    for (const collectionId of video.collectionIds) if (!this.#isArchived(collectionId)) return true
    return false
  }

  /** Returns the ids of the collections that contain at least one of the videos `ids`. */
  getCollectionIds(ids: readonly string[]): string[] {
    const all = new Set<string>()
    for (const id of ids) for (const one of this.#videos.get(id)?.collectionIds ?? []) all.add(one)
    return [...all]
  }

  /**
   * Returns the request time of each due video by the monotonic clock; undefined for a video without data.
   * @param ids default: all
   */
  getTimes(now: number, ids: Iterable<string> = this.#videos.keys()): [id: string, at: number | undefined][] {
    const times: [string, number | undefined][] = []
    for (const id of ids) if (this.isDue(id, now)) times.push([id, this.#videos.get(id)!.at])
    return times
  }

  /** Returns the videos of `ids` that were never tried. */
  getUntried(ids: readonly string[]): string[] {
    return ids.filter((id) => {
      const video = this.#videos.get(id)
      return video?.at === undefined && video?.fault === undefined
    })
  }

  /** Returns the fault of the first of `ids` that has one, and that id. */
  getFault(ids: readonly string[]): { id: string; fault: Problem } | undefined {
    for (const id of ids) {
      const video = this.#videos.get(id)
      if (video?.fault) return { id, fault: video.fault }
    }
    return undefined
  }

  /** Returns the data of `ids`; undefined if none of them has any. */
  read(ids: readonly string[]): StatsReading | undefined {
    let at = Infinity
    const find = (id: string) => {
      const video = this.#videos.get(id)
      if (video?.at === undefined) return undefined
      at = Math.min(at, video.at)
      return video as KnownVideo
    }
    // An empty sum is correct at any time.
    const snapshot = collectSnapshot(ids, find, Date.now())
    return snapshot && { snapshot, at }
  }
}
