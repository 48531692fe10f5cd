import { AnswerBlock, BLOCK_ROWS, toBlockNumber, createSharedBlock, toSlot, type AnswerKind } from './answer-block.ts'
import { toDay, FIRST_DAY, LAST_DAY } from './dates.ts'
import { IdTable } from './id-table.ts'
import { DEFAULT_CURRENCY, type Price } from './price.ts'
import { RowTable, type PriceRow } from './row-table.ts'
import { isOfType, LearnedTypes, getValueType, type CharTypes, type KnownTypes, type Terms } from './terms.ts'
import { parseUuid } from './uuid.ts'

/** Why a price cannot be taken: the code of an error and what it is about. */
export interface PriceProblem {
  readonly code: 'TYPE_CONFLICT' | 'CHARACTERISTIC_TWICE' | 'DATES_REVERSED'
  readonly detail: string
}

/** Numbers the kinds of answers. */
export class AnswerKinds {
  readonly list: AnswerKind[] = []
  readonly #codes = new Map<string, number>()

  constructor(kinds: readonly AnswerKind[] = []) {
    for (const { spec, currency } of kinds) this.ensureCode(spec, currency)
  }

  ensureCode(spec: string, currency: string): number {
    // A currency has no line break.
    const key = `${currency}\n${spec}`
    let code = this.#codes.get(key)
    if (code === undefined) this.#codes.set(key, (code = this.list.push({ spec, currency }) - 1))
    return code
  }
}

/** What is wrong with a price, as far as its own words show. */
export function findPriceProblem({ charValues, from, to }: Price): PriceProblem | undefined {
  const chars = new Set<string>()
  for (const { char } of charValues) {
    if (chars.has(char)) return { code: 'CHARACTERISTIC_TWICE', detail: char }
    chars.add(char)
  }
  if (from !== undefined && to !== undefined && to < from) return { code: 'DATES_REVERSED', detail: `${from} to ${to}` }
  return undefined
}

/** The value that is not of its characteristic's type, if there is one. */
export function findTypeProblem({ charValues }: Price, terms: Terms, types: KnownTypes): PriceProblem | undefined {
  for (const { char, value } of charValues) {
    const code = terms.chars.getCode(char)
    const type = types.get(code) ?? getValueType(value) ?? 'integer'
    if (!isOfType(type, value) && !types.canWiden?.(code, value))
      return { code: 'TYPE_CONFLICT', detail: `${char} is of type ${type}` }
  }
  return undefined
}

/** Types that a row is the first to have. */
function learnTypes({ values }: PriceRow, terms: Terms, types: LearnedTypes): void {
  for (const term of values) types.learn(terms.getChar(term), getValueType(terms.getValue(term))!)
}

/** A price in terms of the dictionary, which learns them. */
export function toRow(price: Price, terms: Terms): PriceRow {
  const values = price.charValues.map(({ char, value }) => terms.value(terms.ensureName('char', char), value))
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

/** A whole catalog in the making. */
export class CatalogDraft {
  readonly terms: Terms
  readonly kinds: AnswerKinds
  readonly blocks: AnswerBlock[] = []
  readonly ids: IdTable
  readonly #table = new RowTable()
  /** Rows that came again, with what they are now: nothing where they have another place. */
  readonly #replaced = new Map<number, PriceRow | undefined>()
  readonly #types: LearnedTypes

  /**
   * @param types of characteristics that are known
   * @param expected how many prices are likely to come: a table of ids that grows on the way takes twice as long
   */
  constructor(terms: Terms, kinds = new AnswerKinds(), types: CharTypes = new Map(), expected?: number) {
    this.terms = terms
    this.kinds = kinds
    // Of the catalog as it is now, which goes on.
    this.#types = new LearnedTypes(new Map(types))
    this.ids = new IdTable((row) => this.getId(row), expected)
  }

  get size(): number {
    return this.ids.size
  }

  getId(row: number): Uint8Array {
    return this.blocks[toBlockNumber(row)]!.id(toSlot(row))
  }

  /** Adds a price, or replaces the one with its id, which keeps its place unless its offering changes. */
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

  /** The same for a row of this dictionary. */
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

  /** The same where no other row has the id. */
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

  /** All rows as they are now. */
  table(): RowTable {
    if (this.#replaced.size === 0) return this.#table
    const { size } = this.#table
    const table = new RowTable(size)
    for (let row = 0; row < size; row++)
      table.push(this.#replaced.has(row) ? this.#replaced.get(row) : this.#table.get(row))
    return table
  }
}
