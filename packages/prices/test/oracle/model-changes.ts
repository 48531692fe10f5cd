import { isObject, JsonNumber, type Json, type JsonObject } from './json-text.ts'
import { matchAll, type ModelQuery } from './model-conditions.ts'
import { getType, isOfType, toItems, type ModelType } from './model-values.ts'
import { isId, listItems, normalizeId, readPrice, toJson, type ModelPrice, type Prices } from './model-price.ts'
import { toRefusal, type ModelReply } from './model-reply.ts'

/** A change that a client requests. */
export type ModelChange =
  | { readonly type: 'put' | 'patch'; readonly id: string; readonly body: Json }
  | { readonly type: 'delete'; readonly id: string }
  | { readonly type: 'remove-where'; readonly query: ModelQuery; readonly dryRun: boolean; readonly expected?: number }
  | {
      readonly type: 'import'
      readonly lines: readonly Json[]
      /** The same lines as CSV. */
      readonly csv?: string
      readonly replace: boolean
      readonly empty: boolean
    }

type ChangeOf<T extends ModelChange['type']> = Extract<ModelChange, { readonly type: T }>

/** The prices after a change, and its reply. */
export interface ModelOutcome {
  readonly prices: Prices
  readonly reply: ModelReply
}

/** Adds a price. One that changes its offering counts as added again. */
function addPrice(prices: Map<string, ModelPrice>, price: ModelPrice): void {
  if (prices.get(price.id)?.offeringId !== price.offeringId) prices.delete(price.id)
  prices.set(price.id, price)
}

/** True if a price has a value of another type than the other prices. */
function hasTypeConflict(price: ModelPrice, prices: Prices): boolean {
  const others = [...prices.values()].filter(({ id }) => id !== price.id)
  return price.charValues.some(({ char, value }) => {
    const types = [listItems(prices.values(), char), listItems(others, char)].map(getType)
    const first = getType(toItems(value).slice(0, 1))!
    const own = first === 'date' ? 'string' : first
    return !types.some((type) => toItems(value).every((item) => isOfType(type ?? own, item)))
  })
}

function put(prices: Prices, id: string, body: Json): ModelOutcome {
  const price = isId(id) ? readPrice(body, id) : 'VALIDATION_FAILED'
  if (typeof price === 'string') return { prices, reply: toRefusal(price) }
  if (hasTypeConflict(price, prices)) return { prices, reply: toRefusal('TYPE_CONFLICT') }
  const after = new Map(prices)
  addPrice(after, price)
  return { prices: after, reply: { status: prices.has(price.id) ? 200 : 201, body: toJson(price) } }
}

/** RFC 7396. */
function mergePatch(target: Json | undefined, patch: Json): Json {
  if (!isObject(patch)) return patch
  const merged: Record<string, Json> = isObject(target) ? { ...(target as Record<string, Json>) } : {}
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete merged[name]
    // JSON has no undefined fields.
    else if (value !== undefined) merged[name] = mergePatch(merged[name], value)
  }
  return merged
}

/** A valid price with which a patch is validated. */
const ANY_PRICE = { offeringId: 'o', groupId: 'g', priceSpecId: 's', charValues: [], value: '1' }

function patch(prices: Prices, id: string, body: Json): ModelOutcome {
  const price = prices.get(normalizeId(id))
  const read = isObject(body) ? readPrice(mergePatch(ANY_PRICE, body), id) : 'VALIDATION_FAILED'
  if (read === 'VALIDATION_FAILED' || read === 'ID_MISMATCH') return { prices, reply: toRefusal(read) }
  if (!price) return { prices, reply: toRefusal('PRICE_NOT_FOUND') }
  return put(prices, id, mergePatch(toJson(price), body))
}

function remove(prices: Prices, id: string): ModelOutcome {
  const after = new Map(prices)
  return after.delete(normalizeId(id))
    ? { prices: after, reply: { status: 204 } }
    : { prices, reply: toRefusal('PRICE_NOT_FOUND') }
}

function removeWhere(prices: Prices, change: ChangeOf<'remove-where'>): ModelOutcome {
  const matches = matchAll(prices, change.query)
  if (!Array.isArray(matches)) return { prices, reply: toRefusal(matches) }
  const { dryRun, expected = matches.length } = change
  if (expected !== matches.length) return { prices, reply: toRefusal('MATCH_COUNT') }
  const after = new Map(prices)
  if (!dryRun) for (const { id } of matches) after.delete(id)
  const body = { matched: toCount(matches.length), deleted: toCount(dryRun ? 0 : matches.length) }
  return { prices: after, reply: { status: 200, body } }
}

const toCount = (count: number) => new JsonNumber(String(count))

/** Reads the lines of an import. Types must agree with those of earlier lines, and of the prices that it does not replace. */
function readLines(lines: readonly Json[], known: Prices): Map<string, ModelPrice> | undefined {
  const read = new Map<string, ModelPrice>()
  const all: ModelPrice[] = []
  const types = new Map<string, ModelType>()
  for (const line of lines) {
    const id = isObject(line) ? (line as JsonObject).id : undefined
    const price = isId(id) ? readPrice(line, id) : 'VALIDATION_FAILED'
    if (typeof price === 'string') return undefined
    for (const { char, value } of price.charValues) {
      for (const item of toItems(value)) {
        const type = types.get(char)
        const found = getType([item])!
        const widens = type === 'date' && found === 'string'
        if (type && !widens && !isOfType(type, item)) return undefined
        if (!type || widens) types.set(char, found)
      }
    }
    addPrice(read, price)
    all.push(price)
  }
  const others = [...known.values()].filter(({ id }) => !read.has(id))
  const isFitting = ({ charValues }: ModelPrice) =>
    charValues.every(({ char, value }) => {
      const stored = getType(listItems(others, char))
      return !stored || toItems(value).every((item) => isOfType(stored, item))
    })
  return all.every(isFitting) ? read : undefined
}

function importLines(prices: Prices, change: ChangeOf<'import'>): ModelOutcome {
  const { lines, replace, empty } = change
  const read = readLines(lines, replace ? new Map() : prices)
  if (!read) return { prices, reply: toRefusal('BAD_LINE') }
  if (replace && !empty && lines.length === 0) return { prices, reply: toRefusal('IMPORT_EMPTY') }
  const after = new Map(replace ? [] : prices)
  for (const price of read.values()) addPrice(after, price)
  const body: JsonObject = { imported: toCount(lines.length), prices: toCount(after.size) }
  return { prices: after, reply: { status: 200, body } }
}

/** Makes a change in the model. */
export function applyChange(prices: Prices, change: ModelChange): ModelOutcome {
  if (change.type === 'delete') return remove(prices, change.id)
  if (change.type === 'import') return importLines(prices, change)
  if (change.type === 'remove-where') return removeWhere(prices, change)
  return (change.type === 'put' ? put : patch)(prices, change.id, change.body)
}
