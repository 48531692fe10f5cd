import type { Problem } from '@influencer-stats/runtime/problems'
import { updateVideo, type Snapshot, type VideoNumbers } from './core/video-numbers.ts'
import type { StatsReading } from './core/prepared-reply.ts'

interface Video {
  /** Collections that contain it. */
  readonly users: Set<string>
  /** Absent if it has no data yet, or YouTube has no numbers. */
  numbers?: VideoNumbers
  /** Time of the last request by either clock; absent without data. */
  asOf?: number
  at?: number
  /** Reason for the absence of data, once it was tried. */
  fault?: Problem
}

/** Data of videos, stored once per video however many collections contain it. */
export class VideoTable {
  readonly #videos = new Map<string, Video>()

  /**
   * Adds a collection's videos.
   * @returns the videos that are new here
   */
  use(ids: readonly string[], user: string): string[] {
    const added: string[] = []
    for (const id of ids) {
      const video = this.#videos.get(id)
      if (video) video.users.add(user)
      else {
        this.#videos.set(id, { users: new Set([user]) })
        added.push(id)
      }
    }
    return added
  }

  /**
   * Releases a collection's videos.
   * @returns the videos that no collection contains any more; they are deleted
   */
  release(ids: readonly string[], user: string): string[] {
    return ids.filter((id) => {
      const users = this.#videos.get(id)?.users
      users?.delete(user)
      return users?.size === 0 && this.#videos.delete(id)
    })
  }

  /**
   * Updates `ids` from a response or a stored snapshot, which may be older than the known numbers. An id that is not in
   * `found` counts as omitted.
   * @param interval between two refreshes (ms)
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
   * @returns the ids that have no data therefore
   */
  recordFault(ids: readonly string[], fault: Problem): string[] {
    return ids.filter((id) => {
      const video = this.#videos.get(id)
      if (!video || video.at !== undefined) return false
      video.fault = fault
      return true
    })
  }

  get size(): number {
    return this.#videos.size
  }

  /** Returns the collections that contain one of `ids`. */
  getUsers(ids: readonly string[]): string[] {
    const users = new Set<string>()
    for (const id of ids) for (const user of this.#videos.get(id)?.users ?? []) users.add(user)
    return [...users]
  }

  /** Returns the request time of each video by the monotonic clock; undefined for a video without data. */
  getTimes(): [id: string, at: number | undefined][] {
    return [...this.#videos].map(([id, { at }]) => [id, at])
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
    const [videos, missing, unknown] = [[] as VideoNumbers[], [] as string[], [] as string[]]
    let [at, asOf, since] = [Infinity, Infinity, -Infinity]
    for (const id of ids) {
      const video = this.#videos.get(id)
      if (video?.at === undefined) {
        unknown.push(id)
        continue
      }
      if (video.numbers) videos.push(video.numbers)
      else missing.push(id)
      at = Math.min(at, video.at)
      asOf = Math.min(asOf, video.asOf!)
      since = Math.max(since, video.asOf!)
    }
    if (ids.length > 0 && unknown.length === ids.length) return undefined
    // An empty sum is correct at any time.
    if (ids.length === 0) asOf = since = Date.now()
    const parts = { ...(unknown.length > 0 && { unknown }), ...(since > asOf && { since }) }
    const snapshot: Snapshot = { videos, missing, asOf, ...parts }
    return { snapshot, at }
  }
}
