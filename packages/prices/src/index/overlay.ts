import { ANY_TERM, type Choice, type SearchQuery } from '../core/search-query.ts'
import type { FacetCounts, FacetSelection } from '../core/facet-selection.ts'
import type { VersionedList } from '../core/collections/versioned-list.ts'
import { forEachInTurns } from '@influencer-stats/runtime/async/yield'
import { countRow } from './count-facets.ts'
import {
  toFindResult,
  countMatches,
  type RowFinder,
  type PriceIndex,
  type RowChange,
  type RowSet,
  type RowVisitor,
} from './price-index.ts'
import { explainTests } from './explain-tests.ts'
import { isMatch, createTests, getRank, toScannedRow, type ScannedRow } from './row-scan.ts'

/** A change of one row that the segments do not contain yet. */
interface OverlayEntry {
  /** Its position in the offering's list of changes. */
  readonly at: number
  /** The row in the segments, if this is the first change of it. */
  readonly before: ScannedRow | undefined
  readonly after: ScannedRow | undefined
  /** The position of the next change of the same row; `Infinity` if there is none. */
  until: number
}

// An upper limit of the number of terms.
const MAX_SPECS = 2 ** 26
const toPartitionKey = ({ group, spec }: { readonly group: number; readonly spec: number }) => group * MAX_SPECS + spec

/** The changes of one offering in their order. The list is append-only, so all overlays of the offering share it. */
class OverlayEntries {
  readonly list: OverlayEntry[] = []
  /** By group and spec: the changes that affect this partition. */
  readonly byPartition = new Map<number, OverlayEntry[]>()
  /** The position of the first change of each row. */
  readonly firsts = new Map<number, number>()
  readonly #lasts = new Map<number, OverlayEntry>()

  add({ row, before, after }: RowChange): void {
    const at = this.list.length
    const last = this.#lasts.get(row)
    if (last) last.until = at
    else this.firsts.set(row, at)
    const scan = (one: typeof after) => one && toScannedRow({ ...one, row })
    const entry: OverlayEntry = { at, before: last ? undefined : scan(before), after: scan(after), until: Infinity }
    this.#lasts.set(row, entry)
    this.list.push(entry)
    for (const partition of new Set([entry.before, entry.after].flatMap((one) => (one ? [toPartitionKey(one)] : [])))) {
      const entries = this.byPartition.get(partition)
      if (entries) entries.push(entry)
      else this.byPartition.set(partition, [entry])
    }
  }

  /** Returns the changes that affect a group and a spec, each of which may be `ANY_TERM`. */
  select(query: SearchQuery): readonly OverlayEntry[] {
    if (query.group === ANY_TERM || query.spec === ANY_TERM) return this.list
    return this.byPartition.get(toPartitionKey(query)) ?? []
  }
}

/**
 * The changes of an offering's rows since its segments were built. They are scanned in addition to a search of the
 * segments, whose results for changed rows are ignored. An overlay is immutable; `with` creates the next one, and only
 * the newest overlay may call it.
 */
export class Overlay implements RowSet {
  readonly #entries: OverlayEntries
  readonly #length: number

  private constructor(entries: OverlayEntries, length: number) {
    this.#entries = entries
    this.#length = length
  }

  static createEmpty(): Overlay {
    return new Overlay(new OverlayEntries(), 0)
  }

  with(changes: readonly RowChange[]): Overlay {
    for (const change of changes) this.#entries.add(change)
    return new Overlay(this.#entries, this.#entries.list.length)
  }

  /** True if a row differs from the segments. */
  has(row: number): boolean {
    return (this.#entries.firsts.get(row) ?? Infinity) < this.#length
  }

  find(query: SearchQuery, base: PriceIndex): number {
    const entries = this.#entries.byPartition.get(toPartitionKey(query))
    if (!entries || entries[0]!.at >= this.#length) return base.find(query)
    return toFindResult(countMatches((visit) => this.forEach(query, base, visit)))
  }

  forEach(query: SearchQuery, base: PriceIndex, visit: RowVisitor): void {
    base.forEach(query, visit, this)
    for (const { at, until, after } of this.#entries.select(query)) {
      if (at >= this.#length) break
      if (until >= this.#length && after && isMatch(after, query)) visit(after.row, getRank(after))
    }
  }

  explain(query: SearchQuery, choices: readonly Choice[], base: PriceIndex): number[] {
    const applied = this.#entries.list.slice(0, this.#length)
    const tests = createTests(query, choices)
    const removed = explainTests(
      applied.flatMap(({ before }) => before ?? []),
      tests,
    )
    const added = explainTests(
      applied.flatMap(({ until, after }) => (until < this.#length ? [] : (after ?? []))),
      tests,
    )
    return base.explain(query, choices).map((left, i) => left - removed[i]! + added[i]!)
  }

  /** Corrects an index's counts by the effect of the changes. */
  async count(selection: FacetSelection, counts: FacetCounts): Promise<void> {
    const { list } = this.#entries
    await forEachInTurns(this.#length, (i) => {
      const { before, until, after } = list[i]!
      if (before) countRow(before, selection, counts, -1)
      if (after && until >= this.#length) countRow(after, selection, counts, 1)
    })
  }
}

/** Finds rows in an index and among the changes since its segments were built. */
export class OverlaidIndex implements RowFinder {
  readonly #base: PriceIndex
  /** Overlays by offering, if something changed. */
  readonly #overlays: VersionedList<Overlay>

  constructor(base: PriceIndex, overlays: VersionedList<Overlay>) {
    this.#base = base
    this.#overlays = overlays
  }

  find(query: SearchQuery): number {
    const overlay = this.#overlays.get(query.offering)
    return overlay ? overlay.find(query, this.#base) : this.#base.find(query)
  }

  forEach(query: SearchQuery, visit: RowVisitor): void {
    const overlay = this.#overlays.get(query.offering)
    if (overlay) overlay.forEach(query, this.#base, visit)
    else this.#base.forEach(query, visit)
  }

  explain(query: SearchQuery, choices: readonly Choice[]): number[] {
    const overlay = this.#overlays.get(query.offering)
    return overlay ? overlay.explain(query, choices, this.#base) : this.#base.explain(query, choices)
  }

  async count(selection: FacetSelection, counts: FacetCounts): Promise<void> {
    await this.#base.count(selection, counts)
    for (const [, overlay] of this.#overlays.entries()) await overlay.count(selection, counts)
  }
}
