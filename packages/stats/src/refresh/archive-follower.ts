import type { Schedule } from './schedule.ts'
import type { VideoTable } from './video-table.ts'

/** Interval at which the archive is searched for due videos (ms). 10,000 videos take about 1 ms. */
const CHECK_INTERVAL_MS = 3_600_000

/** Removes the videos of archived collections from the schedule, and adds those that are due: see `VideoTable.isDue`. */
export class ArchiveFollower {
  readonly #getVideos: () => VideoTable
  #nextCheck = 0

  constructor(getVideos: () => VideoTable) {
    this.#getVideos = getVideos
  }

  /**
   * Applies a change of collections, or of the age of numbers.
   * @param ids the videos that it may concern
   */
  follow(ids: Iterable<string>, schedule: Schedule | undefined, now: number): void {
    if (!schedule) return
    const videos = this.#getVideos()
    const due: string[] = []
    for (const id of ids) {
      if (!videos.isDue(id, now)) schedule.remove(id)
      else if (!schedule.has(id)) due.push(id)
    }
    if (due.length > 0) schedule.load(videos.getTimes(now, due), now)
  }

  /** Adds the archived videos whose time has come, once per `CHECK_INTERVAL_MS`. */
  check(schedule: Schedule | undefined, now: number): void {
    if (!schedule || now < this.#nextCheck) return
    this.#nextCheck = now + CHECK_INTERVAL_MS
    this.follow(this.#getVideos().ids, schedule, now)
  }
}
