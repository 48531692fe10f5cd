import { hasSameTotals, sum, type VideoNumbers } from '../core/video-numbers.ts'
import { DAY_MS } from '../core/quota-budget.ts'
import type { VideoDetailsSink } from '../youtube/video-client.ts'
import type { VideoDetails } from '../core/video-details.ts'
import type { MaybePromise, VideoRow } from '../state/stats-state.ts'
import { steadyNow } from '@influencer-stats/runtime/steady-clock'
import { toHour, type Point } from '../core/history-points.ts'
import { RowWriter } from './row-writer.ts'

interface RecordedVideo {
  /** Time of the last response to a request for its details (ms of the monotonic clock). */
  detailsAt: number
  /** Last point of its history. */
  point?: Point
}

/** Number of videos per write. */
const BATCH_ROWS = 1_000
/**
 * Maximum number of videos in memory. With more videos the memory is cleared, and details are requested
 * more often than once a day.
 */
const MAX_RECORDED_VIDEOS = 1_000_000

export interface VideoDetailsRecorderOptions {
  save(rows: readonly VideoRow[]): MaybePromise<void>
  /** Called with the cause when data cannot be stored, once per outage. */
  onFault(fault: unknown): void
}

/**
 * Records results of this thread's calls: details once a day, and a point of a video's history once an hour if its
 * numbers have changed, or are the first ones since the start. No caller waits for it.
 */
export class VideoDetailsRecorder implements VideoDetailsSink {
  readonly #recorded = new Map<string, RecordedVideo>()
  readonly #rows: RowWriter<VideoRow>

  constructor({ save, onFault }: VideoDetailsRecorderOptions) {
    this.#rows = new RowWriter({ write: save, getSize: () => 1, maxBatchSize: BATCH_ROWS, onFault })
  }

  /**
   * True if details of any id are due: the call then requests the details of all its ids, at the same cost. After a start
   * all details are due.
   */
  needsDetails(ids: readonly string[]): boolean {
    const latest = steadyNow() - DAY_MS
    return ids.some((id) => (this.#recorded.get(id)?.detailsAt ?? -Infinity) < latest)
  }

  recordDetails(ids: readonly string[], details: readonly VideoDetails[]): void {
    if (this.#recorded.size > MAX_RECORDED_VIDEOS) this.#recorded.clear()
    const now = steadyNow()
    // Includes ids without details: otherwise every call would request them again.
    for (const id of ids) this.#getRecorded(id).detailsAt = now
    for (const one of details) this.#add(one.id, { details: one })
  }

  /**
   * Records numbers in the histories of their videos.
   * @param videos numbers, with the last known values of hidden counts
   * @param asOf request time of the numbers (ms since the epoch)
   */
  recordNumbers(videos: readonly VideoNumbers[], asOf: number): void {
    for (const numbers of videos) {
      const recorded = this.#getRecorded(numbers.id)
      const { point: last } = recorded
      // Uncached reads come thousands of times an hour, so the hour is compared before a point is created.
      if (last && toHour(last.at) === toHour(asOf)) continue
      const point = { at: asOf, ...sum([numbers]) }
      if (last && hasSameTotals(last, point)) continue
      recorded.point = point
      this.#add(numbers.id, { point })
    }
  }

  /** Writes the pending data if the state is available. */
  close(): Promise<void> {
    return this.#rows.close()
  }

  #getRecorded(id: string): RecordedVideo {
    let recorded = this.#recorded.get(id)
    if (!recorded) this.#recorded.set(id, (recorded = { detailsAt: -Infinity }))
    return recorded
  }

  #add(id: string, row: Omit<VideoRow, 'id'>): void {
    void this.#rows.set(id, { ...this.#rows.get(id), id, ...row })
  }
}
