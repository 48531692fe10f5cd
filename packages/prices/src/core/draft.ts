import { AnswerBlock, BLOCK_ROWS, blockOf, sharedBlock, slotOf, type AnswerKind } from './answers.ts'
import { dayOf, FIRST_DAY, LAST_DAY } from './dates.ts'
import { IdTable } from './id-table.ts'
import { DEFAULT_CURRENCY, type Price } from './price.ts'
import { RowTable, type Row } from './rows.ts'
import { fits, LearnedTypes, typeOf, type CharTypes, type KnownTypes, type Terms } from './terms.ts'
import { uuidBytes } from './uuid.ts'

/** Why a price cannot be taken: the code of an error and what it is about. */
export interface Fault {
  readonly code: 'TYPE_CONFLICT' | 'CHARACTERISTIC_TWICE' | 'DATES_REVERSED'
  readonly detail: string
}

/** Numbers the kinds of answers. */
export class AnswerKinds {
  readonly list: AnswerKind[] = []
  readonly #codes = new Map<string, number>()

  constructor(kinds: readonly AnswerKind[] = []) {
    for (const { spec, currency } of kinds) this.codeOf(spec, currency)
  }

  codeOf(spec: string, currency: string): number {
    // A currency has no line break.
    const key = `${currency}\n${spec}`
    let code = this.#codes.get(key)
    if (code === undefined) this.#codes.set(key, (code = this.list.push({ spec, currency }) - 1))
    return code
  }
}

/** What is wrong with a price, as far as its own words show. */
export function faultOf({ charValues, from, to }: Price): Fault | undefined {
  const chars = new Set<string>()
  for (const { char } of charValues) {
    if (chars.has(char)) return { code: 'CHARACTERISTIC_TWICE', detail: char }
    chars.add(char)
  }
  if (from !== undefined && to !== undefined && to < from) return { code: 'DATES_REVERSED', detail: `${from} to ${to}` }
  return undefined
}

/** The value that is not of its characteristic's type, if there is one. */
export function typeFaultOf({ charValues }: Price, terms: Terms, types: KnownTypes): Fault | undefined {
  for (const { char, value } of charValues) {
    const code = terms.chars.codeOf(char)
    const type = types.get(code) ?? typeOf(value) ?? 'integer'
    if (!fits(type, value) && !types.widensTo?.(code, value))
      return { code: 'TYPE_CONFLICT', detail: `${char} is of type ${type}` }
  }
  return undefined
}

/** Types that a row is the first to have. */
function learnTypes({ values }: Row, terms: Terms, types: LearnedTypes): void {
  for (const term of values) types.learn(terms.charOf(term), typeOf(terms.valueOf(term))!)
}

/** A price in terms of the dictionary, which learns them. */
export function toRow(price: Price, terms: Terms): Row {
  const values = price.charValues.map(({ char, value }) => terms.value(terms.name('char', char), value))
  return {
    offering: terms.name('offering', price.offeringId),
    group: terms.name('group', price.groupId),
    spec: terms.name('spec', price.priceSpecId),
    values,
    isDefault: price.default === true,
    from: price.from === undefined ? FIRST_DAY : dayOf(price.from),
    to: price.to === undefined ? LAST_DAY : dayOf(price.to),
  }
}

/** A whole catalog in the making. */
export class Draft {
  readonly terms: Terms
  readonly kinds: AnswerKinds
  readonly blocks: AnswerBlock[] = []
  readonly ids: IdTable
  readonly #table = new RowTable()
  /** Rows that came again, with what they are now: nothing where they have another place. */
  readonly #replaced = new Map<number, Row | undefined>()
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
    this.ids = new IdTable((row) => this.idOf(row), expected)
  }

  get size(): number {
    return this.ids.size
  }

  idOf(row: number): Uint8Array {
    return this.blocks[blockOf(row)]!.id(slotOf(row))
  }

  /** Adds a price, or replaces the one with its id, which keeps its place unless its offering changes. */
  put(price: Price): Fault | undefined {
    const fault = faultOf(price) ?? typeFaultOf(price, this.terms, this.#types)
    if (fault) return fault
    const row = toRow(price, this.terms)
    learnTypes(row, this.terms, this.#types)
    this.add(
      uuidBytes(price.id),
      row,
      price.value,
      this.kinds.codeOf(price.priceSpecId, price.currency ?? DEFAULT_CURRENCY),
    )
    return undefined
  }

  /** The same for a row of this dictionary. */
  add(id: Uint8Array, row: Row, value: number, kind: number): void {
    const found = this.ids.find(id)
    if (found >= 0 && this.#offeringOf(found) !== row.offering) {
      this.#replaced.set(found, undefined)
      this.ids.delete(id)
    } else if (found >= 0) {
      this.#replaced.set(found, row)
      this.blocks[blockOf(found)]!.set(slotOf(found), id, value, kind)
      return
    }
    this.append(id, row, value, kind)
  }

  /** The same where no other row has the id. */
  append(id: Uint8Array, row: Row, value: number, kind: number): void {
    const number = this.#table.size
    this.#table.push(row)
    if (number % BLOCK_ROWS === 0) this.blocks.push(new AnswerBlock(sharedBlock()))
    this.blocks[blockOf(number)]!.set(slotOf(number), id, value, kind)
    this.ids.add(number, id)
  }

  #offeringOf(row: number): number {
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
