import { MAX_DIGITS, parseAmount, type Amount } from './values/amount.ts'
import type { AnswerWords } from './answer-words.ts'
import { FIRST_MOMENT, LAST_MOMENT, parseEnd, parseMoment } from './values/moment.ts'
import { DEFAULT_CURRENCY, listValues, type CharValue, type Price } from './price.ts'
import { ensureId } from './price-id.ts'
import type { PriceRow } from './row-table.ts'
import type { KnownTypes, LearnedTypes, Terms } from './terms.ts'
import { formatTypeConflict, getValueType, isOfType, type CharType } from './values/term-value.ts'

/** A price with numbers instead of texts: its row contains terms; `kind` and an id that is no UUID contain words. */
export interface CodedPrice {
  readonly id: Uint8Array
  readonly row: PriceRow
  readonly value: Amount
  readonly kind: number
}

/** The dictionary of a catalog or of an import. */
export interface PriceDictionary<Types extends KnownTypes = KnownTypes> {
  readonly terms: Terms
  readonly words: AnswerWords
  readonly types: Types
}

/** The reason that a price is rejected: an error code and its detail. */
export interface PriceProblem {
  readonly code: 'TYPE_CONFLICT' | 'DUPLICATE_CHARACTERISTIC' | 'INVALID_DATE_RANGE' | 'VALUE_NOT_STORABLE'
  readonly detail: string
}

/** Returns a problem of a price that can be found without the catalog; undefined if there is none. */
function findPriceProblem({ charValues, from, to }: Price): PriceProblem | undefined {
  const chars = new Set<string>()
  for (const { char } of charValues) {
    if (chars.has(char)) return { code: 'DUPLICATE_CHARACTERISTIC', detail: char }
    chars.add(char)
  }
  if (from !== undefined && to !== undefined && parseEnd(to)! <= parseMoment(from)!)
    return { code: 'INVALID_DATE_RANGE', detail: `${from} to ${to}` }
  return undefined
}

/** Returns the problem of the first value that does not have the type of its characteristic. */
function findTypeProblem({ charValues }: Price, terms: Terms, types: KnownTypes): PriceProblem | undefined {
  for (const { char, value } of charValues) {
    const code = terms.chars.getCode(char)
    const type = types.get(code) ?? getCommonType(value)
    for (const one of listValues(value))
      if (!isOfType(type, one) && !types.canWiden?.(code, one))
        return { code: 'TYPE_CONFLICT', detail: formatTypeConflict(char, type) }
  }
  return undefined
}

const createValueProblem = (value: Amount): PriceProblem => ({
  code: 'VALUE_NOT_STORABLE',
  detail: `value must be a decimal of at most ${MAX_DIGITS} digits in the range of a double; received ${value}`,
})

/** Returns the type of a new characteristic with this value: texts of which not all are dates are of type `string`. */
function getCommonType(value: CharValue['value']): CharType {
  const types = listValues(value).map((one) => getValueType(one) ?? 'integer')
  return types[0] === 'date' ? (types.find((one) => one !== 'date') ?? 'date') : types[0]!
}

const readAmount = ({ value }: Price) => (typeof value === 'number' ? value : parseAmount(value))

/** Returns the problem of a price that `encodePrice` rejects; undefined if there is none. */
export const findProblem = (price: Price, terms: Terms, types: KnownTypes): PriceProblem | undefined =>
  findPriceProblem(price) ??
  (readAmount(price) === undefined ? createValueProblem(price.value) : findTypeProblem(price, terms, types))

/** Converts a price to a row of terms. New terms are added to the dictionary. */
export function toRow(price: Price, terms: Terms): PriceRow {
  const values: number[] = []
  for (const { char, value } of price.charValues) {
    const code = terms.ensureName('char', char)
    for (const one of listValues(value)) values.push(terms.ensureValue(code, one))
  }
  return {
    offering: terms.ensureName('offering', price.offeringId),
    group: terms.ensureName('group', price.groupId),
    spec: terms.ensureName('spec', price.priceSpecId),
    values,
    isDefault: price.default === true,
    chars: price.charValues.length,
    from: price.from === undefined ? FIRST_MOMENT : parseMoment(price.from)!,
    to: price.to === undefined ? LAST_MOMENT : parseEnd(price.to)!,
  }
}

/** Encodes a price. New terms are added to the dictionary, unless the price is rejected. */
export function encodePrice(price: Price, { terms, words, types }: PriceDictionary): CodedPrice | PriceProblem {
  const problem = findPriceProblem(price)
  if (problem) return problem
  const value = readAmount(price)
  if (value === undefined) return createValueProblem(price.value)
  const conflict = findTypeProblem(price, terms, types)
  if (conflict) return conflict
  return {
    id: ensureId(price.id, words),
    row: toRow(price, terms),
    value,
    kind: words.ensure({ spec: price.priceSpecId, currency: price.currency ?? DEFAULT_CURRENCY }),
  }
}

/** Encodes a price of an import like `encodePrice`. The types of its values become known. */
export function encodeImportedPrice(
  price: Price,
  dictionary: PriceDictionary<LearnedTypes>,
): CodedPrice | PriceProblem {
  const coded = encodePrice(price, dictionary)
  const { terms, types } = dictionary
  if ('row' in coded)
    for (const term of coded.row.values) types.learn(terms.getChar(term), getValueType(terms.getValue(term))!)
  return coded
}
