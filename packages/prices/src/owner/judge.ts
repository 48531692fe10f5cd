import { faultOf, learnTypes, toRow, typeFaultOf, type AnswerKinds } from '../core/draft.ts'
import { DEFAULT_CURRENCY, type Price } from '../core/price.ts'
import type { LearnedTypes, Terms } from '../core/terms.ts'
import { uuidBytes } from '../core/uuid.ts'
import { errors } from '../errors.ts'
import { editsOf, type Coded, type Edit, type Known } from './edits.ts'
import type { Pending } from './groups.ts'

/** A price to put; without one it is to be removed. */
export interface SingleChange {
  /** Its id. */
  readonly key: string
  readonly price?: Price
}

/** What changes are judged by. */
interface Catalog extends Known {
  /** They learn the words of prices that are taken. */
  readonly terms: Terms
  readonly kinds: AnswerKinds
  /** They learn what the prices of the group add to them. */
  readonly types: LearnedTypes
  /** @throws Problem `CATALOG_FULL` where so many more prices would be too many */
  makeRoom(more: number): void
}

/** Refuses the changes of different prices that cannot be made. @returns what the others come to, and how to settle them */
export function judge(
  group: readonly Pending<SingleChange, boolean>[],
  catalog: Catalog,
): { edits: Edit[]; settle: () => void } {
  const puts: Coded[] = []
  const removed: Edit[] = []
  const settled: (() => void)[] = []
  let came = 0
  for (const { change, resolve, reject } of group) {
    const id = uuidBytes(change.key)
    const row = catalog.find(id)
    const { price } = change
    try {
      if (price) {
        if (row < 0) catalog.makeRoom(came + 1)
        puts.push(coded(id, price, catalog))
        if (row < 0) came++
      } else if (row >= 0) {
        removed.push({ row, before: catalog.rowAt(row), after: undefined, id, value: 0, kind: 0 })
        came--
      }
      settled.push(() => resolve(price ? row < 0 : row >= 0))
    } catch (error) {
      reject(error)
    }
  }
  return { edits: [...removed, ...editsOf(puts, catalog)], settle: () => settled.forEach((settle) => settle()) }
}

/** Nothing is learned of a price that is refused. */
function coded(id: Uint8Array, price: Price, { terms, kinds, types }: Catalog): Coded {
  const fault = faultOf(price) ?? typeFaultOf(price, terms, types)
  if (fault) throw errors[fault.code](fault.detail)
  const row = toRow(price, terms)
  learnTypes(row, terms, types)
  return { id, row, value: price.value, kind: kinds.codeOf(price.priceSpecId, price.currency ?? DEFAULT_CURRENCY) }
}
