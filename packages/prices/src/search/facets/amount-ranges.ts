import { forEachInTurns } from '@influencer-stats/runtime/async/yield'
import { toJsonAmount } from '../../core/price-json.ts'
import type { SearchQuery } from '../../core/search-query.ts'
import { compareAmounts, type Amount } from '../../core/values/amount.ts'
import type { RowFinder } from '../../index/price-index.ts'
import type { CatalogView } from '../catalog-view.ts'
import { findAllRows } from '../find-all.ts'

/** The values of the prices of one currency. */
export interface AmountRange {
  readonly currency: string
  readonly min: Amount
  readonly max: Amount
  /** Number of prices. */
  readonly count: number
}

/**
 * Returns the ranges of the prices that match a query, in the order of currencies, as `JSON.stringify` writes them with
 * all digits. It yields to the event loop meanwhile.
 */
export async function computeAmountRanges(
  query: SearchQuery,
  view: CatalogView,
  index: RowFinder,
): Promise<AmountRange[]> {
  const ranges = new Map<string, AmountRange>()
  for await (const rows of findAllRows(query, view, index))
    await forEachInTurns(rows.length, (i) => {
      const amount = view.getAmount(rows[i]!)
      const currency = view.getCurrency(rows[i]!)
      const { min, max, count } = ranges.get(currency) ?? { min: amount, max: amount, count: 0 }
      ranges.set(currency, {
        currency,
        min: compareAmounts(amount, min) < 0 ? amount : min,
        max: compareAmounts(amount, max) > 0 ? amount : max,
        count: count + 1,
      })
    })
  return [...ranges.values()]
    .sort((a, b) => (a.currency < b.currency ? -1 : 1))
    .map(({ min, max, ...rest }) => ({ ...rest, min: toJsonAmount(min), max: toJsonAmount(max) }))
}
