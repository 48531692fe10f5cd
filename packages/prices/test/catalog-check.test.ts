import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { scaleRuns } from '@influencer-stats/runtime/testing/scale-runs'
import { checkPrices, MAX_PROBLEMS, type CheckOptions, type CheckProblem } from '../src/check/catalog-check.ts'
import type { CharValue, Price } from '../src/core/price.ts'
import { stringifyPrice } from '../src/core/price-json.ts'
import { formatCsv } from '../src/csv/write-csv.ts'
import { createPrice, toUuid } from './support/prices.ts'

async function* toChunks(text: string, size = 1_000) {
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

const toLines = (lines: readonly (Price | string)[]) =>
  lines.map((line) => (typeof line === 'string' ? line : stringifyPrice(line))).join('\n')

const check = (lines: readonly (Price | string)[], options: Partial<CheckOptions> = {}) =>
  checkPrices(toChunks(toLines(lines)), { format: 'ndjson', ...options })

/** Returns the problems without their texts. */
const list = (problems: readonly CheckProblem[]) =>
  problems.map(({ code, line, other }) => (other === undefined ? [code, line] : [code, line, other]))

const listProblems = async (...lines: (Price | string)[]) => list((await check(lines)).problems)
const base = { charValues: [{ char: 'Term', value: '12' }] }
const price = (fields: Partial<Price> = {}) => createPrice({ ...base, ...fields })

it('lists all invalid lines', async () => {
  const report = await check([
    price(),
    '{"id":',
    '',
    price({ charValues: [{ char: 'Term', value: 12 }] }),
    stringifyPrice(price()).replace('"value":1', '"colour":1'),
    `"${'x'.repeat(70_000)}"`,
    price({ value: '1.'.padEnd(40, '3') }),
    price({ from: '2026-02-01', to: '2026-01-01' }),
    price({ offeringId: 'o2' }),
  ])
  expect(report).toMatchObject({ prices: 2, more: false })
  expect(report.problems.map(({ code, line, detail }) => [code, line, detail.slice(0, 22)])).toEqual([
    ['BAD_LINE', 2, 'price must be valid JS'],
    ['BAD_LINE', 4, 'TYPE_CONFLICT Term is '],
    ['BAD_LINE', 5, 'price must have the pr'],
    ['BAD_LINE', 6, 'must be at most 65536 '],
    ['BAD_LINE', 7, 'VALUE_NOT_STORABLE val'],
    ['BAD_LINE', 8, 'INVALID_DATE_RANGE 202'],
  ])
})

it('compares the types with those of a catalog', async () => {
  const { problems } = await check([price()], { types: new Map([['Term', 'integer']]) })
  expect(list(problems)).toEqual([['BAD_LINE', 1]])
})

it('lists the lines of a CSV file', async () => {
  const csv = formatCsv([price(), price({ offeringId: 'two\nlines' }), price({ value: 2 })])
  const problems = async (text: string) => list((await checkPrices(toChunks(text, 7), { format: 'csv' })).problems)
  expect(await problems(csv)).toEqual([['OVERLAPPING_PRICES', 5, 2]])
  expect(await problems(csv.replace(',2,', ',two,').replace('"two\nlines"', '"t"x'))).toEqual([
    ['BAD_LINE', 3],
    ['BAD_LINE', 4],
  ])
  expect(await problems(`colour\n${csv}`)).toEqual([['BAD_LINE', 1]])
})

describe('prices with the same conditions', () => {
  it.each<[string, Partial<Price>, Partial<Price>, string | undefined]>([
    ['without dates', {}, {}, 'REPEATED_PRICE'],
    ['with another value', {}, { value: 2 }, 'OVERLAPPING_PRICES'],
    ['with the same value, written otherwise', { value: '1.10' }, { value: 1.1 }, 'REPEATED_PRICE'],
    [
      'with values that are equal as doubles',
      { value: '9007199254740993' },
      { value: 9007199254740992 },
      'OVERLAPPING_PRICES',
    ],
    [
      'with equal values beyond a double',
      { value: '9007199254740993' },
      { value: '9007199254740993.0' },
      'REPEATED_PRICE',
    ],
    ['in another currency', {}, { currency: 'EUR', value: 2 }, undefined],
    ['in the default currency', {}, { currency: 'USD', value: 2 }, 'OVERLAPPING_PRICES'],
    ['of another offering', {}, { offeringId: 'o2', value: 2 }, undefined],
    ['of another spec', {}, { priceSpecId: 'NRC', value: 2 }, undefined],
    ['with fewer characteristics', {}, { charValues: [], value: 2 }, undefined],
    ['and a default', { default: true }, { value: 2 }, undefined],
    ['and two defaults of one start', { default: true }, { default: true, value: 2 }, 'OVERLAPPING_PRICES'],
    [
      'and two defaults, of which one starts later',
      { default: true },
      { default: true, value: 2, from: '2026-01-01' },
      undefined,
    ],
    ['on days that follow each other', { to: '2026-01-31' }, { from: '2026-02-01', value: 2 }, undefined],
    ['on a common day', { to: '2026-01-31' }, { from: '2026-01-31', value: 2 }, 'OVERLAPPING_PRICES'],
    [
      'from the minute at which the first one ends',
      { to: '2026-01-31T17:00Z' },
      { from: '2026-01-31T18:00+01:00', value: 2 },
      undefined,
    ],
    [
      'from a minute before',
      { to: '2026-01-31T17:01Z' },
      { from: '2026-01-31T18:00+01:00', value: 2 },
      'OVERLAPPING_PRICES',
    ],
  ])('%s', async (_, one, other, code) => {
    const expected = code ? [[code, 2, 1]] : []
    expect(await listProblems(price(one), price(other))).toEqual(expected)
    expect(await listProblems(price(other), price(one))).toEqual(expected)
  })

  it('are the same in any order of characteristics', async () => {
    const charValues = [
      { char: 'a', value: 1 },
      { char: 'b', value: 'x' },
    ]
    expect(await listProblems(price({ charValues }), price({ charValues: charValues.toReversed() }))).toEqual([
      ['REPEATED_PRICE', 2, 1],
    ])
  })

  it.each<[CharValue['value'], CharValue['value'], boolean]>([
    [['DE', 'AT'], ['AT', 'DE'], true],
    [['DE'], 'DE', true],
    [['DE', 'AT'], ['DE', 'CH'], false],
    [['a","b'], ['a', 'b'], false],
    [{ from: 1, to: 9 }, { to: 9, from: 1 }, true],
    [{ from: 1 }, { to: 1 }, false],
    [{ from: 5, to: 5 }, 5, false],
    [true, false, false],
    [[1, { from: 3 }], [{ from: 3 }, 1], true],
  ])('are the same if %j and %j are', async (one, other, isSame) => {
    const toPrice = (value: CharValue['value']) => price({ charValues: [{ char: 'x', value }] })
    expect(await listProblems(toPrice(one), toPrice(other))).toEqual(isSame ? [['REPEATED_PRICE', 2, 1]] : [])
  })

  it('conflict only where no default price is valid', async () => {
    const default_ = (from: string, to: string) => price({ default: true, value: 9, from, to })
    const long = price({ value: 1, from: '2026-01-01', to: '2026-12-31' })
    const short = price({ value: 2, from: '2026-05-01', to: '2026-06-30' })
    const [may, june, late] = [
      default_('2026-04-30', '2026-05-31'),
      default_('2026-06-01', '2026-07-01'),
      default_('2026-06-02', '2026-07-01'),
    ]
    const overlap = ['OVERLAPPING_PRICES', 2, 1]
    expect(await listProblems(long, short)).toEqual([overlap])
    expect(await listProblems(long, short, may)).toEqual([overlap])
    expect(await listProblems(long, short, may, june)).toEqual([['REPEATED_PRICE', 4, 3]].slice(1))
    expect(await listProblems(long, short, may, late)).toEqual([overlap])
  })

  it('replace each other if they have the same id', async () => {
    const first = price({ value: 1 })
    expect(await listProblems(first, price({ value: 2 }), { ...first, offeringId: 'o2' })).toEqual([
      ['REPEATED_ID', 3, 1],
    ])
    expect(await listProblems(first, { ...first, id: first.id.toUpperCase(), value: 3 }, price({ value: 2 }))).toEqual([
      ['REPEATED_ID', 2, 1],
      ['OVERLAPPING_PRICES', 3, 2],
    ])
  })
})

it('reports the first problems, and that there are more', async () => {
  const lines = Array.from({ length: 3 * MAX_PROBLEMS }, (_, i) => price({ value: i }))
  const { prices, problems, more } = await check(lines)
  expect([prices, more]).toEqual([lines.length, true])
  expect(list(problems)).toEqual(Array.from({ length: MAX_PROBLEMS }, (_, i) => ['OVERLAPPING_PRICES', i + 2, 1]))
  const full = await check(lines, { maxPrices: 3 })
  expect(list(full.problems).slice(-1)).toEqual([['CATALOG_FULL', 4]])
})

/** Finds conflicts by a comparison of all pairs, one minute at a time. */
function hasConflict(prices: readonly Price[], code: string): boolean {
  const days = ['2025-12-31', '2026-01-01', '2026-01-02', '2026-01-03', '2026-01-04', '2026-01-05']
  return days.some((day) => {
    const valid = prices.filter(({ from = '0', to = '9' }) => from <= day && day <= to)
    const isRepeated = valid.some((one, i) => valid.slice(i + 1).some(({ value }) => value === one.value))
    if (code === 'REPEATED_PRICE') return isRepeated
    const defaults = valid.filter((one) => one.default)
    const [start] = defaults
      .map(({ from = '' }) => from)
      .sort()
      .slice(-1)
    const chosen = defaults.length > 0 ? defaults.filter(({ from = '' }) => from === start) : valid
    return new Set(chosen.map(({ value }) => value)).size > 1
  })
}

it('finds a conflict exactly if one exists', async () => {
  const day = fc.constantFrom('2026-01-01', '2026-01-02', '2026-01-03', '2026-01-04')
  const some = fc.record(
    { value: fc.integer({ min: 1, max: 3 }), default: fc.constant(true), from: day, to: day },
    { requiredKeys: ['value'] },
  )
  const valid = some.filter(({ from = '0', to = '9' }) => from <= to)
  await fc.assert(
    fc.asyncProperty(fc.array(valid, { maxLength: 6 }), async (fields) => {
      const prices = fields.map((one, i) => price({ ...one, id: toUuid(i) }))
      const { problems } = await check(prices)
      for (const code of ['REPEATED_PRICE', 'OVERLAPPING_PRICES'])
        expect([code, problems.some((one) => one.code === code)]).toEqual([code, hasConflict(prices, code)])
    }),
    { numRuns: scaleRuns(300) },
  )
})
