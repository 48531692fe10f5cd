import type { PriceRow, RowTable } from '../core/row-table.ts'
import { encodeChar, type CharTypes, type KnownTypes, type Terms } from '../core/terms.ts'
import { yieldTurn } from '@influencer-stats/runtime/async/yield'
import { parseQuantity } from '../core/values/quantity.ts'
import { CHAR_TYPES, getValueType, type CharType } from '../core/values/term-value.ts'

type TypeCounts = Record<CharType, number>
const NO_TYPES: TypeCounts = { string: 0, integer: 0, date: 0, boolean: 0 }

/** Returns the type of a characteristic, from how many rows have a value of each type. */
const pickType = (counts: TypeCounts): CharType | undefined => CHAR_TYPES.find((one) => counts[one] > 0)

const isOneUnit = (units: ReadonlyMap<string | undefined, number> | undefined): boolean =>
  units?.size === 1 && !units.has(undefined)

/** Number of rows that are counted before the loop yields to other work. */
const ROWS_PER_SLICE = 4_096
const NO_TERMS = new Uint8Array(new SharedArrayBuffer(0))

/**
 * Counts how many rows have each term, and derives the type of each characteristic. The type comes from the values of
 * existing rows only. A characteristic whose texts all look like dates has the type `date`.
 */
export class TermCounts {
  /** The types of the characteristics that at least one row has, always current. */
  readonly types: CharTypes = new Map()
  readonly #terms: Terms
  readonly #counts: number[] = []
  /** By characteristic, the number of rows that have a value of each type. */
  readonly #byType = new Map<number, TypeCounts>()
  /** The type of each value, by its term. */
  readonly #types: CharType[] = []
  /** The characteristics of which a row has, or had, a list. Segments of indexes can still have a deleted row. */
  readonly #lists = new Set<number>()
  /** By characteristic, the number of texts of each unit that a row has; undefined: of texts that are not quantities. */
  readonly #units = new Map<number, Map<string | undefined, number>>()
  #used = new Uint8Array(1_024)
  /** Number of terms that at least one row has. */
  used = 0
  #published = NO_TERMS
  #changed = true

  constructor(terms: Terms) {
    this.#terms = terms
  }

  /** Counts all rows of a table, without an object for each row. */
  static async fromTable(table: RowTable, terms: Terms): Promise<TermCounts> {
    const found = new Uint32Array(terms.list.length)
    const chars = Int32Array.from(terms.list, (term) => (term.kind === 'value' ? term.char : -1))
    const lists = new Set<number>()
    for (let row = 0; row < table.size; row += ROWS_PER_SLICE) {
      const end = Math.min(table.size, row + ROWS_PER_SLICE)
      table.countTerms(found, row, end)
      table.findLists(chars, row, end, lists)
      await yieldTurn()
    }
    const counts = new TermCounts(terms)
    for (const char of lists) counts.#lists.add(char)
    found.forEach((rows, term) => {
      if (rows === 0) return
      counts.#count(term, rows)
      if (terms.list[term]!.kind === 'value') counts.#countType(term, rows)
    })
    return counts
  }

  /** Returns how many rows have a term. */
  getCount(term: number): number {
    return this.#counts[term] ?? 0
  }

  /** Returns the characteristic of a value's term. */
  getChar(term: number): number {
    return this.#terms.getChar(term)
  }

