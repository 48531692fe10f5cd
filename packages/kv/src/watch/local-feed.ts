import type { Page } from '../core/changes.ts'
import { toPage } from '../core/changes.ts'
import { lastRevision } from '../store/revisions.ts'
import { Feed } from './feed.ts'
import { recordingMemory, setRecording } from './recorder.ts'

export interface LocalFeedOptions {
  /** What numbers writes. */
  readonly revisions: SharedArrayBuffer
  /** Most bytes of changes that are kept. */
  readonly maxBytes: number
  /** Resolves once all threads have ended what they were writing when it was called. */
  settled(): Promise<unknown>
  /** How long changes are kept while nobody asks for them (ms). */
  readonly patience?: number
}

const PATIENCE = 60_000
/** Groups that came before one of a smaller number: one a thread, or as many as a queue holds. */
const MOST_EARLY = 100_000

/**
 * The changes of a service that runs alone, in the order of their revisions: each thread takes some that follow each
 * other, and tells what it has written under them. Nobody is told anything while nobody watches.
 */
export class LocalFeed {
  /** Where threads see whether they are to tell. */
  readonly memory = recordingMemory()
  readonly #words = new Int32Array(this.memory)
  readonly #options: LocalFeedOptions
  readonly #feed: Feed
  /** By their first revisions. */
  readonly #early = new Map<number, { readonly last: number; readonly writes: Uint8Array }>()
  readonly #idle: NodeJS.Timeout
  #starting: Promise<void> | undefined

  constructor(options: LocalFeedOptions) {
    this.#options = options
    this.#feed = new Feed(options.maxBytes)
    this.#idle = setTimeout(() => this.lost(), options.patience ?? PATIENCE).unref()
  }

  /** As `Feed.after`; without a place nothing but the place where it is, once that is being kept. */
  async after(seq: number | undefined, patience: number, maxBytes?: number): Promise<Page | undefined> {
    this.#idle.refresh()
    if (seq !== undefined) return this.#feed.after(seq, patience, maxBytes)
    await (this.#starting ??= this.#start().finally(() => (this.#starting = undefined)))
    return toPage([], this.#feed.upTo)
  }

  /** A thread has written under so many revisions from `first` on; `writes` are those whose conditions held. */
  wrote(first: number, count: number, writes: Uint8Array): void {
    if (!this.#feed.isOn || first <= this.#feed.upTo) return
    this.#early.set(first, { last: first + count - 1, writes })
    for (let next = this.#next(); next; next = this.#next()) {
      const { last: seq, writes } = next
      if (writes.length > 0) this.#feed.add({ seq, writes })
      else this.#feed.advance(seq)
    }
    if (this.#early.size > MOST_EARLY) this.lost()
  }

  /** What became of some revisions is not known: what is watched begins anew. */
  lost(): void {
    setRecording(this.#words, false)
    this.#early.clear()
    this.#feed.stop()
  }

  close(): void {
    clearTimeout(this.#idle)
    this.lost()
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
      this.#feed.start(lastRevision(this.#options.revisions))
      await this.#options.settled()
    }
  }
}
