import { Chunk } from '@influencer-stats/runtime/chunk'
import type { StreamConnection } from '@influencer-stats/runtime/hot-route'
import type { Page } from '../core/changes.ts'
import { isIn, type KeyRange } from '../core/ranges.ts'
import { turn } from '../core/turn.ts'
import { renderPage, type Recipient } from './render-page.ts'

export interface ReplaysOptions {
  changes(after: number, patience: number, maxBytes: number): Promise<Page | undefined>
  /** Longest time that a client may leave its replay unread before it is cut (ms). */
  readonly sendTimeout: number
  /** Returns the sequence of the live streams; `undefined` if no stream is live. */
  place(): number | undefined
  /** @returns true if the stream accepts more; otherwise it emits `drain` */
  write(connection: StreamConnection, chunks: readonly Chunk[]): boolean
  /** Makes a stream live that has all changes up to this sequence and has left the replays. */
  arrived(connection: StreamConnection, at: number): void
  /** Closes a stream that cannot continue, and calls `leave`. */
  cut(connection: StreamConnection): void
}

/** A stream that still has to get earlier changes. */
interface Replay extends Recipient {
  readonly connection: StreamConnection
  readonly range: KeyRange
  /** Sequence up to which the stream has all changes. */
  at: number
  isReady: boolean
  timeout?: NodeJS.Timeout | undefined
}

/** Size of a page, unless a single change is larger (bytes). A client that reads nothing holds two pages. */
const REPLAY_PAGE_BYTES = 65_536
/** Connections of a replay: one stream. */
const ALONE = { size: 1 }

/**
 * Sends earlier changes to streams that resume. It reads one page at a time, and all streams with a sequence in the page get
 * their part, so 300 streams that resume at once cost little more than one. A stream gets the next page once its client has
 * read the last one.
 */
export class Replays {
  readonly #options: ReplaysOptions
  readonly #replays = new Map<StreamConnection, Replay>()
  /** Replays that can take a page. The first has waited longest. */
  readonly #ready = new Set<Replay>()
  readonly #onDrain: (this: StreamConnection) => void
  #isRunning = false
  #pages = 0
  /** Number of changes sent. */
  events = 0

  constructor(options: ReplaysOptions) {
    this.#options = options
    const drained = (connection: StreamConnection) => this.#drained(connection)
    this.#onDrain = function onDrain(this: StreamConnection): void {
      drained(this)
    }
  }

  open(connection: StreamConnection, range: KeyRange, at: number): void {
    const replay: Replay = { connection, range, at, isReady: true, connections: ALONE }
    this.#replays.set(connection, replay)
    this.#ready.add(replay)
    connection.on('drain', this.#onDrain)
    this.resume()
  }

  /** Removes a stream, if it has a replay. */
  leave(connection: StreamConnection): void {
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
    this.#release()
    if (!this.#isRunning) void this.#run()
  }

  async #run(): Promise<void> {
    this.#isRunning = true
    for (let from = this.#next(); from !== undefined; from = this.#next()) {
      const page = await this.#options.changes(from, 0, REPLAY_PAGE_BYTES).catch(() => undefined)
      if (page) this.#send(page, from)
      else this.#cutAt(from)
      this.#release()
      // Streams whose clients read at once take part in the next page.
      await turn()
    }
    this.#isRunning = false
  }

  /**
   * Returns the sequence from which to read the next page. It alternates between the lowest sequence and that of the stream that
   * has waited longest. From the lowest one, streams catch up with others ahead of them and continue together.
   */
  #next(): number | undefined {
    const place = this.#options.place() ?? Infinity
    const places = Array.from(this.#ready, ({ at }) => at).filter((at) => at < place)
    return this.#pages++ % 2 === 0 ? places.reduce((least, at) => Math.min(least, at), places[0]!) : places[0]
  }

  #send(page: Page, from: number): void {
    const { write } = this.#options
    // All streams get the changes after the sequence of the live streams as live ones.
    const upTo = Math.min(page.upTo, this.#options.place() ?? Infinity)
    const replays = [...this.#ready].filter(({ at }) => at >= from && at < upTo)
    const find = (key: string, seq: number, found: (replay: Replay) => void) => {
      for (const replay of replays) if (seq > replay.at && seq <= upTo && isIn(replay.range, key)) found(replay)
    }
    this.events += renderPage(page, find, Chunk.of, (replay, chunks) => {
      if (this.#replays.has(replay.connection)) replay.isReady = write(replay.connection, chunks)
    })
    for (const replay of replays) this.#advance(replay, upTo)
    if (!page.isEnd || this.#options.place() !== undefined) return
    for (const replay of this.#ready) if (replay.at === upTo) this.#arrive(replay)
  }

  #advance(replay: Replay, upTo: number): void {
    const { connection } = replay
    if (!this.#replays.has(connection)) return
    replay.at = upTo
    this.#ready.delete(replay)
    if (replay.isReady) this.#ready.add(replay)
    else replay.timeout = setTimeout(() => this.#options.cut(connection), this.#options.sendTimeout)
  }

  #drained(connection: StreamConnection): void {
    const replay = this.#replays.get(connection)
    if (!replay || replay.isReady) return
    clearTimeout(replay.timeout)
    replay.isReady = true
    this.#ready.add(replay)
    this.resume()
  }

  /** Makes streams live that have reached the sequence of the live streams. */
  #release(): void {
    for (const replay of this.#ready) if (replay.at === this.#options.place()) this.#arrive(replay)
  }

  #arrive({ connection, at }: Replay): void {
    this.leave(connection)
    this.#options.arrived(connection, at)
  }

  /** Cuts streams at a sequence that was known, but whose later changes are deleted meanwhile. */
  #cutAt(place: number): void {
    for (const { connection, at } of this.#ready) if (at === place) this.#options.cut(connection)
  }
}
