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
  /** True if its live broadcast has not ended: its details change soon. */
  isLive?: boolean
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
  /** Called with the details of each call. */
  onDetails?(details: readonly VideoDetails[]): void
}

/** Time between two requests for the details of a live or upcoming broadcast (ms). */
const LIVE_INTERVAL_MS = 600_000

/**
 * Records results of this thread's calls: details once a day, those of live broadcasts every 10 minutes, and a point of a video's history once an hour if its
 * numbers have changed, or are the first ones since the start. No caller waits for it.
 */
export class VideoDetailsRecorder implements VideoDetailsSink {
  readonly #recorded = new Map<string, RecordedVideo>()
  readonly #rows: RowWriter<VideoRow>

  readonly #onDetails: VideoDetailsRecorderOptions['onDetails']

  constructor({ save, onFault, onDetails }: VideoDetailsRecorderOptions) {
    this.#onDetails = onDetails
    this.#rows = new RowWriter({ write: save, getSize: () => 1, maxBatchSize: BATCH_ROWS, onFault })
  }

  /**
   * True if details of any id are due: the call then requests the details of all its ids, at the same cost. After a start
   * all details are due.
   */
  needsDetails(ids: readonly string[]): boolean {
    const now = steadyNow()
    return ids.some((id) => {
      const recorded = this.#recorded.get(id)
      return !recorded || recorded.detailsAt < now - (recorded.isLive ? LIVE_INTERVAL_MS : DAY_MS)
    })
  }

  recordDetails(ids: readonly string[], details: readonly VideoDetails[]): void {
    if (this.#recorded.size > MAX_RECORDED_VIDEOS) this.#recorded.clear()
    const now = steadyNow()
    // Includes ids without details: otherwise every call would request them again.
    for (const id of ids) this.#getRecorded(id).detailsAt = now
    for (const one of details) {
      this.#getRecorded(one.id).isLive = one.live === 'live' || one.live === 'upcoming'
      this.#add(one.id, { details: one })
    }
    this.#onDetails?.(details)
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
