import { countCharacteristics, generatePrices, type CatalogPlan } from './catalogs.ts'

/** A catalog as a table of a database. */
export interface PriceTable {
  /** The conditions of a search, one column each; the value follows them. */
  readonly columns: readonly string[]
  /** The words of each price, and its value, which is its row number. */
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

/** Complete searches for random rows of a catalog in an in-memory database. */
export interface SearchPlan {
  readonly catalog: CatalogPlan
  /** Timed seconds, and as many before them. */
  readonly duration: number
}
