import { AnswerBlock, BLOCK_ROWS, toBlockNumber, createSharedBlock, toSlot, type AnswerKind } from './answer-block.ts'
import { toDay, FIRST_DAY, LAST_DAY } from './dates.ts'
import { IdTable } from './id-table.ts'
import { DEFAULT_CURRENCY, type Price } from './price.ts'
import { RowTable, type PriceRow } from './row-table.ts'
import { isOfType, LearnedTypes, getValueType, type CharTypes, type KnownTypes, type Terms } from './terms.ts'
import { parseUuid } from './uuid.ts'

/** The reason that a price is rejected: an error code and its detail. */
export interface PriceProblem {
  readonly code: 'TYPE_CONFLICT' | 'DUPLICATE_CHARACTERISTIC' | 'INVALID_DATE_RANGE'
  readonly detail: string
}

/** Numbers the kinds of answers. Answers with the same spec and currency have the same kind. */
export class AnswerKinds {
  readonly list: AnswerKind[] = []
  readonly #codes = new Map<string, number>()

  constructor(kinds: readonly AnswerKind[] = []) {
    for (const { spec, currency } of kinds) this.ensureCode(spec, currency)
  }

  ensureCode(spec: string, currency: string): number {
    // A currency has no line break, so different kinds have different keys.
    const key = `${currency}\n${spec}`
    let code = this.#codes.get(key)
    if (code === undefined) this.#codes.set(key, (code = this.list.push({ spec, currency }) - 1))
    return code
  }
}

/** Returns a problem of a price that can be found without the catalog; undefined if there is none. */
export function findPriceProblem({ charValues, from, to }: Price): PriceProblem | undefined {
  const chars = new Set<string>()
  for (const { char } of charValues) {
    if (chars.has(char)) return { code: 'DUPLICATE_CHARACTERISTIC', detail: char }
    chars.add(char)
  }
  if (from !== undefined && to !== undefined && to < from)
    return { code: 'INVALID_DATE_RANGE', detail: `${from} to ${to}` }
  return undefined
}

/** Returns the problem of the first value that does not have the type of its characteristic. */
export function findTypeProblem({ charValues }: Price, terms: Terms, types: KnownTypes): PriceProblem | undefined {
  for (const { char, value } of charValues) {
    const code = terms.chars.getCode(char)
    const type = types.get(code) ?? getValueType(value) ?? 'integer'
    if (!isOfType(type, value) && !types.canWiden?.(code, value))
      return { code: 'TYPE_CONFLICT', detail: `${char} is of type ${type}` }
  }
  return undefined
}

/** Adds the types of a row's values. */
function learnTypes({ values }: PriceRow, terms: Terms, types: LearnedTypes): void {
  for (const term of values) types.learn(terms.getChar(term), getValueType(terms.getValue(term))!)
}

/** Converts a price to a row of terms. New terms are added to the dictionary. */
export function toRow(price: Price, terms: Terms): PriceRow {
  const values = price.charValues.map(({ char, value }) => terms.ensureValue(terms.ensureName('char', char), value))
  return {
    offering: terms.ensureName('offering', price.offeringId),
    group: terms.ensureName('group', price.groupId),
    spec: terms.ensureName('spec', price.priceSpecId),
    values,
    isDefault: price.default === true,
    from: price.from === undefined ? FIRST_DAY : toDay(price.from),
    to: price.to === undefined ? LAST_DAY : toDay(price.to),
  }
}

/** A whole catalog under construction. */
export class CatalogDraft {
  readonly terms: Terms
  readonly kinds: AnswerKinds
  readonly blocks: AnswerBlock[] = []
  readonly ids: IdTable
  readonly #table = new RowTable()
  /** New contents of rows that were put again; undefined if the price has another row now. */
  readonly #replaced = new Map<number, PriceRow | undefined>()
  readonly #types: LearnedTypes

  /**
   * @param types types of known characteristics
   * @param expected expected number of prices: a table of ids that must grow takes twice as long
   */
  constructor(terms: Terms, kinds = new AnswerKinds(), types: CharTypes = new Map(), expected?: number) {
    this.terms = terms
    this.kinds = kinds
    // A copy, because the catalog changes its types meanwhile.
    this.#types = new LearnedTypes(new Map(types))
    this.ids = new IdTable((row) => this.getId(row), expected)
  }

  get size(): number {
    return this.ids.size
  }

  getId(row: number): Uint8Array {
    return this.blocks[toBlockNumber(row)]!.getId(toSlot(row))
  }

  /** Adds a price, or replaces the one with its id. A replaced price stays in its row unless its offering changes. */
  put(price: Price): PriceProblem | undefined {
    const problem = findPriceProblem(price) ?? findTypeProblem(price, this.terms, this.#types)
    if (problem) return problem
    const row = toRow(price, this.terms)
    learnTypes(row, this.terms, this.#types)
    this.add(
      parseUuid(price.id),
      row,
      price.value,
      this.kinds.ensureCode(price.priceSpecId, price.currency ?? DEFAULT_CURRENCY),
    )
    return undefined
  }

  /** Adds or replaces a price like `put`, but without checks. `row` must contain terms of this draft's dictionary. */
  add(id: Uint8Array, row: PriceRow, value: number, kind: number): void {
    const existing = this.ids.find(id)
    if (existing >= 0 && this.#getOffering(existing) !== row.offering) {
      this.#replaced.set(existing, undefined)
      this.ids.delete(id)
    } else if (existing >= 0) {
      this.#replaced.set(existing, row)
      this.blocks[toBlockNumber(existing)]!.set(toSlot(existing), id, value, kind)
      return
    }
    this.append(id, row, value, kind)
  }

  /** Adds a price like `add`. No other row may have its id. */
  append(id: Uint8Array, row: PriceRow, value: number, kind: number): void {
    const number = this.#table.size
    this.#table.push(row)
    if (number % BLOCK_ROWS === 0) this.blocks.push(new AnswerBlock(createSharedBlock()))
    this.blocks[toBlockNumber(number)]!.set(toSlot(number), id, value, kind)
    this.ids.add(number, id)
  }

  #getOffering(row: number): number {
    return (this.#replaced.get(row) ?? this.#table.get(row))!.offering
  }

  /** Returns all rows in their current state. */
  buildTable(): RowTable {
    if (this.#replaced.size === 0) return this.#table
    const { size } = this.#table
    const table = new RowTable(size)
    for (let row = 0; row < size; row++)
      table.push(this.#replaced.has(row) ? this.#replaced.get(row) : this.#table.get(row))
    return table
  }
}
