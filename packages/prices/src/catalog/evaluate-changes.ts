import { encodePrice, type PriceDictionary } from '../core/encode-price.ts'
import { patchPrice, toStoredPrice, type Price, type PricePatch } from '../core/price.ts'
import { findId } from '../core/price-id.ts'
import { errors } from '../errors.ts'
import type { PatchedPrice } from '../messages.ts'
import { toEdits, findExisting, type RowEdit, type RowLookup, type PriceUpsert } from './row-edits.ts'
import type { PendingTypes } from './term-counts.ts'

/** A price to put, a patch of a price, or an id to remove if there is neither. */
export interface PriceChange {
  /** The id of the price. */
  readonly key: string
  readonly price?: Price
  readonly patch?: PricePatch
  /** Maximum number of prices, for a put. */
  readonly maxPrices: number
  /** True for an entry of an older version: then the types of the price's old values apply to its new ones. */
  readonly isV1?: boolean
}

/**
 * A change whose caller waits for its outcome: true if the price of a put is new, or if a removed price existed; the price
 * after a patch.
 */
export interface PendingChange {
  readonly change: PriceChange
  readonly resolve: (outcome: boolean | PatchedPrice) => void
  /** May throw the error, which then ends the evaluation. */
  readonly reject: (error: unknown) => void
}

/** The state against which changes are evaluated. */
interface EvaluationContext {
  readonly rows: RowLookup & { getPrice(id: string): Price | undefined }
  /** The dictionary, to which the terms of accepted prices are added. Each change of a row is recorded in its types. */
  readonly dictionary: PriceDictionary<PendingTypes>
  /** @throws Problem `CATALOG_FULL` if there is no capacity for the additional prices */
  checkCapacity(more: number, maxPrices: number): void
}

function patchExisting(price: Price | undefined, patch: PricePatch, id: string): Price {
  if (!price) throw errors.PRICE_NOT_FOUND(id)
  return { ...patchPrice(price, patch), id: price.id }
}

/**
 * Evaluates changes of different prices and rejects the invalid ones. Each evaluation includes the changes before it,
 * so the result does not depend on how changes are grouped.
 * @returns the edits of the accepted changes, and a function that resolves these changes
 */
export function evaluateChanges(
  group: readonly PendingChange[],
  { rows, dictionary, checkCapacity }: EvaluationContext,
): { edits: RowEdit[]; settle: () => void } {
  const puts: PriceUpsert[] = []
  const removed: RowEdit[] = []
  const settlers: (() => void)[] = []
  let added = 0
  for (const { change, resolve, reject } of group) {
    const { key, maxPrices, isV1 = false } = change
    const id = findId(key, dictionary.words)
    const { found, before } = findExisting(id, rows)
    try {
      const price = change.patch ? patchExisting(rows.getPrice(key), change.patch, key) : change.price
      if (price) {
        if (!before) checkCapacity(added + 1, maxPrices)
        let put = encodePrice(price, dictionary)
        if ('code' in put && put.code === 'TYPE_CONFLICT' && before && !isV1)
          put = dictionary.types.evaluateWithout(before, () => encodePrice(price, dictionary))
        if ('code' in put) throw errors[put.code](put.detail)
        puts.push({ ...put, found, before })
        dictionary.types.recordChange(before, put.row)
        if (!before) added++
      } else if (before) {
        removed.push({ row: found, before, after: undefined, id: id!, value: 0, kind: 0 })
        dictionary.types.recordChange(before, undefined)
        added--
      }
      const outcome = change.patch ? { price: toStoredPrice(price!) } : price ? !before : before !== undefined
      settlers.push(() => resolve(outcome))
    } catch (error) {
      reject(error)
    }
  }
  return { edits: [...removed, ...toEdits(puts, rows.rows)], settle: () => settlers.forEach((settle) => settle()) }
}
