import type { Amount } from './values/amount.ts'
import { parseQuantity } from './values/quantity.ts'
import { CHAR_TYPES, formatValue, isRange, type CharType, type TermValue } from './values/term-value.ts'
import { TextTable } from './text-table.ts'

/** A searchable property of a price: its offering, group or spec, a characteristic, or a value of a characteristic. */
export type Term =
  | { readonly kind: 'offering' | 'group' | 'spec' | 'char'; readonly text: string }
  | { readonly kind: 'value'; readonly char: number; readonly value: TermValue }

/** The types of the characteristics that at least one row has, by term. */
export type CharTypes = Map<number, CharType>

/** The types of characteristics, for the evaluation of prices. */
export interface KnownTypes {
  get(char: number): CharType | undefined
  /** True if a characteristic can accept this value and change its type. Without this method no type can change. */
  canWiden?(char: number, value: TermValue): boolean
}

/**
 * Types that are learned from values. A date type becomes a string type with the first text that is not a date, so the
 * order of values does not matter.
 */
export class LearnedTypes implements KnownTypes {
  readonly #learned: CharTypes

  /** @param learned types that are known already */
  constructor(learned: CharTypes = new Map()) {
    this.#learned = learned
  }

  get(char: number): CharType | undefined {
    return this.#learned.get(char)
  }

  canWiden(char: number, value: TermValue): boolean {
    return this.#learned.get(char) === 'date' && typeof value === 'string'
  }

  /** Sets the type of a characteristic that has none, or whose type can change. */
  learn(char: number, type: CharType): void {
    if (!this.get(char) || (type === 'string' && this.canWiden(char, ''))) this.#learned.set(char, type)
  }
}

// The encoding of a characteristic in `usedTerms`: its type, and flags for lists and quantities.
const TYPE_MASK = 7
const LISTS_FLAG = 8
const QUANTITIES_FLAG = 16
const CHAR_CODES: readonly (CharType | undefined)[] = [undefined, ...CHAR_TYPES]
export const encodeChar = (type: CharType, hasList: boolean, isQuantity: boolean): number =>
  CHAR_CODES.indexOf(type) | (hasList ? LISTS_FLAG : 0) | (isQuantity ? QUANTITIES_FLAG : 0)
/**
 * Returns the type of a characteristic, if at least one row has it.
 * @param usedTerms by term: 0 if no row has it
 */
export const getCharType = (usedTerms: Uint8Array, char: number): CharType | undefined =>
  CHAR_CODES[(usedTerms[char] ?? 0) & TYPE_MASK]

/** True if a row has, or had since the catalog was loaded, several values of a characteristic. */
export const hasLists = (usedTerms: Uint8Array, char: number): boolean => ((usedTerms[char] ?? 0) & LISTS_FLAG) !== 0

/** True if all texts of a characteristic that a row has are quantities of one unit. */
export const isQuantity = (usedTerms: Uint8Array, char: number): boolean =>
  ((usedTerms[char] ?? 0) & QUANTITIES_FLAG) !== 0

/** Returns the unit of a characteristic; undefined if its values are not quantities of one unit. */
export function findUnit(terms: Terms, usedTerms: Uint8Array, char: number): string | undefined {
  if (!isQuantity(usedTerms, char)) return undefined
  for (const [text, term] of terms.getTexts(char)) if (usedTerms[term]! > 0) return parseQuantity(text)!.unit
  return undefined
}

/** Returns the types of the characteristics that at least one row has, by their names. */
export function listCharTypes({ list }: Pick<Terms, 'list'>, usedTerms: Uint8Array): Map<string, CharType> {
  const types = new Map<string, CharType>()
  list.forEach((term, code) => {
    const type = term.kind === 'char' ? getCharType(usedTerms, code) : undefined
    if (term.kind === 'char' && type) types.set(term.text, type)
  })
  return types
}

