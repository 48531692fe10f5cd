import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { PIECE_BYTES } from '../src/import/send-import.ts'
import type { Price } from '../src/core/price.ts'
import { createPrice, startPrices, toUuid, type TestPrices } from './support/prices.ts'

// A serving thread reads the lines and sends them to the main thread in pieces. The first error in the order of the
// lines ends the import, in whatever piece it is, and then nothing is changed.

const MAX_PRICES = 4_000
const toTyped = (i: number, char: string, value: string | number, fields: Partial<Price> = {}) =>
  createPrice({ id: toUuid(i), charValues: [{ char, value }], ...fields })
/** Lines that are several pieces. */
const many = Array.from({ length: 3_500 }, (_, i) =>
  JSON.stringify(toTyped(i, 'size', `v${i}`, { priceSpecId: 'x'.repeat(200) })),
)

let prices: TestPrices
let before: string
beforeAll(async () => {
  prices = await startPrices({ data: createTemporaryFolder(), indexes: 'bitset', maxPrices: MAX_PRICES })
  await prices.import([toTyped(8_001, 'known', 5), toTyped(8_002, 'day', '2026-01-01')])
  before = (await prices.request('GET', '/prices')).body
})
afterAll(() => prices.stop())

const bad = '{"id":'
const tooMany = Array.from({ length: MAX_PRICES + 1 }, (_, i) => toTyped(i, 'size', 'v'))

it.each<[string, readonly unknown[], string, string]>([
  ['the last line, without a line break', [...many, bad], 'BAD_LINE', 'line 3501: price must be'],
  ['a line of the first piece', [many[0], bad, ...many], 'BAD_LINE', 'line 2: price must be'],
  ['the first of two lines', [...many, bad, 'nonsense'], 'BAD_LINE', 'line 3501: price must be'],
  [
    'a type of an earlier piece',
    [...many, toTyped(9_000, 'size', 7)],
    'BAD_LINE',
    'line 3501: TYPE_CONFLICT size is of type string',
  ],
  [
    'a type of the catalog',
    [...many, toTyped(9_000, 'known', 'text')],
    'BAD_LINE',
    'line 3501: TYPE_CONFLICT known is of type integer',
  ],
  [
    'a text for dates of the catalog',
    [toTyped(9_000, 'day', 'text')],
    'BAD_LINE',
    'line 1: TYPE_CONFLICT day is of type date',
  ],
  ['too many prices', tooMany, 'CATALOG_FULL', `more than ${MAX_PRICES} prices`],
  ['too many prices before an invalid line', [...tooMany, bad], 'CATALOG_FULL', `more than ${MAX_PRICES} prices`],
  ['an invalid line before too many prices', [bad, ...tooMany], 'BAD_LINE', 'line 1: price must be'],
  ['too many prices together with those of the catalog', tooMany.slice(0, MAX_PRICES - 1), 'CATALOG_FULL', 'more than'],
])('%s', async (_, lines, code, detail) => {
  const { status, body } = await prices.import(lines)
  expect([status, body.code]).toEqual([code === 'BAD_LINE' ? 400 : 413, code])
  expect(body.detail).toContain(detail)
  expect((await prices.request('GET', '/prices')).body).toBe(before)
  // The failed import leaves no types.
  const other = toTyped(8_003, 'size', 1)
  expect((await prices.request('PUT', `/prices/${other.id}`, other)).status).toBe(201)
  await prices.request('DELETE', `/prices/${other.id}`)
})

it('a type may change with an import that replaces all prices of this type', async () => {
  const own = await startPrices({ data: createTemporaryFolder(), indexes: 'bitset' })
  await own.import([toTyped(1, 'known', 5), toTyped(2, 'known', 6)])
  const refused = await own.import([toTyped(3, 'other', 1), toTyped(1, 'known', 'text')])
  expect([refused.body.code, refused.body.detail]).toEqual([
    'BAD_LINE',
    'line 2: TYPE_CONFLICT known is of type integer',
  ])
  const replaced = await own.import([toTyped(1, 'known', 'text'), toTyped(2, 'known', 'text')])
  expect(replaced.body).toEqual({ imported: 2, prices: 2 })
  await own.stop()
})

it('a replacement does not compare its types with those of the catalog', async () => {
  const own = await startPrices({ data: createTemporaryFolder(), indexes: 'bitset' })
  await own.import([toTyped(1, 'known', 5)])
  expect((await own.import([toTyped(2, 'known', 'text')], '?replace=true')).body).toEqual({ imported: 1, prices: 1 })
  await own.stop()
})

it('the last of several lines with one id counts, also in another piece or offering', async () => {
  const own = await startPrices({ data: createTemporaryFolder(), indexes: 'bitset' })
  expect(many.join('\n').length).toBeGreaterThan(2 * PIECE_BYTES)
  const again = [toTyped(0, 'size', 'again', { value: 7 }), toTyped(1, 'size', 'moved', { offeringId: 'o2', value: 8 })]
  expect((await own.import([...many, ...again])).body).toEqual({ imported: 3_502, prices: 3_500 })
  for (const { id, ...price } of again) expect((await own.request('GET', `/prices/${id}`)).body).toMatchObject(price)
  await own.stop()
})
