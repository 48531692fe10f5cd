import { countCharacteristics, generatePrices, type CatalogPlan } from './catalogs.ts'

/** A catalog as a database of tables has it. */
export interface PriceTable {
  /** The conditions of a search, a column each; behind them stands the value. */
  readonly columns: readonly string[]
  /** What each price has in them, and its value: the number of its row. */
  readRows(): Iterable<{ readonly words: readonly string[]; readonly value: number }>
}

export const createPriceTable = (catalog: CatalogPlan): PriceTable => ({
  columns: ['offering', 'kind', 'spec', ...Array.from({ length: countCharacteristics(catalog) }, (_, i) => `c${i}`)],
  *readRows() {
    for (const { offeringId, groupId, priceSpecId, charValues, value } of generatePrices(catalog)) {
      yield { words: [offeringId, groupId, priceSpecId, ...charValues.map((pair) => String(pair.value))], value }
    }
  },
})

/** Complete searches for random rows of a catalog that lies in a database, in memory. */
export interface SearchPlan {
  readonly catalog: CatalogPlan
  /** Seconds that are timed, and as many before. */
  readonly duration: number
}