/** The values of one characteristic, including those that no row has any more. */
interface ValueTable {
  readonly texts: TextTable
  /** The terms of all other values, by `toKey`. */
  readonly others: Map<OtherKey, number>
  /** The terms of ranges. */
  readonly ranges: number[]
}

type OtherKey = number | boolean | string
const toKey = (value: Exclude<TermValue, string>): OtherKey => (isRange(value) ? formatValue(value) : value)

const NO_TEXTS = new TextTable()
const NO_RANGES: readonly number[] = []

/**
 * The dictionary. Each offering, group, spec, characteristic and value has a number, its term. Terms are only added, so
 * older views of the catalog can use the same dictionary.
 */
export class Terms {
  readonly list: Term[] = []
  readonly offerings = new TextTable()
  readonly groups = new TextTable()
  readonly specs = new TextTable()
  readonly chars = new TextTable()
  readonly #values: (ValueTable | undefined)[] = []
  /** The amounts that were read, by term. */
  readonly #amounts = new Map<number, Amount>()

  constructor(terms: readonly Term[] = []) {
    this.append(terms)
  }

  append(terms: readonly Term[]): void {
    for (const term of terms) this.#push(term)
  }

  /** Returns the term of a name, and adds it if it is new. */
  ensureName(kind: 'offering' | 'group' | 'spec' | 'char', text: string): number {
    const found = this.#getTable(kind).getCode(text)
    return found >= 0 ? found : this.#push({ kind, text })
  }

  /** Returns the term of a characteristic's value, and adds it if it is new. */
  ensureValue(char: number, value: TermValue): number {
    const found = this.#findCode(char, value)
    return found >= 0 ? found : this.#push({ kind: 'value', char, value })
  }

  /** Returns the term of a value, or -1. */
  findValue(char: number, value: TermValue): number {
    const values = this.#values[char]
    if (!values) return -1
    return typeof value === 'string' ? values.texts.find(value) : (values.others.get(toKey(value)) ?? -1)
  }

  /** Returns the text values of a characteristic as a table, which is empty for other values. */
  getTexts(char: number): TextTable {
    return this.#values[char]?.texts ?? NO_TEXTS
  }

  /** Returns the terms of the ranges of a characteristic, including those that no row has any more. */
  getRanges(char: number): readonly number[] {
    return this.#values[char]?.ranges ?? NO_RANGES
  }

  /** Returns the characteristic of a value's term. */
  getChar(term: number): number {
    return (this.list[term] as Term & { kind: 'value' }).char
  }

  /** Returns the value of a value's term. */
  getValue(term: number): TermValue {
    return (this.list[term] as Term & { kind: 'value' }).value
  }

  /** Returns the amount of a value's term; NaN if its value is not a quantity. */
  getAmount(term: number): Amount {
    let amount = this.#amounts.get(term)
    if (amount === undefined) {
      amount = parseQuantity(String(this.getValue(term)))?.amount ?? NaN
      this.#amounts.set(term, amount)
    }
    return amount
  }

  #getTable(kind: 'offering' | 'group' | 'spec' | 'char'): TextTable {
    return { offering: this.offerings, group: this.groups, spec: this.specs, char: this.chars }[kind]
  }

  #findCode(char: number, value: TermValue): number {
    const values = this.#values[char]
    if (!values) return -1
    return typeof value === 'string' ? values.texts.getCode(value) : (values.others.get(toKey(value)) ?? -1)
  }

  #push(term: Term): number {
    const code = this.list.push(term) - 1
    if (term.kind !== 'value') {
      this.#getTable(term.kind).set(term.text, code)
      return code
    }
    const { char, value } = term
    const values: ValueTable = (this.#values[char] ??= { texts: new TextTable(), others: new Map(), ranges: [] })
    if (typeof value === 'string') values.texts.set(value, code)
    else {
      values.others.set(toKey(value), code)
      if (isRange(value)) values.ranges.push(code)
    }
    return code
  }
}
