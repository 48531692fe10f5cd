import type { Level } from 'level'
import type { Logger } from 'pino'
import { readDiskSpace } from '../disk-space.ts'
import { reclaimSpace, removeBallast } from './reclaim-space.ts'
import type { WriteHealth } from '../write-health.ts'

export interface DiskWatchOptions {
  readonly folder: string
  readonly service: string
  readonly health: WriteHealth
  readonly log: Pick<Logger, 'error' | 'info'>
  readonly db: Level<any, any>
  /** Runs a short write. @throws Problem if it fails, and then the database recovers by itself */
  write(run: (db: Level<any, any>) => Promise<void>): Promise<void>
}

/** Longest interval of the checks for new writes (ms). */
const MAX_POLL_MS = 250
/** Shortest interval between two reads of the free space (ms). */
const MIN_POLL_MS = 20
/**
 * Fastest use of headroom (bytes per ms): 250 MB of writes per second, which a flush and a compaction write a second
 * and a third time.
 */
const MAX_USE_BYTES_PER_MS = 750_000
/** Interval of reads of the free space while it is low (ms). */
const LOW_POLL_MS = 1_000
/**
 * Headroom at which writes are accepted again, as a multiple of the margin. New writes would use up a smaller headroom
 * at once.
 */
const HYSTERESIS_RATIO = 0.5
/** Pause after the first compaction that ran out of space (ms). The pause doubles with each further such compaction. */
const MIN_BACKOFF_MS = 10_000

/**
 * Refuses writes that add bytes while free space is low, so that removals remain possible, and reclaims the space of
 * removed entries. Without new writes, it reads the free space only at the start, and while free space is low. Main
 * thread only.
 */
export class DiskWatch {
  readonly #options: DiskWatchOptions
  #timer: NodeJS.Timeout
  /** Value of `health.writes` at the last check. */
  #writes: number
  /** Value of `health.writes` when space was last reclaimed. */
  #reclaimedAt: number | undefined
  /** Time before which no space is reclaimed (ms, as `performance.now()`). */
  #notBefore = 0
  #backoff = MIN_BACKOFF_MS
  #polling: Promise<void> | undefined
  #isClosed = false

  constructor(options: DiskWatchOptions) {
    this.#options = options
    this.#writes = options.health.writes - 1
    // A killed process may have left the ballast file.
    void removeBallast(options.folder).catch(() => {})
    this.#timer = this.#schedulePoll(MIN_POLL_MS)
  }

  /** Resolves when no check runs any more. Idempotent. */
  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#timer)
    await this.#polling
    clearTimeout(this.#timer)
  }

  #schedulePoll(ms: number): NodeJS.Timeout {
    return setTimeout(() => (this.#polling = this.#poll()), ms).unref()
  }

  async #poll(): Promise<void> {
    let pause = MAX_POLL_MS
    const { health } = this.#options
    if (health.isDiskLow || health.writes !== this.#writes) {
      this.#writes = health.writes
      // If the folder cannot be read, the next write fails and reports that.
      pause = await this.#checkSpace().catch(() => MAX_POLL_MS)
    }
    if (!this.#isClosed) this.#timer = this.#schedulePoll(pause)
  }

  /** Resolves with the delay until the next check (ms). */
  async #checkSpace(): Promise<number> {
    const { health } = this.#options
    const headroom = await this.#update()
    if (!health.isDiskLow) return Math.min(MAX_POLL_MS, Math.max(MIN_POLL_MS, headroom / MAX_USE_BYTES_PER_MS))
    // Space is reclaimed once when it gets low, and again after each removal.
    const shouldReclaim = health.writes !== this.#reclaimedAt && performance.now() >= this.#notBefore
    if (shouldReclaim && !health.getFault()) await this.#reclaimSpace()
    return LOW_POLL_MS
  }

  /** Resolves with the headroom (bytes). */
  async #update(): Promise<number> {
    const { folder, service, db, health, log } = this.#options
    const wasLow = health.isDiskLow
    const { headroom, margin } = await readDiskSpace(folder, db)
    const isLow = headroom < (wasLow ? HYSTERESIS_RATIO * margin : 0)
    if (isLow === wasLow) return headroom
    health.isDiskLow = isLow
    this.#reclaimedAt = undefined
    if (isLow) log.error(`${service}: the disk is nearly full; only deletions are accepted`)
    else log.info(`${service}: the disk has free space again; all writes are accepted`)
    return headroom
  }

  async #reclaimSpace(): Promise<void> {
    const { folder, db, health } = this.#options
    const before = health.writes
    let ownWrites = 0
    const write: DiskWatchOptions['write'] = (run) => {
      ownWrites++
      return this.#options.write(run)
    }
    const shouldContinue = async () => {
      if (this.#isClosed || health.getFault()) return false
      await this.#update()
      return health.isDiskLow
    }
    try {
      await reclaimSpace({ folder, db, write, shouldContinue })
      this.#backoff = MIN_BACKOFF_MS
    } catch {
      // The failed write is already logged.
      this.#notBefore = performance.now() + this.#backoff
      this.#backoff *= 2
    }
    this.#reclaimedAt = (before + ownWrites) | 0
    await this.#update()
  }
}
