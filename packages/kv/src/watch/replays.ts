import { Chunk } from '@influencer-stats/runtime/chunk'
import type { Framing } from '@influencer-stats/runtime/framing'
import type { StreamConnection } from '@influencer-stats/runtime/hot-route'
import type { ChangePage } from '../core/change-pages.ts'
import { isInRange, type KeyRange } from '../core/range-tree.ts'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { renderChangePage, type WatchRecipient } from './render-change-page.ts'

export interface WatchReplaysOptions {
  /** Reads the changes after a sequence: see `ChangeFeed.readAfter`. */
  changes(after: number, timeout: number, maxBytes: number): Promise<ChangePage | undefined>
  /** Time in which a client must read a page before its stream is cut (ms). */
  readonly sendTimeout: number
  /** Returns the sequence up to which the live streams have all changes; `undefined` if no stream is live. */
  getLiveSequence(): number | undefined
  /** Writes chunks to a stream. @returns true if the stream accepts more; otherwise it emits `drain` later */
  write(connection: StreamConnection, chunks: readonly Chunk[]): boolean
  /** Called when a replay is complete: the stream has all changes up to this sequence and becomes live. */
  onLive(connection: StreamConnection, sequence: number): void
  /** Closes a stream that cannot continue, and calls `WatchReplays.remove`. */
  cut(connection: StreamConnection): void
}

/** The beginning of a replay. */
export interface ReplayStart {
  readonly framing: Framing
  readonly range: KeyRange
  /** Sequence up to which the stream has all changes. */
  readonly sequence: number
}

/** A stream that resumes and does not have all earlier changes yet. */
interface WatchReplay extends WatchRecipient, ReplayStart {
  readonly connection: StreamConnection
  sequence: number
  /** True if the client has read the last page. */
  isReady: boolean
  /** Timer that cuts the stream unless the client reads the last page. */
  timeout?: NodeJS.Timeout | undefined
}

/** Size at which a page ends (bytes). The last changes of a page may exceed it. */
const REPLAY_PAGE_BYTES = 65_536
/** `connections` of a replay, which is one stream. */
const SINGLE_CONNECTION = { size: 1 }

/**
 * Sends earlier changes to streams that resume. It reads one page at a time. Every stream whose sequence is in the page
 * gets the changes after that sequence, so 300 streams that resume together cost little more than one. A stream gets
 * the next page once its client has read the last one.
 */
export class WatchReplays {
  readonly #options: WatchReplaysOptions
  readonly #replays = new Map<StreamConnection, WatchReplay>()
  /** Replays whose clients have read their last page. The first one has waited longest for the next page. */
  readonly #ready = new Set<WatchReplay>()
  readonly #onDrain: (this: StreamConnection) => void
  #isRunning = false
  #pages = 0
  /** Number of events that were sent. */
  events = 0

  constructor(options: WatchReplaysOptions) {
    this.#options = options
    const resumeDrained = (connection: StreamConnection) => this.#resumeDrained(connection)
    this.#onDrain = function onDrain(this: StreamConnection): void {
      resumeDrained(this)
    }
  }

  open(connection: StreamConnection, start: ReplayStart): void {
    const replay: WatchReplay = { ...start, connection, isReady: true, connections: SINGLE_CONNECTION }
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

  /** Called when the sequence of the live streams has changed: a replay that was ahead of it may now become live. */
  resume(): void {
    if (this.#ready.size === 0) return
    this.#makeReadyLive()
    if (!this.#isRunning) void this.#run()
  }

  async #run(): Promise<void> {
    this.#isRunning = true
    for (let from = this.#getNextSequence(); from !== undefined; from = this.#getNextSequence()) {
      const page = await this.#options.changes(from, 0, REPLAY_PAGE_BYTES).catch(() => undefined)
      if (page) this.#send(page, from)
      else this.#cutAtSequence(from)
      this.#makeReadyLive()
      // Waits for the next turn of the event loop, so that clients which read at once also get the next page.
      await nextTurn()
    }
    this.#isRunning = false
  }

  /**
   * Returns the sequence from which to read the next page. It alternates between the lowest sequence, and the sequence
   * of the stream that has waited longest. Pages from the lowest sequence let streams catch up with others, so that
   * they share the later pages.
   */
  #getNextSequence(): number | undefined {
    const liveSequence = this.#options.getLiveSequence() ?? Infinity
    const sequences = Array.from(this.#ready, ({ sequence }) => sequence).filter((sequence) => sequence < liveSequence)
    return this.#pages++ % 2 === 0
      ? sequences.reduce((lowest, sequence) => Math.min(lowest, sequence), sequences[0]!)
      : sequences[0]
  }

  #send(page: ChangePage, from: number): void {
    const { write } = this.#options
    // A replay ends at the sequence of the live streams. From there on, the stream is live and gets its changes with
    // them.
    const upTo = Math.min(page.upTo, this.#options.getLiveSequence() ?? Infinity)
    const replays = [...this.#ready].filter(({ sequence }) => sequence >= from && sequence < upTo)
    for (const [{ frame }, recipients] of Map.groupBy(replays, ({ framing }) => framing)) {
      const find = (key: string, seq: number, onFound: (replay: WatchReplay) => void) => {
        for (const replay of recipients)
          if (seq > replay.sequence && seq <= upTo && isInRange(replay.range, key)) onFound(replay)
      }
      const toChunk = (text: string) => Chunk.fromText(frame(text))
      this.events += renderChangePage(page, find, toChunk, (replay, chunks) => {
        if (this.#replays.has(replay.connection)) replay.isReady = write(replay.connection, chunks)
      })
    }
    for (const replay of replays) this.#advanceTo(replay, upTo)
    if (!page.isEnd || this.#options.getLiveSequence() !== undefined) return
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

  /** Makes the streams live whose sequence equals that of the live streams. */
  #makeReadyLive(): void {
    for (const replay of this.#ready) if (replay.sequence === this.#options.getLiveSequence()) this.#makeLive(replay)
  }

  #makeLive({ connection, sequence }: WatchReplay): void {
    this.remove(connection)
    this.#options.onLive(connection, sequence)
  }

  /** Cuts the streams at a sequence: the feed no longer has the changes after it, or the request for them failed. */
  #cutAtSequence(expired: number): void {
    for (const { connection, sequence } of this.#ready) if (sequence === expired) this.#options.cut(connection)
  }
}
