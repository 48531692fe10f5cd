import fc from 'fast-check'
import { expect, it } from 'vitest'
import { IdOrder } from '../src/catalog/id-order.ts'
import { TopN } from '../src/search/top-n.ts'
import { parseUuid } from '../src/core/uuid.ts'
import { toUuid } from './support/prices.ts'

const toHexLines = (ids: readonly Uint8Array[]) => ids.map((id) => Buffer.from(id).toString('hex'))

it('rows are in the order of their ids, from a given id on', () => {
  // Ids that differ in late bytes, in early bytes, and in bytes above 127; more than one run.
  const byte = fc.constantFrom(0, 1, 127, 128, 255)
  const random = fc.uint8Array({ minLength: 16, maxLength: 16 })
  const alike = fc.tuple(byte, byte, byte).map(([first, middle, last]) => {
    const id = new Uint8Array(16)
    id[0] = first
    id[8] = middle
    id[15] = last
    return id
  })
  const ids = fc.uniqueArray(fc.oneof(random, alike), {
    selector: (id) => Buffer.from(id).toString('hex'),
    maxLength: 200,
  })
  fc.assert(
    fc.property(ids, fc.option(fc.nat(), { nil: undefined }), (some, at) => {
      const all = toHexLines(some)
      const after = at === undefined || some.length === 0 ? undefined : some[at % some.length]!
      const order = new IdOrder(after)
      some.forEach((id, row) => order.add(id, row))
      const expected = all.filter((id) => !after || id > Buffer.from(after).toString('hex')).sort()
      expect(order.size).toBe(expected.length)
      expect([...order.takeRows()].map((row) => all[row])).toEqual(expected)
    }),
  )
})

it('sorts more rows than one run holds', () => {
  const order = new IdOrder(parseUuid(toUuid(99)))
  const numbers = Array.from({ length: 10_000 }, (_, i) => (i * 7_919) % 10_000)
  for (const number of numbers) order.add(parseUuid(toUuid(number)), number)
  expect([...order.takeRows()]).toEqual(Array.from({ length: 9_900 }, (_, i) => i + 100))
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
