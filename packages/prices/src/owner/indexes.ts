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

/** What threads are told of a change. */
export interface IndexChange {
  /** Changes of rows that segments do not have yet. */
  readonly rows: readonly RowChange[]
  /** Offerings whose segments have all changes of their rows, and these segments by the name of the index. */
  readonly folded: readonly number[]
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
  #count = 0

  private constructor(kinds: ReadonlyMap<string, IndexKind>, segments: ReadonlyMap<string, Segments>) {
    this.#kinds = kinds
    this.segments = segments
  }

  /** Indexes of no rows. */
  static empty(kinds: ReadonlyMap<string, IndexKind>): Indexes {
    return new Indexes(kinds, new Map(Array.from(kinds.keys(), (name) => [name, new Map()])))
  }

  static async build(kinds: ReadonlyMap<string, IndexKind>, table: RowTable): Promise<Indexes> {
    const segments = new Map<string, Segments>()
    for (const [name, kind] of kinds) segments.set(name, await kind.build(table))
    return new Indexes(kinds, segments)
  }

  /** All changes that segments do not have yet. */
  get waiting(): RowChange[] {
    return [...this.#waiting.values()].flatMap(({ rows }) => [...rows.values()])
  }

  /** Takes changes of rows. @param sizeOf how many rows an offering has */
  async change(rows: readonly RowChange[], sizeOf: (offering: number) => number): Promise<IndexChange> {
    for (const one of rows) this.#add(one, sizeOf)
    const folded = this.#nextDue()
    const segments = new Map(Array.from(this.#kinds.keys(), (name) => [name, new Map<number, Uint8Array>()]))
    for (const offering of folded) {
      const changes = this.#take(offering)
      for (const [name, kind] of this.#kinds) {
        await yieldTurn()
        for (const [key, bytes] of kind.update(this.segments.get(name)!, changes)) {
          this.segments.get(name)!.set(key, bytes)
          segments.get(name)!.set(key, bytes)
        }
      }
    }
    return { rows, folded, segments }
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
    const most = Math.max(LEAST_WAITING, WAITING_A_ROOT * Math.sqrt(sizeOf(offering)))
    if (waiting.changes > most || this.#count > MOST_WAITING) this.#due.add(offering)
  }

  /** An eighth of those that are due: not all at once, as whoever put a price waits for it. */
  #nextDue(): number[] {
    return [...this.#due].slice(0, Math.ceil(this.#due.size / 8))
  }

  #take(offering: number): RowChange[] {
    const { rows, changes } = this.#waiting.get(offering)!
    this.#waiting.delete(offering)
    this.#due.delete(offering)
    this.#count -= changes
    return [...rows.values()]
  }
}
