import fc from 'fast-check'
import { expect, it } from 'vitest'
import { RowOrder } from '../src/core/row-order.ts'
import { AnswerWords } from '../src/core/answer-words.ts'
import { ensureId } from '../src/core/price-id.ts'
import { TopN } from '../src/core/collections/top-n.ts'
import { toUuid } from './support/prices.ts'

// UUIDs that differ in late bytes, in early bytes, and in bytes above 127; and texts in several scripts.
const byte = fc.constantFrom('00', '01', '7f', '80', 'ff')
const alike = fc
  .tuple(byte, byte, byte)
  .map(([first, middle, last]) => `${first}000000-0000-4000-${middle}00-0000000000${last}`)
const text = fc.oneof(
  fc.string({ unit: 'grapheme', minLength: 1, maxLength: 4 }),
  fc.constantFrom('\u{1f600}', '\uff21', 'A', 'a', 'import', 'ffffffff-ffff-ffff-ffff-ffffffffffff'),
)
const ids = fc.uniqueArray(fc.oneof(fc.uuid(), alike, text), { maxLength: 200 })

const isUuid = (id: string) =>
  /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(id) && !/f{4}(-f{4}){2}-f{12}$/.test(id)
const toSortKey = (id: string) => `${isUuid(id) ? 0 : 1}${Buffer.from(id).toString('hex')}`

it('rows are in the order of their ids, from a given id on', () => {
  fc.assert(
    fc.property(ids, fc.option(fc.oneof(fc.nat(), text), { nil: undefined }), (all, start) => {
      const after = typeof start === 'number' ? all[start % all.length] : start
      const words = new AnswerWords()
      const order = new RowOrder(words, after)
      all.forEach((id, row) => order.add(ensureId(id, words), row))
      const expected = all
        .filter((id) => after === undefined || toSortKey(id) > toSortKey(after))
        .sort((a, b) => (toSortKey(a) < toSortKey(b) ? -1 : 1))
      expect(order.size).toBe(expected.length)
      expect([...order.takeRows()].map((row) => all[row])).toEqual(expected)
    }),
  )
})

it('sorts more rows than one run holds', () => {
  const words = new AnswerWords()
  const order = new RowOrder(words, toUuid(99))
  const numbers = Array.from({ length: 10_000 }, (_, i) => (i * 7_919) % 10_000)
  for (const number of numbers) order.add(ensureId(toUuid(number), words), number)
  expect([...order.takeRows()]).toEqual(Array.from({ length: 9_900 }, (_, i) => i + 100))
})

const values = fc.constantFrom<(number | string)[]>(
  -1,
  0,
  1.1,
  '1.10',
  '9007199254740993',
  9007199254740992,
  '0.30000000000000001',
  0.3,
)
/** Returns a value multiplied by 10 ** 20. */
const toUnits = (value: number | string): bigint => {
  const [whole, fraction = ''] = String(value).split('.')
  return BigInt(whole! + fraction.padEnd(20, '0'))
}

it('rows are in the order of their exact values, then of their ids, from a given row on', () => {
  const rows = fc.uniqueArray(fc.record({ id: fc.nat(99), value: values }), { selector: ({ id }) => id, maxLength: 60 })
  fc.assert(
    fc.property(rows, fc.boolean(), fc.option(fc.nat(), { nil: undefined }), (all, isDescending, start) => {
      const first = start === undefined ? undefined : all[start % all.length]
      const sign = isDescending ? -1 : 1
      const compare = (a: (typeof all)[0], b: (typeof all)[0]) =>
        sign * Number(toUnits(a.value) - toUnits(b.value)) || a.id - b.id
      const words = new AnswerWords()
      const getAmount = (row: number) => all[row]!.value
      const after = first && toUuid(first.id)
      const order = new RowOrder(words, after, { isDescending, getAmount, after: first?.value })
      all.forEach(({ id }, row) => order.add(ensureId(toUuid(id), words), row))
      expect([...order.takeRows()].map((row) => all[row])).toEqual(
        all.filter((one) => !first || compare(one, first) > 0).sort(compare),
      )
    }),
  )
})

it('sorts more rows than one run holds by their values', () => {
  const words = new AnswerWords()
  const getAmount = (row: number) => row % 100
  const order = new RowOrder(words, undefined, { isDescending: true, getAmount })
  for (let row = 0; row < 5_000; row++) order.add(ensureId(toUuid(row), words), row)
  const expected = Array.from({ length: 5_000 }, (_, row) => row).sort((a, b) => (b % 100) - (a % 100) || a - b)
  expect([...order.takeRows()]).toEqual(expected)
})

it('TopN selects the lowest of any number of values', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 60 })), fc.integer({ min: 1, max: 9 }), (all, limit) => {
      const lowest = new TopN<number>(limit, (a, b) => a - b)
      for (const one of all) lowest.add(one)
      const sorted = all.toSorted((a, b) => a - b)
      expect(lowest.take()).toEqual({ list: sorted.slice(0, limit), more: sorted.length > limit })
    }),
  )
})
