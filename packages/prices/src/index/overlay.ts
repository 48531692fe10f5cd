import type { Choice, Query } from '../core/query.ts'
import type { FacetCounts, Selection } from '../core/selection.ts'
import type { VersionedList } from '../core/versioned-list.ts'
import { eachInTurns } from '../turn.ts'
import { countRow } from './facets.ts'
import { foundOf, tallyRows, type Finder, type PriceIndex, type RowChange, type Rows, type Visit } from './index.ts'
import { leftAfter } from './left-after.ts'
import { fits, testsOf, toScanned, type ScannedRow } from './scan.ts'

/** A change of one row that the segments do not have yet. */
interface Entry {
  /** Its place among all of the offering. */
  readonly at: number
  /** The row as the segments have it, where this is the first change of it. */
  readonly before: ScannedRow | undefined
  readonly after: ScannedRow | undefined
  /** The place of the next change of the same row. */
  until: number
}

// Terms are fewer than that.
const SPECS = 2 ** 26
const partitionOf = ({ group, spec }: { readonly group: number; readonly spec: number }) => group * SPECS + spec

/** The changes of one offering in their order. They are only added to, so that all overlays of it share them. */
class Entries {
  readonly list: Entry[] = []
  /** By group and spec: those that make a difference there. */
  readonly ofPartition = new Map<number, Entry[]>()
  /** The place of the first change of each row. */
  readonly firsts = new Map<number, number>()
  readonly #lasts = new Map<number, Entry>()

  add({ row, before, after }: RowChange): void {
    const at = this.list.length
    const last = this.#lasts.get(row)
    if (last) last.until = at
    else this.firsts.set(row, at)
    const scanned = (one: typeof after) => one && toScanned({ ...one, row })
    const entry: Entry = { at, before: last ? undefined : scanned(before), after: scanned(after), until: Infinity }
    this.#lasts.set(row, entry)
    this.list.push(entry)
    for (const partition of new Set([entry.before, entry.after].flatMap((one) => (one ? [partitionOf(one)] : [])))) {
      const entries = this.ofPartition.get(partition)
      if (entries) entries.push(entry)
      else this.ofPartition.set(partition, [entry])
    }
  }
}

/**
 * What changed of an offering's rows since its segments were made: they are scanned beside what an index finds in these,
 * which no longer counts for them. It never changes; the next one is made by `with`, of the newest only.
 */
export class Overlay implements Rows {
  readonly #entries: Entries
  readonly #length: number

  private constructor(entries: Entries, length: number) {
    this.#entries = entries
    this.#length = length
  }

  static empty(): Overlay {
    return new Overlay(new Entries(), 0)
  }

  with(changes: readonly RowChange[]): Overlay {
    for (const change of changes) this.#entries.add(change)
    return new Overlay(this.#entries, this.#entries.list.length)
  }

  /** Whether a row is not what the segments say. */
  has(row: number): boolean {
    return (this.#entries.firsts.get(row) ?? Infinity) < this.#length
  }

  find(query: Query, base: PriceIndex): number {
    const entries = this.#entries.ofPartition.get(partitionOf(query))
    if (!entries || entries[0]!.at >= this.#length) return base.find(query)
    return foundOf(tallyRows((visit) => this.each(query, base, visit)))
  }

  each(query: Query, base: PriceIndex, visit: Visit): void {
    base.each(query, visit, this)
    for (const { at, until, after } of this.#entries.ofPartition.get(partitionOf(query)) ?? []) {
      if (at >= this.#length) break
      if (until >= this.#length && after && fits(after, query)) visit(after.row, after.isDefault)
    }
  }

  left(query: Query, choices: readonly Choice[], base: PriceIndex): number[] {
    const seen = this.#entries.list.slice(0, this.#length)
    const tests = testsOf(query, choices)
    const gone = leftAfter(
      seen.flatMap(({ before }) => before ?? []),
      tests,
    )
    const came = leftAfter(
      seen.flatMap(({ until, after }) => (until < this.#length ? [] : (after ?? []))),
      tests,
    )
    return base.left(query, choices).map((left, i) => left - gone[i]! + came[i]!)
  }

  /** What the changes add to what an index counts, and take from it. */
  async count(selection: Selection, counts: FacetCounts): Promise<void> {
    const { list } = this.#entries
    await eachInTurns(this.#length, (i) => {
      const { before, until, after } = list[i]!
      if (before) countRow(before, selection, counts, -1)
      if (after && until >= this.#length) countRow(after, selection, counts, 1)
    })
  }
}

/** Finds rows as an index does, and those that changed since its segments were made. */
export class OverlaidIndex implements Finder {
  readonly #base: PriceIndex
  /** By offering, where something changed. */
  readonly #overlays: VersionedList<Overlay>

  constructor(base: PriceIndex, overlays: VersionedList<Overlay>) {
    this.#base = base
    this.#overlays = overlays
  }

  find(query: Query): number {
    const overlay = this.#overlays.get(query.offering)
    return overlay ? overlay.find(query, this.#base) : this.#base.find(query)
  }

  each(query: Query, visit: Visit): void {
    const overlay = this.#overlays.get(query.offering)
    if (overlay) overlay.each(query, this.#base, visit)
    else this.#base.each(query, visit)
  }

  left(query: Query, choices: readonly Choice[]): number[] {
    const overlay = this.#overlays.get(query.offering)
    return overlay ? overlay.left(query, choices, this.#base) : this.#base.left(query, choices)
  }

  async count(selection: Selection, counts: FacetCounts): Promise<void> {
    await this.#base.count(selection, counts)
    for (const [, overlay] of this.#overlays.entries()) await overlay.count(selection, counts)
  }
}
