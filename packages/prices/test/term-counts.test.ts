import { scaleRuns } from '@influencer-stats/runtime/testing/scale-runs'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { toRow } from '../src/core/encode-price.ts'
import { RowTable, type PriceRow } from '../src/core/row-table.ts'
import { findUnit, Terms } from '../src/core/terms.ts'
import { formatValue, type TermValue } from '../src/core/values/term-value.ts'
import { TermCounts } from '../src/catalog/term-counts.ts'

const single = fc.oneof(
  fc.integer({ min: 0, max: 3 }),
  fc.constantFrom<TermValue>('one', '2026-11-24', '1 m', '2 m', '1 km', true, { from: 1 }, { from: 1, to: 2 }),
)
const value = fc.oneof(single, fc.uniqueArray(single, { minLength: 2, maxLength: 3, selector: formatValue }))
const price = fc.record({
  offeringId: fc.constantFrom('o1', 'o2'),
  groupId: fc.constantFrom('g1', 'g2'),
  priceSpecId: fc.constantFrom('s1', 's2'),
  charValues: fc.uniqueArray(fc.record({ char: fc.constantFrom('a', 'b', 'c'), value }), {
    selector: (one) => one.char,
  }),
})

/** Returns all counts. */
const listCounts = (counts: TermCounts, terms: Terms) =>
  terms.list.map(({ kind }, term) => [
    counts.getCount(term),
    counts.getUsedTerms()[term],
    kind === 'char' && [counts.types.get(term), counts.getTypeCounts(term)],
  ])

it('a count of all rows at once equals a count of single rows', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.option(price, { nil: undefined }), { maxLength: 40 }), async (prices) => {
      const terms = new Terms()
      const rows = prices.map((one) => one && toRow({ id: '', value: 0, ...one }, terms))
      const table = new RowTable()
      const singly = new TermCounts(terms)
      for (const row of rows as (PriceRow | undefined)[]) {
        table.push(row)
        singly.add(row, 1)
      }
      expect(listCounts(await TermCounts.fromTable(table, terms), terms)).toEqual(listCounts(singly, terms))
    }),
    { numRuns: scaleRuns(200) },
  )
})

it('texts are quantities while all texts of existing rows have the same unit', () => {
  const terms = new Terms()
  const counts = new TermCounts(terms)
  const toTestRow = (text: string) =>
    toRow(
      { id: '', value: 0, offeringId: 'o', groupId: 'g', priceSpecId: 's', charValues: [{ char: 'a', value: text }] },
      terms,
    ) as PriceRow
  const steps = [
    ['1 m', 1, 'm'],
    ['2.5 m', 1, 'm'],
    ['1 km', 1, undefined],
    ['2.5 m', -1, undefined],
    ['1 m', -1, 'km'],
    ['2026-01-31', 1, undefined],
    ['1 km', -1, undefined],
    ['2026-01-31', -1, undefined],
    ['7', 1, ''],
    ['1 m', 1, undefined],
    ['7', -1, 'm'],
  ] as const
  for (const [text, by, unit] of steps) {
    counts.add(toTestRow(text), by)
    expect([text, by, findUnit(terms, counts.getUsedTerms(), terms.chars.find('a'))]).toEqual([text, by, unit])
  }
})
