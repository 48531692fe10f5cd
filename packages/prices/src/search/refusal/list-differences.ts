import type { Price } from '../../core/price.ts'

const FIELDS = ['offeringId', 'groupId', 'priceSpecId', 'value', 'currency', 'default', 'from', 'to'] as const

/** Returns the names of the fields and characteristics in which prices differ. */
export function listDifferences(prices: readonly Price[]): string[] {
  const chars = new Set(prices.flatMap(({ charValues }) => charValues.map(({ char }) => char)))
  const isDifferent = (read: (price: Price) => unknown) =>
    new Set(prices.map((price) => JSON.stringify(read(price)))).size > 1
  return [
    ...FIELDS.filter((field) => isDifferent((price) => price[field])),
    ...[...chars]
      .sort()
      .filter((char) => isDifferent(({ charValues }) => charValues.find((one) => one.char === char)?.value)),
  ]
}
