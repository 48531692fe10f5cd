import { findPriceProblem, toRow, findTypeProblem, type AnswerKinds } from '../core/catalog-draft.ts'
import { DEFAULT_CURRENCY, type Price } from '../core/price.ts'
import type { Terms } from '../core/terms.ts'
import { parseUuid } from '../core/uuid.ts'
import { errors } from '../errors.ts'
import { toEdits, findExisting, type CodedPrice, type RowEdit, type RowLookup, type PriceUpsert } from './row-edits.ts'
import type { PendingChange } from '../change-batcher.ts'
import type { PendingTypes } from './term-counts.ts'

/** A price to put; without one it is to be removed. */
export interface PriceChange {
  /** Its id. */
  readonly key: string
  readonly price?: Price
  /** So many prices there may be; by default as many as this process lets there be. */
  readonly maxPrices?: number
}

/** What changes are judged by. */
interface EvaluationContext extends RowLookup {
  /** They learn the words of prices that are taken. */
  readonly terms: Terms
  readonly kinds: AnswerKinds
  /** They are told what becomes of each row. */
  readonly types: PendingTypes
  /** @throws Problem `CATALOG_FULL` where so many more prices would be too many */
  checkCapacity(more: number, maxPrices: number | undefined): void
}

/**
 * Refuses the changes of different prices that cannot be made: each is judged by what those before it will have left, so
 * that it does not matter which of them come together. @returns what the others come to, and how to settle them */
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
    const { price, maxPrices: most } = change
    try {
      if (price) {
        if (!before) context.checkCapacity(added + 1, most)
        const put = encodePrice(id, price, context)
        puts.push({ ...put, found, before })
        context.types.move(before, put.row)
        if (!before) added++
      } else if (before) {
        removed.push({ row: found, before, after: undefined, id, value: 0, kind: 0 })
        context.types.move(before, undefined)
        added--
      }
      settlers.push(() => resolve(price ? !before : before !== undefined))
    } catch (error) {
      reject(error)
    }
  }
  return { edits: [...removed, ...toEdits(puts, context.rows)], settle: () => settlers.forEach((settle) => settle()) }
}

/** Nothing is learned of a price that is refused. */
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
