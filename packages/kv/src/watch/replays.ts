import type { StreamConnection } from '@influencer-stats/runtime/hot-route'
import type { Page } from '../core/changes.ts'
import { isIn, type KeyRange } from '../core/ranges.ts'
import { turn } from '../core/turn.ts'
import { Chunk } from './chunks.ts'
import { renderPage, type Recipient } from './render-page.ts'

export interface ReplaysOptions {
  changes(after: number, patience: number, maxBytes: number): Promise<Page | undefined>
  /** A client that reads nothing of its replay for so long is cut (ms). */
  readonly sendTimeout: number
  /** Where the live streams are; nothing while there are none. */
  place(): number | undefined
  /** @returns whether the stream takes more; otherwise it emits `drain` */
  write(connection: StreamConnection, chunks: readonly Chunk[]): boolean
  /** The stream has all up to this place, is no longer here, and has to be a live one now. */
  arrived(connection: StreamConnection, at: number): void
  /** The stream cannot go on: closes it and calls `leave`. */
  cut(connection: StreamConnection): void
}

/** A stream that has yet to get what came before it. */
interface Replay extends Recipient {
  readonly connection: StreamConnection
  readonly range: KeyRange
  /** It has all up to this place. */
  at: number
  isReady: boolean
  timeout?: NodeJS.Timeout | undefined
}

/** Size of a page, where it is not a single change: a client that reads nothing holds two of them. */
const REPLAY_PAGE_BYTES = 65_536
/** The streams that a replay is alone are one. */
const ALONE = { size: 1 }

/**
 * Sends streams that resume what came before them. It reads one page at a time, and all streams whose place is in it get
 * their part, so 300 streams that resume at once cost little more than one. A stream gets the next page once its client
 * has read the last one.
 */
export class Replays {
  readonly #options: ReplaysOptions
  readonly #replays = new Map<StreamConnection, Replay>()
  /** Replays that can take a page. The first has waited longest. */
  readonly #ready = new Set<Replay>()
  readonly #onDrain: (this: StreamConnection) => void
  #isRunning = false
  #pages = 0
  /** Changes that were sent. */
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

  /** Forgets a stream, if it is here. */
  leave(connection: StreamConnection): void {
    const replay = this.#replays.get(connection)
    if (!replay) return
    clearTimeout(replay.timeout)
    connection.off('drain', this.#onDrain)
    this.#replays.delete(connection)
    this.#ready.delete(replay)
  }

  /** To be called when the place of the live streams has moved: replays may have been ahead of it. */
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
   * The place from which the next page is read. In turn the first of all, so that streams behind meet those ahead and go
   * on with them, and that of the stream which has waited longest.
   */
  #next(): number | undefined {
    const place = this.#options.place() ?? Infinity
    const places = Array.from(this.#ready, ({ at }) => at).filter((at) => at < place)
    return this.#pages++ % 2 === 0 ? places.reduce((least, at) => Math.min(least, at), places[0]!) : places[0]
  }

  #send(page: Page, from: number): void {
    const { write } = this.#options
    // What comes after the place of the live streams comes to all.
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

  /** Streams that are where the live ones are become live. */
  #release(): void {
    for (const replay of this.#ready) if (replay.at === this.#options.place()) this.#arrive(replay)
  }

  #arrive({ connection, at }: Replay): void {
    this.leave(connection)
    this.#options.arrived(connection, at)
  }

  /** The place was known, and what follows it is deleted meanwhile. */
  #cutAt(place: number): void {
    for (const { connection, at } of this.#ready) if (at === place) this.#options.cut(connection)
  }
}
