import { countCharacteristics, generatePrices, type CatalogPlan } from '../load/requests/catalogs.ts'

/** A catalog as a table of a database, in which the value follows the other columns. */
export interface PriceTable {
  /** Names of the columns that are conditions of a search. */
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

/** A measurement of complete searches for random rows of a catalog in an in-memory database. */
export interface SearchPlan {
  readonly catalog: CatalogPlan
  /** Measured seconds, and the seconds of the warm-up. */
  readonly duration: number
}
