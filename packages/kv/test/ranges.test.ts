import fc from 'fast-check'
import { expect, it } from 'vitest'
import { isIn, Ranges, type KeyRange } from '../src/core/ranges.ts'

const key = fc.string({ unit: fc.constantFrom('a', 'b', '\0', '\xff'), maxLength: 3 })
const range: fc.Arbitrary<KeyRange> = fc.oneof(
  fc.record({ start: key, end: key.filter((end) => end !== '') }),
  fc.record({ start: key }),
)
const nameOf = ({ start, end }: KeyRange) => JSON.stringify([start, end])

it('the ranges that a key is in are found, whatever came and went', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.boolean(), range), { maxLength: 60 }), fc.array(key), (steps, keys) => {
      const ranges = new Ranges<string>()
      const model = new Map<string, KeyRange>()
      for (const [isAdded, one] of steps) {
        const name = nameOf(one)
        if (isAdded === model.has(name)) continue
        if (isAdded) {
          ranges.add(one, name)
          model.set(name, one)
        } else {
          ranges.delete(one)
          model.delete(name)
        }
      }
      for (const asked of keys) {
        const found: string[] = []
        ranges.find(asked, (name) => found.push(name))
        const expected = [...model].filter(([, one]) => isIn(one, asked)).map(([name]) => name)
        expect(found.toSorted()).toEqual(expected.toSorted())
      }
    }),
  )
})

it('a key costs what it finds: of 20,000 ranges of one key each it looks at some dozens', () => {
  const ranges = new Ranges<number>()
  const count = 20_000
  let looks = 0
  const nameOf = (i: number) => String(i).padStart(8, '0')
  for (let i = 0; i < count; i++) {
    const start = nameOf(i)
    const one = {
      get start() {
        looks++
        return start
      },
      end: `${start}\0`,
    }
    ranges.add(one, i)
  }
  // What reached far is gone.
  const far = Array.from({ length: 500 }, (_, i) => ({ start: nameOf(i * 40) }))
  for (const one of far) ranges.add(one, -1)
  for (const one of far) ranges.delete(one)
  looks = 0
  const found: number[] = []
  for (let i = 0; i < 100; i++) ranges.find(nameOf(i * 199), (value) => found.push(value))
  expect(found).toEqual(Array.from({ length: 100 }, (_, i) => i * 199))
  expect(looks / 100).toBeLessThan(200)
})
