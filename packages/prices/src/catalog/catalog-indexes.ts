import type { RowTable } from '../core/row-table.ts'
import { yieldTurn } from '../event-loop-turns.ts'
import type { IndexKind, RowChange, Segments } from '../index/price-index.ts'

/** How many changes of an offering's rows wait: making its segments anew costs by its rows, and each waiting one costs searches. */
const MIN_PENDING_LIMIT = 32
const PENDING_PER_SQRT_ROWS = 4
/** So many wait at most in all: each takes 0.5 KB of every thread. */
const MAX_PENDING_CHANGES = 32_768

/** The changes of one offering that its segments do not have yet. */
interface PendingRows {
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
export class CatalogIndexes {
  readonly segments: ReadonlyMap<string, Segments>
  readonly #kinds: ReadonlyMap<string, IndexKind>
  readonly #pending = new Map<number, PendingRows>()
  /** Offerings of which too many changes wait, the first one first. */
  readonly #due = new Set<number>()
  readonly #minLimit: number
  #count = 0

  private constructor(
    kinds: ReadonlyMap<string, IndexKind>,
    segments: ReadonlyMap<string, Segments>,
    minLimit: number,
  ) {
    this.#minLimit = minLimit
    this.#kinds = kinds
    this.segments = segments
  }

  /** Indexes of no rows. */
  static createEmpty(kinds: ReadonlyMap<string, IndexKind>): CatalogIndexes {
    return new CatalogIndexes(kinds, new Map(Array.from(kinds.keys(), (name) => [name, new Map()])), MIN_PENDING_LIMIT)
  }

  /** @param minLimit so many changes of an offering may wait, however few rows it has */
  static async build(
    kinds: ReadonlyMap<string, IndexKind>,
    table: RowTable,
    minLimit = MIN_PENDING_LIMIT,
  ): Promise<CatalogIndexes> {
    const segments = new Map<string, Segments>()
    for (const [name, kind] of kinds) segments.set(name, await kind.build(table))
    return new CatalogIndexes(kinds, segments, minLimit)
  }

  /** All changes that segments do not have yet. */
  get pending(): RowChange[] {
    return [...this.#pending.values()].flatMap(({ rows }) => [...rows.values()])
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
        for (const [key, bytes] of kind.update(current, [...this.#pending.get(offering)!.rows.values()])) {
          changed.set(key, bytes)
          if (folded.length > 1) current.set(key, bytes)
        }
      }
      segments.set(name, changed)
    }
    return { folded, segments }
  }

  /** Takes what was folded, and changes of rows that come behind it. @param countRows how many rows an offering has */
  applyFold({ folded, segments }: Fold, rows: readonly RowChange[], countRows: (offering: number) => number): void {
    for (const [name, changed] of segments) for (const [key, bytes] of changed) this.segments.get(name)!.set(key, bytes)
    for (const offering of folded) {
      this.#count -= this.#pending.get(offering)!.changes
      this.#pending.delete(offering)
      this.#due.delete(offering)
    }
    for (const one of rows) this.#add(one, countRows)
  }

  #add({ row, before, after }: RowChange, countRows: (offering: number) => number): void {
    const { offering } = (after ?? before)!
    let pending = this.#pending.get(offering)
    if (!pending) this.#pending.set(offering, (pending = { rows: new Map(), changes: 0 }))
    const { rows } = pending
    const known = rows.get(row)
    const original = known ? known.before : before
    if (original ?? after) rows.set(row, { row, before: original, after })
    // What came and went meanwhile was never there.
    else rows.delete(row)
    pending.changes++
    this.#count++
    const limit = Math.max(this.#minLimit, PENDING_PER_SQRT_ROWS * Math.sqrt(countRows(offering)))
    if (pending.changes > limit || this.#count > MAX_PENDING_CHANGES) this.#due.add(offering)
  }
}
