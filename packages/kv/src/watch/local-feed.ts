import type { ChangePage } from '../core/change-pages.ts'
import { toPage } from '../core/change-pages.ts'
import { getLastRevision } from '../store/revisions.ts'
import { ChangeFeed } from './change-feed.ts'
import { createRecordingMemory, setRecording } from './write-recorder.ts'

export interface LocalFeedOptions {
  /** What numbers writes. */
  readonly revisions: SharedArrayBuffer
  /** Most bytes of changes that are kept. */
  readonly maxBytes: number
  /** Resolves once all threads have ended what they were writing when it was called. */
  waitUntilSettled(): Promise<unknown>
  /** How long changes are kept while nobody asks for them (ms). */
  readonly idleTimeout?: number
}

const IDLE_TIMEOUT_MS = 60_000
/** Groups that came before one of a smaller number: one a thread, or as many as a queue holds. */
const MAX_EARLY_GROUPS = 100_000

/**
 * The changes of a service that runs alone, in the order of their revisions: each thread takes some that follow each
 * other, and tells what it has written under them. Nobody is told anything while nobody watches.
 */
export class LocalFeed {
  /** Where threads see whether they are to tell. */
  readonly memory = createRecordingMemory()
  readonly #words = new Int32Array(this.memory)
  readonly #options: LocalFeedOptions
  readonly #feed: ChangeFeed
  /** By their first revisions. */
  readonly #early = new Map<number, { readonly last: number; readonly writes: Uint8Array }>()
  readonly #idleTimer: NodeJS.Timeout
  #starting: Promise<void> | undefined

  constructor(options: LocalFeedOptions) {
    this.#options = options
    this.#feed = new ChangeFeed(options.maxBytes)
    this.#idleTimer = setTimeout(() => this.reset(), options.idleTimeout ?? IDLE_TIMEOUT_MS).unref()
  }

  /** As `Feed.after`; without a place nothing but the place where it is, once that is being kept. */
  async readAfter(seq: number | undefined, idleTimeout: number, maxBytes?: number): Promise<ChangePage | undefined> {
    this.#idleTimer.refresh()
    if (seq !== undefined) return this.#feed.readAfter(seq, idleTimeout, maxBytes)
    await (this.#starting ??= this.#start().finally(() => (this.#starting = undefined)))
    return toPage([], this.#feed.upTo)
  }

  /** A thread has written under so many revisions from `first` on; `writes` are those whose conditions held. */
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

  /** What became of some revisions is not known: what is watched begins anew. */
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
   * A revision after the last one that was taken here is told, because threads ask whether they are to tell after they
   * have taken it. Those before it may still be on their way to the disk.
   */
  async #start(): Promise<void> {
    while (!this.#feed.isOn) {
      setRecording(this.#words, true)
      this.#feed.start(getLastRevision(this.#options.revisions))
      await this.#options.waitUntilSettled()
    }
  }
}
