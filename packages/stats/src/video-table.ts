import type { Problem } from '@influencer-stats/runtime/problems'
import { updateVideo, type Snapshot, type VideoNumbers } from './core/video-numbers.ts'
import type { StatsReading } from './core/prepared-reply.ts'

interface Video {
  /** The collections that have it. */
  readonly users: Set<string>
  /** None where nothing is known yet, or YouTube has none. */
  numbers?: VideoNumbers
  /** When YouTube was asked for it, by either clock; never as long as nothing is known. */
  asOf?: number
  at?: number
  /** Why nothing is known yet, once it was tried. */
  fault?: Problem
}

/** What is known of videos, each once however many collections have it. */
export class VideoTable {
  readonly #videos = new Map<string, Video>()

  /** Takes up a collection's videos. @returns those that are new here */
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

  /** Gives up a collection's videos. @returns those that no collection has any more; they are forgotten */
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

  /** Takes note that `ids` could not be asked for. @returns those of which nothing is known therefore */
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

  /** The collections that have one of `ids`. */
  getUsers(ids: readonly string[]): string[] {
    const users = new Set<string>()
    for (const id of ids) for (const user of this.#videos.get(id)?.users ?? []) users.add(user)
    return [...users]
  }

  /** When each was asked for, by the clock that nobody sets; none of those that are unknown. */
  getTimes(): [id: string, at: number | undefined][] {
    return [...this.#videos].map(([id, { at }]) => [id, at])
  }

  /** Those of `ids` that were never tried. */
  getUntried(ids: readonly string[]): string[] {
    return ids.filter((id) => {
      const video = this.#videos.get(id)
      return video?.at === undefined && video?.fault === undefined
    })
  }

  /** Why something of `ids` is unknown, and of which. */
  getFault(ids: readonly string[]): { id: string; fault: Problem } | undefined {
    for (const id of ids) {
      const video = this.#videos.get(id)
      if (video?.fault) return { id, fault: video.fault }
    }
    return undefined
  }

  /** What is known of `ids`; nothing if that is of none of them. */
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
    // An empty sum is true at any time.
    if (ids.length === 0) asOf = since = Date.now()
    const parts = { ...(unknown.length > 0 && { unknown }), ...(since > asOf && { since }) }
    const snapshot: Snapshot = { videos, missing, asOf, ...parts }
    return { snapshot, at }
  }
}