  /** Returns the type of a value's term. */
  getType(term: number): CharType {
    return (this.#types[term] ??= getValueType(this.#terms.getValue(term))!)
  }

  /** Returns, for one characteristic, how many rows have a value of each type. The result is a copy. */
  getTypeCounts(char: number): TypeCounts {
    return { ...NO_TYPES, ...this.#byType.get(char) }
  }

  /** Counts a row. @param by 1 for an added row, -1 for a removed row */
  add(row: PriceRow | undefined, by: 1 | -1): void {
    if (!row) return
    this.#count(row.offering, by)
    this.#count(row.group, by)
    this.#count(row.spec, by)
    let previous = -1
    for (const term of row.values) {
      this.#count(term, by)
      this.#countType(term, by)
      const char = this.#terms.getChar(term)
      // The values of a list are adjacent.
      if (char === previous) this.#addList(char)
      previous = char
    }
  }

  /**
   * Returns one byte per term: 0 if no row has the term. Otherwise it is the encoded type for a characteristic (see
   * `encodeChar`), and 1 for any other term. Calls return the same memory until a byte changes.
   */
  getUsedTerms(): Uint8Array<SharedArrayBuffer> {
    if (!this.#changed) return this.#published
    this.#changed = false
    this.#published = new Uint8Array(new SharedArrayBuffer(this.#terms.list.length))
    this.#published.set(this.#used.subarray(0, this.#published.length))
    return this.#published
  }

  #addList(char: number): void {
    if (this.#lists.has(char)) return
    this.#lists.add(char)
    this.#setCharUsed(char)
  }

  #setCharUsed(char: number): void {
    const type = this.types.get(char)
    this.#setUsed(char, type ? encodeChar(type, this.#lists.has(char), isOneUnit(this.#units.get(char))) : 0)
  }

  #count(term: number, by: number): void {
    const before = this.getCount(term)
    this.#counts[term] = before + by
    if (before > 0 && before + by > 0) return
    this.#setUsed(term, before === 0 ? 1 : 0)
    const known = this.#terms.list[term]!
    if (known.kind === 'value' && typeof known.value === 'string')
      this.#countUnit(known.char, parseQuantity(known.value)?.unit, before === 0 ? 1 : -1)
  }

  #countUnit(char: number, unit: string | undefined, by: 1 | -1): void {
    let units = this.#units.get(char)
    if (!units) this.#units.set(char, (units = new Map()))
    const wasOneUnit = isOneUnit(units)
    const texts = (units.get(unit) ?? 0) + by
    if (texts > 0) units.set(unit, texts)
    else units.delete(unit)
    if (isOneUnit(units) !== wasOneUnit) this.#setCharUsed(char)
  }

  #countType(term: number, by: number): void {
    const char = this.#terms.getChar(term)
    let counts = this.#byType.get(char)
    if (!counts) this.#byType.set(char, (counts = { ...NO_TYPES }))
    counts[this.getType(term)] += by
    const type = pickType(counts)
    if (type === this.types.get(char)) return
    if (type) this.types.set(char, type)
    else this.types.delete(char)
    this.#setCharUsed(char)
  }

  #setUsed(term: number, byte: number): void {
    if (term >= this.#used.length) {
      const larger = new Uint8Array(Math.max(term + 1, 2 * this.#used.length))
      larger.set(this.#used)
      this.#used = larger
    }
    this.used += Math.sign(byte) - Math.sign(this.#used[term]!)
    this.#used[term] = byte
    this.#changed = true
  }
}

/** The types that characteristics have after changes of rows. `recordChange` must be called for each changed row. */
export class PendingTypes implements KnownTypes {
  readonly #known: TermCounts
  /** The counts of each characteristic that a changed row has or had. */
  readonly #counts = new Map<number, TypeCounts>()

  constructor(known: TermCounts) {
    this.#known = known
  }

  get(char: number): CharType | undefined {
    const counts = this.#counts.get(char)
    return counts ? pickType(counts) : this.#known.types.get(char)
  }

  recordChange(before: PriceRow | undefined, after: PriceRow | undefined): void {
    // A put of an existing price usually changes only its value.
    if (before && after && hasSame(before.values, after.values)) return
    for (const term of before?.values ?? []) this.#count(term, -1)
    for (const term of after?.values ?? []) this.#count(term, 1)
  }

  /** Returns the result of a function that uses the types of all other rows. */
  evaluateWithout<T>(row: PriceRow, evaluate: () => T): T {
    this.recordChange(row, undefined)
    try {
      return evaluate()
    } finally {
      this.recordChange(undefined, row)
    }
  }

  #count(term: number, by: 1 | -1): void {
    const char = this.#known.getChar(term)
    let counts = this.#counts.get(char)
    if (!counts) this.#counts.set(char, (counts = this.#known.getTypeCounts(char)))
    counts[this.#known.getType(term)] += by
  }
}

const hasSame = (some: PriceRow['values'], others: PriceRow['values']) =>
  some.length === others.length && Array.prototype.every.call(some, (term, i) => term === others[i])
