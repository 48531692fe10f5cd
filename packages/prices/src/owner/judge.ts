import { faultOf, toRow, typeFaultOf, type AnswerKinds } from '../core/draft.ts'
import { DEFAULT_CURRENCY, type Price } from '../core/price.ts'
import type { Terms } from '../core/terms.ts'
import { uuidBytes } from '../core/uuid.ts'
import { errors } from '../errors.ts'
import { editsOf, place, type Coded, type Edit, type Known, type Placed } from './edits.ts'
import type { Pending } from '../groups.ts'
import type { TypesAhead } from './term-counts.ts'

/** A price to put; without one it is to be removed. */
export interface SingleChange {
  /** Its id. */
  readonly key: string
  readonly price?: Price
  /** So many prices there may be; by default as many as this process lets there be. */
  readonly most?: number
}

/** What changes are judged by. */
interface Catalog extends Known {
  /** They learn the words of prices that are taken. */
  readonly terms: Terms
  readonly kinds: AnswerKinds
  /** They are told what becomes of each row. */
  readonly types: TypesAhead
  /** @throws Problem `CATALOG_FULL` where so many more prices would be too many */
  makeRoom(more: number, most: number | undefined): void
}

/**
 * Refuses the changes of different prices that cannot be made: each is judged by what those before it will have left, so
 * that it does not matter which of them come together. @returns what the others come to, and how to settle them */
export function judge(
  group: readonly Pending<SingleChange, boolean>[],
  catalog: Catalog,
): { edits: Edit[]; settle: () => void } {
  const puts: Placed[] = []
  const removed: Edit[] = []
  const settled: (() => void)[] = []
  let came = 0
  for (const { change, resolve, reject } of group) {
    const id = uuidBytes(change.key)
    const { found, before } = place(id, catalog)
    const { price, most } = change
    try {
      if (price) {
        if (!before) catalog.makeRoom(came + 1, most)
        const put = coded(id, price, catalog)
        puts.push({ ...put, found, before })
        catalog.types.move(before, put.row)
        if (!before) came++
      } else if (before) {
        removed.push({ row: found, before, after: undefined, id, value: 0, kind: 0 })
        catalog.types.move(before, undefined)
        came--
      }
      settled.push(() => resolve(price ? !before : before !== undefined))
    } catch (error) {
      reject(error)
    }
  }
  return { edits: [...removed, ...editsOf(puts, catalog.rows)], settle: () => settled.forEach((settle) => settle()) }
}

/** Nothing is learned of a price that is refused. */
function coded(id: Uint8Array, price: Price, { terms, kinds, types }: Catalog): Coded {
  const fault = faultOf(price) ?? typeFaultOf(price, terms, types)
  if (fault) throw errors[fault.code](fault.detail)
  return {
    id,
    row: toRow(price, terms),
    value: price.value,
    kind: kinds.codeOf(price.priceSpecId, price.currency ?? DEFAULT_CURRENCY),
  }
}
