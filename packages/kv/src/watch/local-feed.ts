import { createSingleFlight } from '@influencer-stats/runtime/async/single-flight'
import type { ChangePage } from '../core/change-pages.ts'
import { toPage } from '../core/change-pages.ts'
import { getLastRevision } from '../revisions.ts'
import { ChangeFeed } from './change-feed.ts'
import { createRecordingMemory, setRecording } from './write-recorder.ts'

export interface LocalFeedOptions {
  /** Shared memory of the counter of revisions. */
  readonly revisions: SharedArrayBuffer
  /** Maximum size of the changes in memory (bytes). */
  readonly maxBytes: number
  /** Resolves once the writes that were in progress on all threads at the call have succeeded or failed. */
  waitUntilSettled(): Promise<unknown>
  /** Time without a call of `readAfter` after which the feed stops and discards its changes (ms). */
  readonly idleTimeout?: number
}

const IDLE_TIMEOUT_MS = 60_000
/**
 * Maximum number of reported groups that wait for a group with a lower revision. If more wait, the feed stops. Normally
 * a group waits only while another thread still writes a group with a lower revision.
 */
const MAX_EARLY_GROUPS = 100_000

/**
 * Changes of a standalone service, in the order of their revisions. Each thread takes consecutive revisions for a group
 * of writes, and then reports the group. The feed is on while there are watch streams, and for one minute after. While
 * it is off, threads report no writes.
 */
export class LocalFeed {
  /** Shared memory of a flag: threads report writes while it is set. */
  readonly memory = createRecordingMemory()
  readonly #words = new Int32Array(this.memory)
  readonly #options: LocalFeedOptions
  readonly #feed: ChangeFeed
  /** Reported groups that wait for one with a lower revision, by their first revisions. */
  readonly #early = new Map<number, { readonly last: number; readonly writes: Uint8Array }>()
  readonly #idleTimer: NodeJS.Timeout
  readonly #startOnce = createSingleFlight(() => this.#start())

  constructor(options: LocalFeedOptions) {
    this.#options = options
    this.#feed = new ChangeFeed(options.maxBytes)
    this.#idleTimer = setTimeout(() => this.reset(), options.idleTimeout ?? IDLE_TIMEOUT_MS).unref()
  }

  /**
   * Same as `ChangeFeed.readAfter`. Without `seq` it starts the feed if necessary, and resolves with the current
   * sequence and no changes.
   */
  async readAfter(seq: number | undefined, timeout: number, maxBytes?: number): Promise<ChangePage | undefined> {
    this.#idleTimer.refresh()
    if (seq !== undefined) return this.#feed.readAfter(seq, timeout, maxBytes)
    await this.#startOnce()
    return toPage([], this.#feed.upTo)
  }

  /**
   * Adds a group of a thread, which used `count` revisions from `first` on. `writes` contains those that took effect.
   */
  recordWrites(first: number, count: number, writes: Uint8Array): void {
    if (!this.#feed.isOn || first <= this.#feed.upTo) return
    this.#early.set(first, { last: first + count - 1, writes })
    for (let next = this.#takeNextGroup(); next; next = this.#takeNextGroup()) {
      const { last: seq, writes } = next
      if (writes.length > 0) this.#feed.add({ seq, writes })
      else this.#feed.advanceTo(seq)
    }
    if (this.#early.size > MAX_EARLY_GROUPS) this.reset()
  }

  /**
   * Stops the feed, because the outcome of some revisions is unknown or there are no readers. The next reader starts it
   * again.
   */
  reset(): void {
    setRecording(this.#words, false)
    this.#early.clear()
    this.#feed.stop()
  }

  close(): void {
    clearTimeout(this.#idleTimer)
    this.reset()
  }

  /** Removes and returns the group with the next revision; undefined if it was not reported yet. */
  #takeNextGroup() {
    const first = this.#feed.upTo + 1
    const next = this.#early.get(first)
    this.#early.delete(first)
    return next
  }

  /**
   * Starts the feed after the last revision that was taken. Threads report every later revision, because they check the
   * flag after they take a revision. Writes with earlier revisions may still be in progress, and are not in the feed.
   * The start waits for them, so that a client which then reads the range sees them.
   */
  async #start(): Promise<void> {
    while (!this.#feed.isOn) {
      setRecording(this.#words, true)
      this.#feed.start(getLastRevision(this.#options.revisions))
      await this.#options.waitUntilSettled()
    }
  }
}
