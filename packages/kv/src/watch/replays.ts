import { Chunk } from '@influencer-stats/runtime/chunk'
import type { StreamConnection } from '@influencer-stats/runtime/hot-route'
import type { ChangePage } from '../core/change-pages.ts'
import { isInRange, type KeyRange } from '../core/range-tree.ts'
import { waitTurn } from '../core/yield-turn.ts'
import { renderChangePage, type WatchRecipient } from './render-change-page.ts'

export interface WatchReplaysOptions {
  changes(after: number, timeout: number, maxBytes: number): Promise<ChangePage | undefined>
  /** Longest time that a client may leave its replay unread before it is cut (ms). */
  readonly sendTimeout: number
  /** Returns the sequence of the live streams; `undefined` if no stream is live. */
  liveSequence(): number | undefined
  /** @returns true if the stream accepts more; otherwise it emits `drain` */
  write(connection: StreamConnection, chunks: readonly Chunk[]): boolean
  /** Makes a stream live that has all changes up to this sequence and has left the replays. */
  onLive(connection: StreamConnection, sequence: number): void
  /** Closes a stream that cannot continue, and calls `leave`. */
  cut(connection: StreamConnection): void
}

/** A stream that still has to get earlier changes. */
interface WatchReplay extends WatchRecipient {
  readonly connection: StreamConnection
  readonly range: KeyRange
  /** Sequence up to which the stream has all changes. */
  sequence: number
  isReady: boolean
  timeout?: NodeJS.Timeout | undefined
}

/** Size of a page, unless a single change is larger (bytes). A client that reads nothing holds two pages. */
const REPLAY_PAGE_BYTES = 65_536
/** Connections of a replay: one stream. */
const SINGLE_CONNECTION = { size: 1 }

/**
 * Sends earlier changes to streams that resume. It reads one page at a time, and all streams with a sequence in the
 * page get their part, so 300 streams that resume at once cost little more than one. A stream gets the next page once
 * its client has read the last one.
 */
export class WatchReplays {
  readonly #options: WatchReplaysOptions
  readonly #replays = new Map<StreamConnection, WatchReplay>()
  /** Replays that can take a page. The first has waited longest. */
  readonly #ready = new Set<WatchReplay>()
  readonly #onDrain: (this: StreamConnection) => void
  #isRunning = false
  #pages = 0
  /** Number of changes sent. */
  events = 0

  constructor(options: WatchReplaysOptions) {
    this.#options = options
    const resumeDrained = (connection: StreamConnection) => this.#resumeDrained(connection)
    this.#onDrain = function onDrain(this: StreamConnection): void {
      resumeDrained(this)
    }
  }

  open(connection: StreamConnection, range: KeyRange, sequence: number): void {
    const replay: WatchReplay = { connection, range, sequence, isReady: true, connections: SINGLE_CONNECTION }
    this.#replays.set(connection, replay)
    this.#ready.add(replay)
    connection.on('drain', this.#onDrain)
    this.resume()
  }

  /** Removes a stream, if it has a replay. */
  remove(connection: StreamConnection): void {
    const replay = this.#replays.get(connection)
    if (!replay) return
    clearTimeout(replay.timeout)
    connection.off('drain', this.#onDrain)
    this.#replays.delete(connection)
    this.#ready.delete(replay)
  }

  /** Continues after the sequence of the live streams has moved: replays may have been ahead of it. */
  resume(): void {
    if (this.#ready.size === 0) return
    this.#releaseReady()
    if (!this.#isRunning) void this.#run()
  }

  async #run(): Promise<void> {
    this.#isRunning = true
    for (let from = this.#getNextSequence(); from !== undefined; from = this.#getNextSequence()) {
      const page = await this.#options.changes(from, 0, REPLAY_PAGE_BYTES).catch(() => undefined)
      if (page) this.#send(page, from)
      else this.#cutAtSequence(from)
      this.#releaseReady()
      // Streams whose clients read at once take part in the next page.
      await waitTurn()
    }
    this.#isRunning = false
  }

  /**
   * Returns the sequence from which to read the next page. It alternates between the lowest sequence and that of the
   * stream that has waited longest. From the lowest one, streams catch up with others ahead of them and continue
   * together.
   */
  #getNextSequence(): number | undefined {
    const liveSequence = this.#options.liveSequence() ?? Infinity
    const sequences = Array.from(this.#ready, ({ sequence }) => sequence).filter((sequence) => sequence < liveSequence)
    return this.#pages++ % 2 === 0
      ? sequences.reduce((least, sequence) => Math.min(least, sequence), sequences[0]!)
      : sequences[0]
  }

  #send(page: ChangePage, from: number): void {
    const { write } = this.#options
    // All streams get the changes after the sequence of the live streams as live ones.
    const upTo = Math.min(page.upTo, this.#options.liveSequence() ?? Infinity)
    const replays = [...this.#ready].filter(({ sequence }) => sequence >= from && sequence < upTo)
    const find = (key: string, seq: number, found: (replay: WatchReplay) => void) => {
      for (const replay of replays)
        if (seq > replay.sequence && seq <= upTo && isInRange(replay.range, key)) found(replay)
    }
    this.events += renderChangePage(page, find, Chunk.fromText, (replay, chunks) => {
      if (this.#replays.has(replay.connection)) replay.isReady = write(replay.connection, chunks)
    })
    for (const replay of replays) this.#advanceTo(replay, upTo)
    if (!page.isEnd || this.#options.liveSequence() !== undefined) return
    for (const replay of this.#ready) if (replay.sequence === upTo) this.#makeLive(replay)
  }

  #advanceTo(replay: WatchReplay, upTo: number): void {
    const { connection } = replay
    if (!this.#replays.has(connection)) return
    replay.sequence = upTo
    this.#ready.delete(replay)
    if (replay.isReady) this.#ready.add(replay)
    else replay.timeout = setTimeout(() => this.#options.cut(connection), this.#options.sendTimeout)
  }

  #resumeDrained(connection: StreamConnection): void {
    const replay = this.#replays.get(connection)
    if (!replay || replay.isReady) return
    clearTimeout(replay.timeout)
    replay.isReady = true
    this.#ready.add(replay)
    this.resume()
  }

  /** Makes streams live that have reached the sequence of the live streams. */
  #releaseReady(): void {
    for (const replay of this.#ready) if (replay.sequence === this.#options.liveSequence()) this.#makeLive(replay)
  }

  #makeLive({ connection, sequence }: WatchReplay): void {
    this.remove(connection)
    this.#options.onLive(connection, sequence)
  }

  /** Cuts streams at a sequence that was known, but whose later changes are deleted meanwhile. */
  #cutAtSequence(liveSequence: number): void {
    for (const { connection, sequence } of this.#ready) if (sequence === liveSequence) this.#options.cut(connection)
  }
}
