import type { RowTable } from '../core/rows.ts'
import { yieldTurn } from '../turn.ts'
import type { IndexKind, RowChange, Segments } from '../index/index.ts'

/** How many changes of an offering's rows wait: making its segments anew costs by its rows, and each waiting one costs searches. */
const LEAST_WAITING = 32
const WAITING_A_ROOT = 4
/** So many wait at most in all: each takes 0.5 KB of every thread. */
const MOST_WAITING = 32_768

/** The changes of one offering that its segments do not have yet. */
interface Waiting {
  /** By row, what it was and what it is. */
  readonly rows: Map<number, RowChange>
  /** How many changes they were: threads keep each. */
  changes: number
}

/** Segments that were made anew. */
export interface Fold {
  /** Offerings whose segments have all changes of their rows so far. */
  readonly folded: readonly number[]
  /** These segments, by the name of the index. */
  readonly segments: ReadonlyMap<string, Segments>
}

/**
 * The indexes, as main makes them. Changes of rows are told to threads as they are, and searched beside the segments; once
 * an offering has many, its segments are made anew.
 */
export class Indexes {
  readonly segments: ReadonlyMap<string, Segments>
  readonly #kinds: ReadonlyMap<string, IndexKind>
  readonly #waiting = new Map<number, Waiting>()
  /** Offerings of which too many changes wait, the first one first. */
  readonly #due = new Set<number>()
  readonly #least: number
  #count = 0

  private constructor(kinds: ReadonlyMap<string, IndexKind>, segments: ReadonlyMap<string, Segments>, least: number) {
    this.#least = least
    this.#kinds = kinds
    this.segments = segments
  }

  /** Indexes of no rows. */
  static empty(kinds: ReadonlyMap<string, IndexKind>): Indexes {
    return new Indexes(kinds, new Map(Array.from(kinds.keys(), (name) => [name, new Map()])), LEAST_WAITING)
  }

  /** @param least so many changes of an offering may wait, however few rows it has */
  static async build(kinds: ReadonlyMap<string, IndexKind>, table: RowTable, least = LEAST_WAITING): Promise<Indexes> {
    const segments = new Map<string, Segments>()
    for (const [name, kind] of kinds) segments.set(name, await kind.build(table))
    return new Indexes(kinds, segments, least)
  }

  /** All changes that segments do not have yet. */
  get waiting(): RowChange[] {
    return [...this.#waiting.values()].flatMap(({ rows }) => [...rows.values()])
  }

  /**
   * Makes the segments of some offerings that are due anew: an eighth of them, because whoever put a price waits for it.
   * Nothing counts until `take`.
   */
  async fold(): Promise<Fold> {
    const folded = [...this.#due].slice(0, Math.ceil(this.#due.size / 8))
    const segments = new Map<string, Segments>()
    for (const [name, kind] of this.#kinds) {
      const changed: Segments = new Map()
      // Offerings may share segments.
      const current: Segments = folded.length > 1 ? new Map(this.segments.get(name)) : this.segments.get(name)!
      for (const offering of folded) {
        await yieldTurn()
        for (const [key, bytes] of kind.update(current, [...this.#waiting.get(offering)!.rows.values()])) {
          changed.set(key, bytes)
          if (folded.length > 1) current.set(key, bytes)
        }
      }
      segments.set(name, changed)
    }
    return { folded, segments }
  }

  /** Takes what was folded, and changes of rows that come behind it. @param sizeOf how many rows an offering has */
  take({ folded, segments }: Fold, rows: readonly RowChange[], sizeOf: (offering: number) => number): void {
    for (const [name, changed] of segments) for (const [key, bytes] of changed) this.segments.get(name)!.set(key, bytes)
    for (const offering of folded) {
      this.#count -= this.#waiting.get(offering)!.changes
      this.#waiting.delete(offering)
      this.#due.delete(offering)
    }
    for (const one of rows) this.#add(one, sizeOf)
  }

  #add({ row, before, after }: RowChange, sizeOf: (offering: number) => number): void {
    const { offering } = (after ?? before)!
    let waiting = this.#waiting.get(offering)
    if (!waiting) this.#waiting.set(offering, (waiting = { rows: new Map(), changes: 0 }))
    const { rows } = waiting
    const known = rows.get(row)
    const was = known ? known.before : before
    if (was ?? after) rows.set(row, { row, before: was, after })
    // What came and went meanwhile was never there.
    else rows.delete(row)
    waiting.changes++
    this.#count++
    const most = Math.max(this.#least, WAITING_A_ROOT * Math.sqrt(sizeOf(offering)))
    if (waiting.changes > most || this.#count > MOST_WAITING) this.#due.add(offering)
  }
}
