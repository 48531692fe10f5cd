import { isStorable } from './decimal.ts'
import { isObject, JsonNumber, type Json, type JsonObject } from './json-text.ts'
import type { Code } from './model-reply.ts'
import { formatFrom, formatTo, parseFrom, parseMoment, parseTo } from './moments.ts'
import { isRange, isSameItem, toItems, type ModelCharValue, type IntegerRange, type Item } from './model-values.ts'

/** A price in the model. */
export interface ModelPrice {
  readonly id: string
  readonly offeringId: string
  readonly groupId: string
  readonly priceSpecId: string
  readonly charValues: readonly { readonly char: string; readonly value: ModelCharValue }[]
  /** As written. */
  readonly value: string
  readonly currency: string
  readonly isDefault: boolean
  /** The first minute, and the first minute that is not included; infinite without a date. */
  readonly from: number
  readonly to: number
}

/** The prices by id, in the order in which they were added. */
export type Prices = ReadonlyMap<string, ModelPrice>

/** Returns all values of a characteristic, those of lists one by one. */
export const listItems = (prices: Iterable<ModelPrice>, char: string): Item[] =>
  [...prices].flatMap(({ charValues }) => charValues.flatMap((one) => (one.char === char ? toItems(one.value) : [])))

const UUID_PATTERN = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/i
const isUuid = (id: string) => UUID_PATTERN.test(id)
export const normalizeId = (id: string): string => (isUuid(id) ? id.toLowerCase() : id)
export const isId = (id: Json | undefined): id is string =>
  typeof id === 'string' &&
  id.isWellFormed() &&
  id !== '' &&
  id !== 'import' &&
  Buffer.byteLength(id) <= 128 &&
  !/\p{Cc}/u.test(id)

const isText = (id: string) => !isUuid(id) || /f{4}-f{4}-f{4}-f{12}$/i.test(id)

/** UUIDs come first, except those that end with 24 times `f`. Texts are in the order of their UTF-8 bytes. */
export function compareIds(a: string, b: string): number {
  if (isText(a) !== isText(b)) return isText(a) ? 1 : -1
  return Buffer.compare(Buffer.from(a), Buffer.from(b))
}

const isName = (text: Json | undefined): text is string =>
  typeof text === 'string' && text.isWellFormed() && text !== '' && !text.includes('\0') && [...text].length <= 256

function readInteger(json: Json | undefined): number | undefined {
  const number = json instanceof JsonNumber ? Number(json.text) : NaN
  return Number.isSafeInteger(number) ? number : undefined
}

function readRange({ from, to, ...rest }: JsonObject): IntegerRange | undefined {
  const [first, last] = [readInteger(from), readInteger(to)]
  if (Object.keys(rest).length > 0 || (from ?? to) === undefined) return undefined
  if ((from !== undefined && first === undefined) || (to !== undefined && last === undefined)) return undefined
  return { ...(first !== undefined && { from: first }), ...(last !== undefined && { to: last }) }
}

const isReversed = (item: Item) => isRange(item) && (item.to ?? Infinity) < (item.from ?? -Infinity)

function readItem(json: Json | undefined): Item | undefined {
  if (typeof json === 'boolean') return json
  if (typeof json === 'string') return isName(json) ? json : undefined
  return isObject(json) ? readRange(json) : readInteger(json)
}

function readCharValue(json: Json | undefined): ModelCharValue | undefined {
  if (!Array.isArray(json)) return readItem(json)
  const items = (json as readonly Json[]).map(readItem)
  if (items.length === 0 || items.length > 100 || items.includes(undefined)) return undefined
  const repeats = items.some((item, i) => items.slice(0, i).some((other) => isSameItem(other!, item!)))
  if (repeats) return undefined
  // A list of one value is this value.
  return items.length === 1 ? items[0] : (items as Item[])
}

