import type { RowTable } from '../core/row-table.ts'
import { yieldTurn } from '@influencer-stats/runtime/async/yield'
import {
  applySegmentChanges,
  type IndexKind,
  type RowChange,
  type SegmentChanges,
  type Segments,
} from '../index/price-index.ts'

/**
 * A waiting change is a change of a row that the segments of its offering (the data of the indexes: see `Segments`) do
 * not contain yet. The limit per offering is `PENDING_PER_SQRT_ROWS` times the square root of its rows, but at least
 * `MIN_PENDING_LIMIT`. With more waiting changes, its segments are rebuilt. A rebuild takes time in proportion to the
 * rows of the offering, and each waiting change slows searches. The segments of an offering without rows are removed.
 */
const MIN_PENDING_LIMIT = 32
const PENDING_PER_SQRT_ROWS = 4
/**
 * Number of waiting changes of all offerings above which every change makes its offering due for a rebuild. Each takes
 * 0.5 KB in every thread.
 */
const MAX_PENDING_CHANGES = 32_768

/** The changes of one offering that its segments do not have yet. */
interface PendingRows {
  /** The state of each row before and after its changes, by row. */
  readonly rows: Map<number, RowChange>
  /** Number of changes: threads hold each of them. */
  changes: number
}

/** Segments that contain changes which waited before. */
export interface RebuiltSegments {
  /** The offerings whose segments contain all changes of their rows. */
  readonly rebuilt: readonly number[]
  /** The rebuilt segments, by the name of the index. */
  readonly segments: ReadonlyMap<string, SegmentChanges>
}

/**
 * The indexes of the main thread. Threads receive each change of a row at once, without new segments, and search the
 * waiting changes in addition to the segments. When many changes of an offering wait, its segments are rebuilt.
 */
export class CatalogIndexes {
  readonly segments: ReadonlyMap<string, Segments>
  readonly #kinds: ReadonlyMap<string, IndexKind>
  readonly #pending = new Map<number, PendingRows>()
  /** The offerings that are due for a rebuild, in the order in which they became due. */
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

  /** Returns indexes without rows. */
  static createEmpty(kinds: ReadonlyMap<string, IndexKind>): CatalogIndexes {
    return new CatalogIndexes(kinds, new Map(Array.from(kinds.keys(), (name) => [name, new Map()])), MIN_PENDING_LIMIT)
  }

  /**
   * Builds the indexes of a table.
   * @param minLimit number of changes of an offering that may wait, however few rows it has
   */
  static async build(
    kinds: ReadonlyMap<string, IndexKind>,
    table: RowTable,
    minLimit = MIN_PENDING_LIMIT,
  ): Promise<CatalogIndexes> {
    const segments = new Map<string, Segments>()
    for (const [name, kind] of kinds) segments.set(name, await kind.build(table))
    return new CatalogIndexes(kinds, segments, minLimit)
  }

  /** All changes that the segments do not contain yet. */
  get pending(): RowChange[] {
    return [...this.#pending.values()].flatMap(({ rows }) => [...rows.values()])
  }

  /**
   * Rebuilds the segments of an eighth of the offerings that are due. It is only an eighth because the clients that put
   * prices wait for it. The result has no effect until `applyRebuild`.
   */
  async rebuildDue(): Promise<RebuiltSegments> {
    const rebuilt = [...this.#due].slice(0, Math.ceil(this.#due.size / 8))
    const segments = new Map<string, SegmentChanges>()
    for (const [name, kind] of this.#kinds) {
      const changed: SegmentChanges = new Map()
      const known = this.segments.get(name)!
      // Offerings may share segments, so each rebuild must start from the result of the rebuild before it.
      const current = { get: (key: number) => (changed.has(key) ? changed.get(key) : known.get(key)) }
      for (const offering of rebuilt) {
        await yieldTurn()
        const { rows } = this.#pending.get(offering)!
        if (rows.size === 0) continue
        for (const [key, bytes] of kind.update(current, [...rows.values()])) changed.set(key, bytes)
      }
      segments.set(name, changed)
    }
    return { rebuilt, segments }
  }

  /**
   * Applies rebuilt segments, and adds changes of rows that they do not contain.
   * @param countRows returns how many rows an offering has
   */
  applyRebuild(
    { rebuilt, segments }: RebuiltSegments,
    rows: readonly RowChange[],
    countRows: (offering: number) => number,
  ): void {
    for (const [name, changed] of segments) applySegmentChanges(this.segments.get(name)!, changed)
    for (const offering of rebuilt) {
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
    // A row that was added and removed between two rebuilds leaves no change.
    else rows.delete(row)
    pending.changes++
    this.#count++
    const count = countRows(offering)
    const limit = count === 0 ? 0 : Math.max(this.#minLimit, PENDING_PER_SQRT_ROWS * Math.sqrt(count))
    if (pending.changes > limit || this.#count > MAX_PENDING_CHANGES) this.#due.add(offering)
  }
}
