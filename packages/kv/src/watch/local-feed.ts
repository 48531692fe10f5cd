import type { ChangePage } from '../core/change-pages.ts'
import { toPage } from '../core/change-pages.ts'
import { getLastRevision } from '../store/revisions.ts'
import { ChangeFeed } from './change-feed.ts'
import { createRecordingMemory, setRecording } from './write-recorder.ts'

export interface LocalFeedOptions {
  /** Shared memory that numbers writes. */
  readonly revisions: SharedArrayBuffer
  /** Maximum size of the stored changes (bytes). */
  readonly maxBytes: number
  /** Resolves once all threads have completed the writes that were in progress at the call. */
  waitUntilSettled(): Promise<unknown>
  /** Time without a reader after which the feed discards its changes (ms). */
  readonly idleTimeout?: number
}

const IDLE_TIMEOUT_MS = 60_000
/** Maximum number of groups that arrived before one with a lower revision: one per thread, or the length of a queue. */
const MAX_EARLY_GROUPS = 100_000

/**
 * Changes of a standalone service, in the order of their revisions. Each thread takes consecutive revisions, and
 * reports the writes that have them. Threads report nothing while there are no watch streams.
 */
export class LocalFeed {
  /** Shared flag: threads report writes while it is set. */
  readonly memory = createRecordingMemory()
  readonly #words = new Int32Array(this.memory)
  readonly #options: LocalFeedOptions
  readonly #feed: ChangeFeed
  /** Groups by their first revisions. */
  readonly #early = new Map<number, { readonly last: number; readonly writes: Uint8Array }>()
  readonly #idleTimer: NodeJS.Timeout
  #starting: Promise<void> | undefined

  constructor(options: LocalFeedOptions) {
    this.#options = options
    this.#feed = new ChangeFeed(options.maxBytes)
    this.#idleTimer = setTimeout(() => this.reset(), options.idleTimeout ?? IDLE_TIMEOUT_MS).unref()
  }

  /**
   * Like `ChangeFeed.readAfter`. Without `seq` it starts the feed, and resolves with its current sequence and no
   * changes.
   */
  async readAfter(seq: number | undefined, idleTimeout: number, maxBytes?: number): Promise<ChangePage | undefined> {
    this.#idleTimer.refresh()
    if (seq !== undefined) return this.#feed.readAfter(seq, idleTimeout, maxBytes)
    await (this.#starting ??= this.#start().finally(() => (this.#starting = undefined)))
    return toPage([], this.#feed.upTo)
  }

  /** Adds the writes of a thread with `count` revisions from `first` on. `writes` has those whose conditions held. */
  recordWrites(first: number, count: number, writes: Uint8Array): void {
    if (!this.#feed.isOn || first <= this.#feed.upTo) return
    this.#early.set(first, { last: first + count - 1, writes })
    for (let next = this.#next(); next; next = this.#next()) {
      const { last: seq, writes } = next
      if (writes.length > 0) this.#feed.add({ seq, writes })
      else this.#feed.advanceTo(seq)
    }
    if (this.#early.size > MAX_EARLY_GROUPS) this.reset()
  }

  /** Restarts the feed, because the outcome of some revisions is unknown. */
  reset(): void {
    setRecording(this.#words, false)
    this.#early.clear()
    this.#feed.stop()
  }

  close(): void {
    clearTimeout(this.#idleTimer)
    this.reset()
  }

  #next() {
    const first = this.#feed.upTo + 1
    const next = this.#early.get(first)
    this.#early.delete(first)
    return next
  }

  /**
   * Starts the feed after the last revision that was taken. Threads report every later one, because they check the flag
   * after they take a revision. Writes with earlier revisions may still be in progress, so the start waits for them.
   */
  async #start(): Promise<void> {
    while (!this.#feed.isOn) {
      setRecording(this.#words, true)
      this.#feed.start(getLastRevision(this.#options.revisions))
      await this.#options.waitUntilSettled()
    }
  }
}