function readCharValues(json: Json | undefined): ModelPrice['charValues'] | undefined {
  if (!Array.isArray(json) || json.length > 100) return undefined
  const read = (json as readonly Json[]).map((one) => {
    if (!isObject(one) || Object.keys(one).length !== 2 || !isName(one.char)) return undefined
    const value = readCharValue(one.value)
    return value === undefined ? undefined : { char: one.char, value }
  })
  return read.includes(undefined) ? undefined : (read as ModelPrice['charValues'])
}

const FIELDS = new Set('id offeringId groupId priceSpecId charValues value currency default from to'.split(' '))

const isOptional = (json: Json | undefined, isValid: (json: Json) => boolean) => json === undefined || isValid(json)
const isMomentText = (json: Json) => typeof json === 'string' && parseMoment(json) !== undefined

/** Reads a price, without a comparison with other prices. @returns its code if it is refused */
export function readPrice(json: Json, id: string): ModelPrice | Code {
  if (!isObject(json) || !Object.keys(json).every((name) => FIELDS.has(name))) return 'VALIDATION_FAILED'
  const { offeringId, groupId, priceSpecId, value, currency, default: isDefault, from, to } = json
  const charValues = readCharValues(json.charValues)
  if (!isName(offeringId) || !isName(groupId) || !isName(priceSpecId) || !charValues) return 'VALIDATION_FAILED'
  if (charValues.some(({ value: one }) => toItems(one).some(isReversed))) return 'VALIDATION_FAILED'
  const isCurrency = (one: Json) => typeof one === 'string' && /^[A-Z]{3}$/.test(one)
  if (!isOptional(currency, isCurrency) || !isOptional(isDefault, (one) => typeof one === 'boolean'))
    return 'VALIDATION_FAILED'
  if (!isOptional(from, isMomentText) || !isOptional(to, isMomentText)) return 'VALIDATION_FAILED'
  if (!(value instanceof JsonNumber) && typeof value !== 'string') return 'VALIDATION_FAILED'
  const valueText = value instanceof JsonNumber ? value.text : value
  if (!isOptional(json.id, isId)) return 'VALIDATION_FAILED'
  if (json.id !== undefined && normalizeId(json.id as string) !== normalizeId(id)) return 'ID_MISMATCH'
  if (new Set(charValues.map(({ char }) => char)).size < charValues.length) return 'DUPLICATE_CHARACTERISTIC'
  const price = {
    id: normalizeId(id),
    offeringId,
    groupId,
    priceSpecId,
    charValues,
    value: valueText,
    currency: (currency as string | undefined) ?? 'USD',
    isDefault: isDefault === true,
    from: from === undefined ? -Infinity : parseFrom(from as string),
    to: to === undefined ? Infinity : parseTo(to as string),
  }
  if (price.from >= price.to) return 'INVALID_DATE_RANGE'
  return isStorable(valueText) ? price : 'VALUE_NOT_STORABLE'
}

const itemToJson = (item: Item): Json => {
  if (typeof item === 'number') return new JsonNumber(String(item))
  if (!isRange(item)) return item
  return Object.fromEntries(Object.entries(item).map(([name, end]) => [name, new JsonNumber(String(end))]))
}

/** Returns a value of a characteristic as clients read it. */
export const valueToJson = (value: ModelCharValue): Json =>
  Array.isArray(value) ? toItems(value).map(itemToJson) : itemToJson(value as Item)

/** Returns a price as clients read it. */
export function toJson({ id, offeringId, groupId, priceSpecId, charValues, ...rest }: ModelPrice): JsonObject {
  const { value, currency, isDefault, from, to } = rest
  return {
    id,
    offeringId,
    groupId,
    priceSpecId,
    charValues: charValues.map((one) => ({ char: one.char, value: valueToJson(one.value) })),
    value: new JsonNumber(value),
    currency,
    ...(isDefault && { default: true }),
    ...(from > -Infinity && { from: formatFrom(from) }),
    ...(to < Infinity && { to: formatTo(to) }),
  }
}

/** Returns a price as a search finds it. */
export const toAnswer = ({ id, priceSpecId, value, currency }: ModelPrice): JsonObject => ({
  id,
  spec: priceSpecId,
  value: new JsonNumber(value),
  currency,
})
