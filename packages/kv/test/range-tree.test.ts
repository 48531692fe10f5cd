import fc from 'fast-check'
import { expect, it } from 'vitest'
import { isInRange, RangeTree, type KeyRange } from '../src/core/range-tree.ts'

const key = fc.string({ unit: fc.constantFrom('a', 'b', '\0', '\xff'), maxLength: 3 })
const range: fc.Arbitrary<KeyRange> = fc.oneof(
  fc.record({ start: key, end: key.filter((end) => end !== '') }),
  fc.record({ start: key }),
)
const toName = ({ start, end }: KeyRange) => JSON.stringify([start, end])

it('finds the ranges that contain a key, after any additions and removals', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.boolean(), range), { maxLength: 60 }), fc.array(key), (steps, keys) => {
      const ranges = new RangeTree<string>()
      const model = new Map<string, KeyRange>()
      for (const [isAdded, one] of steps) {
        const name = toName(one)
        if (isAdded === model.has(name)) continue
        if (isAdded) {
          ranges.add(one, name)
          model.set(name, one)
        } else {
          ranges.delete(one)
          model.delete(name)
        }
      }
      for (const queried of keys) {
        const found: string[] = []
        ranges.findRanges(queried, (name) => found.push(name))
        const expected = [...model].filter(([, one]) => isInRange(one, queried)).map(([name]) => name)
        expect(found.toSorted()).toEqual(expected.toSorted())
      }
    }),
  )
})

it('a lookup of one among 20,000 ranges of one key compares less than 200', () => {
  const ranges = new RangeTree<number>()
  const count = 20_000
  let comparisons = 0
  const toName = (i: number) => String(i).padStart(8, '0')
  for (let i = 0; i < count; i++) {
    const start = toName(i)
    const one = {
      get start() {
        comparisons++
        return start
      },
      end: `${start}\0`,
    }
    ranges.add(one, i)
  }
  // Ranges without an end were added and removed.
  const distant = Array.from({ length: 500 }, (_, i) => ({ start: toName(i * 40) }))
  for (const one of distant) ranges.add(one, -1)
  for (const one of distant) ranges.delete(one)
  comparisons = 0
  const found: number[] = []
  for (let i = 0; i < 100; i++) ranges.findRanges(toName(i * 199), (value) => found.push(value))
  expect(found).toEqual(Array.from({ length: 100 }, (_, i) => i * 199))
  expect(comparisons / 100).toBeLessThan(200)
})
