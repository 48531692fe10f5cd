import type { Level } from 'level'
import type { Logger } from 'pino'
import { pause } from '../../async/retry.ts'
import { hasFreeSpace } from '../free-space.ts'
import type { FolderGuard } from '../integrity/folder-guard.ts'
import type { WriteHealth } from '../write-health.ts'
import { flush } from './open-level.ts'
import { removeBallast } from './reclaim-space.ts'

export interface LevelRecoveryOptions<K, V> {
  readonly db: Level<K, V>
  readonly health: WriteHealth
  readonly folder: string
  readonly service: string
  readonly log: Pick<Logger, 'error' | 'info'>
  /** Main thread only. */
  readonly guard: FolderGuard | undefined
  /** True on the main thread, which restores the database. Other threads reopen it when the main thread requests that. */
  readonly isMain: boolean
  /** Runs when the database is known to be good again, before any write is accepted. */
  readonly onRecovered: (() => void | Promise<void>) | undefined
}

/** Interval of recovery attempts while the database accepts no writes (ms). */
const RETRY_INTERVAL_MS = 500

/** Restores a database that several threads use after failed writes. */
export class LevelRecovery<K, V> {
  readonly #options: LevelRecoveryOptions<K, V>
  readonly #closing = new AbortController()
  #recovering: Promise<void> = Promise.resolve()
  #opening: Promise<void> = Promise.resolve()

  constructor(options: LevelRecoveryOptions<K, V>) {
    this.#options = options
    if (options.isMain) void this.#handleFailures()
    else void this.#follow()
  }

  /** Resolves when the database can be read: at once, unless it is being reopened. */
  waitUntilOpen(): Promise<void> {
    return this.#opening
  }

  /** Resolves when no recovery is in progress. */
  async close(): Promise<void> {
    this.#closing.abort()
    await this.#recovering
  }

  /** Restores the database after each failed write. Main thread only. */
  async #handleFailures(): Promise<void> {
    for (;;) {
      await this.#options.health.waitForFailure()
      if (this.#closing.signal.aborted) return
      this.#options.guard?.witness.markFailed()
      this.#recovering = this.#restoreWrites()
      await this.#recovering
    }
  }

  async #restoreWrites(): Promise<void> {
    const { folder, service, health, guard, log, onRecovered } = this.#options
    while (await this.#pause()) {
      // Frees the space that a compaction has reserved for the recovery.
      await removeBallast(folder)
      if (!(await hasFreeSpace(folder))) continue
      await health.waitForWrites()
      if (!(await this.#isGood()) && !(await this.#reopen())) return
      try {
        await onRecovered?.()
      } catch (error) {
        log.error({ err: error }, `${service}: the data could not be read again`)
        continue
      }
      guard?.witness.markRecovered()
      health.markRecovered()
      log.info(`${service}: writes are accepted again`)
      return
    }
  }

  /** Returns true if all writes could be flushed to synced tables and a new log has begun. */
  async #isGood(): Promise<boolean> {
    try {
      await flush(this.#options.db)
      return true
    } catch {
      return false
    }
  }

  /**
   * After a fault in the background, LevelDB accepts no writes until it is reopened. Resolves with false if it could
   * not be reopened.
   */
  async #reopen(): Promise<boolean> {
    const { db, health, service, log } = this.#options
    await health.requestClose()
    do {
      try {
        await db.close()
        await db.open()
        await flush(db)
        health.allowOpen()
        return true
      } catch (error) {
        log.error({ err: error }, `${service}: the database could not be reopened`)
      }
    } while (await this.#pause())
    return false
  }

  /** Closes and reopens the database when the main thread requests that. Other threads only. */
  async #follow(): Promise<void> {
    for (;;) {
      await this.#options.health.waitForCloseRequest()
      if (this.#closing.signal.aborted) return
      await (this.#opening = this.#closeAndReopen())
    }
  }

  async #closeAndReopen(): Promise<void> {
    const { db, health } = this.#options
    await db.close()
    health.release()
    await health.acquire()
    await db.open()
  }

  /** Resolves with false if the database is being closed. */
  async #pause(): Promise<boolean> {
    const { signal } = this.#closing
    await pause(RETRY_INTERVAL_MS, signal)
    return !signal.aborted
  }
}
