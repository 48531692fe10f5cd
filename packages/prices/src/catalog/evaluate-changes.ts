import { findPriceProblem, toRow, findTypeProblem, type AnswerKinds } from '../core/catalog-draft.ts'
import { DEFAULT_CURRENCY, type Price } from '../core/price.ts'
import type { Terms } from '../core/terms.ts'
import { parseUuid } from '../core/uuid.ts'
import { errors } from '../errors.ts'
import { toEdits, findExisting, type CodedPrice, type RowEdit, type RowLookup, type PriceUpsert } from './row-edits.ts'
import type { PendingChange } from './change-batcher.ts'
import type { PendingTypes } from './term-counts.ts'

/** A price to put, or an id to remove if there is no price. */
export interface PriceChange {
  /** The id of the price. */
  readonly key: string
  readonly price?: Price
  /** Maximum number of prices. The default is the limit of this process. */
  readonly maxPrices?: number
}

/** The state against which changes are evaluated. */
interface EvaluationContext extends RowLookup {
  /** The dictionary, to which new terms of accepted prices are added. */
  readonly terms: Terms
  readonly kinds: AnswerKinds
  /** The types of the characteristics, in which each change of a row is recorded. */
  readonly types: PendingTypes
  /** @throws Problem `CATALOG_FULL` if there is no capacity for the additional prices */
  checkCapacity(more: number, maxPrices: number | undefined): void
}

/**
 * Evaluates changes of different prices and rejects the invalid ones. Each evaluation includes the changes before it,
 * so the result does not depend on how changes are grouped.
 * @returns the edits of the accepted changes, and a function that resolves these changes
 */
export function evaluateChanges(
  group: readonly PendingChange<PriceChange, boolean>[],
  context: EvaluationContext,
): { edits: RowEdit[]; settle: () => void } {
  const puts: PriceUpsert[] = []
  const removed: RowEdit[] = []
  const settlers: (() => void)[] = []
  let added = 0
  for (const { change, resolve, reject } of group) {
    const id = parseUuid(change.key)
    const { found, before } = findExisting(id, context)
    const { price, maxPrices } = change
    try {
      if (price) {
        if (!before) context.checkCapacity(added + 1, maxPrices)
        const put = encodePrice(id, price, context)
        puts.push({ ...put, found, before })
        context.types.recordChange(before, put.row)
        if (!before) added++
      } else if (before) {
        removed.push({ row: found, before, after: undefined, id, value: 0, kind: 0 })
        context.types.recordChange(before, undefined)
        added--
      }
      settlers.push(() => resolve(price ? !before : before !== undefined))
    } catch (error) {
      reject(error)
    }
  }
  return { edits: [...removed, ...toEdits(puts, context.rows)], settle: () => settlers.forEach((settle) => settle()) }
}

/**
 * Encodes a price. A rejected price adds no terms to the dictionary.
 * @throws Problem `DUPLICATE_CHARACTERISTIC`, `INVALID_DATE_RANGE`, `TYPE_CONFLICT`
 */
function encodePrice(id: Uint8Array, price: Price, { terms, kinds, types }: EvaluationContext): CodedPrice {
  const problem = findPriceProblem(price) ?? findTypeProblem(price, terms, types)
  if (problem) throw errors[problem.code](problem.detail)
  return {
    id,
    row: toRow(price, terms),
    value: price.value,
    kind: kinds.ensureCode(price.priceSpecId, price.currency ?? DEFAULT_CURRENCY),
  }
}
