import { sameTotals, sum, type VideoNumbers } from './core/numbers.ts'
import { DAY } from './core/pace.ts'
import type { VideoNotes } from './client/client.ts'
import type { VideoDetails } from './core/video-details.ts'
import type { Maybe, VideoRow } from './state/state.ts'
import { steadyNow } from '@influencer-stats/runtime/steady-clock'
import type { Point } from './core/history.ts'

interface Noted {
  /** When its details were asked for last, by the clock that nobody sets. */
  detailsAt: number
  /** The last point of its history. */
  point?: Point
}

/** A history has a point an hour at most. */
const HOUR = 3_600_000
const hourOf = (time: number) => Math.floor(time / HOUR)

/** Videos in one write. */
const BATCH = 1_000
/** Videos to remember; more are asked for their details more often than daily. */
const REMEMBERED = 1_000_000

export interface NotesOptions {
  save(rows: readonly VideoRow[]): Maybe<void>
  /** Told why notes cannot be kept, once for each outage. */
  onFault(fault: unknown): void
}

/**
 * Notes what the calls of this thread have given: details once a day, and a point of a video's history once an hour, if
 * its numbers have changed. Nobody waits for it. What cannot be kept is noted anew from the next call.
 */
export class Notebook implements VideoNotes {
  readonly #options: NotesOptions
  readonly #noted = new Map<string, Noted>()
  readonly #waiting = new Map<string, VideoRow>()
  #running: Promise<void> | undefined
  #isOut = false

  constructor(options: NotesOptions) {
    this.#options = options
  }

  /** A call costs the same with them: as soon as one is due, it asks for all. After a start all are. */
  wantsDetails(ids: readonly string[]): boolean {
    const latest = steadyNow() - DAY
    return ids.some((id) => (this.#noted.get(id)?.detailsAt ?? -Infinity) < latest)
  }

  takeDetails(ids: readonly string[], details: readonly VideoDetails[]): void {
    if (this.#noted.size > REMEMBERED) this.#noted.clear()
    const now = steadyNow()
    // Includes ids without details: otherwise every call would request them again.
    for (const id of ids) this.#note(id).detailsAt = now
    for (const one of details) this.#add(one.id, { details: one })
    this.#write()
  }

  /** Takes numbers with the last known values of hidden counts. @param asOf when they were requested (ms) */
  takeNumbers(videos: readonly VideoNumbers[], asOf: number): void {
    for (const numbers of videos) {
      const noted = this.#note(numbers.id)
      const point = { at: asOf, ...sum([numbers]) }
      const { point: last } = noted
      if (last && (hourOf(last.at) === hourOf(asOf) || sameTotals(last, point))) continue
      noted.point = point
      this.#add(numbers.id, { point })
    }
    this.#write()
  }

  /** Resolves when all is kept that can be. */
  async close(): Promise<void> {
    await this.#running
  }

  #write(): void {
    if (this.#waiting.size > 0) this.#running ??= this.#run()
  }

  #note(id: string): Noted {
    let noted = this.#noted.get(id)
    if (!noted) this.#noted.set(id, (noted = { detailsAt: -Infinity }))
    return noted
  }

  #add(id: string, row: Omit<VideoRow, 'id'>): void {
    this.#waiting.set(id, { ...this.#waiting.get(id), id, ...row })
  }

  async #run(): Promise<void> {
    while (this.#waiting.size > 0) {
      const rows = [...this.#waiting.values()].slice(0, BATCH)
      for (const { id } of rows) this.#waiting.delete(id)
      try {
        await this.#options.save(rows)
        this.#isOut = false
      } catch (fault) {
        if (!this.#isOut) this.#options.onFault(fault)
        this.#isOut = true
        for (const { id } of rows) this.#noted.delete(id)
      }
    }
    this.#running = undefined
  }
}
