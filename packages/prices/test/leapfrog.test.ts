import fc from 'fast-check'
import { beforeAll, expect, it } from 'vitest'
import { CONTAINER_VALUES, FrozenContainers } from '../src/index/sets/frozen-containers.ts'
import { Leapfrog } from '../src/index/sets/leapfrog.ts'
import { loadRoaring } from '../src/index/sets/roaring-library.ts'
import { createRoaringSets } from '../src/index/sets/roaring-sets.ts'
import { Segment } from '../src/index/sets/segment.ts'
import { scaleRuns } from '@influencer-stats/runtime/testing/scale-runs'

let sets: ReturnType<typeof createRoaringSets>
beforeAll(async () => {
  sets = createRoaringSets(await loadRoaring())
})
const KEY_COUNT = 3

/** Values of a container: sometimes few or many, or runs of them. */
const values = fc
  .oneof(
    fc.array(fc.integer({ min: 0, max: 300 }), { maxLength: 200 }),
    fc.array(fc.integer({ min: 0, max: CONTAINER_VALUES - 1 }), { maxLength: 20 }),
    fc
      .array(fc.tuple(fc.integer({ min: 0, max: 1_000 }), fc.integer({ min: 1, max: 200 })), { maxLength: 10 })
      .map((runs) => runs.flatMap(([start, length]) => Array.from({ length }, (_, i) => start + i))),
    // A bitset.
    fc.constant(Array.from({ length: 5_000 }, (_, i) => 12 * i)),
  )
  .map((list) => new Set(list))
/** A set with its values in each of three containers. */
const set = fc.array(values, { minLength: KEY_COUNT, maxLength: KEY_COUNT })

const toOrdinals = (containers: readonly ReadonlySet<number>[]) =>
  containers.flatMap((one, key) => Array.from(one, (value) => key * CONTAINER_VALUES + value)).sort((a, b) => a - b)

it('finds the values that all sets have, container by container, or reports that it is unsuitable', () => {
  let suited = 0
  fc.assert(
    fc.property(fc.array(set, { minLength: 1, maxLength: 12 }), set, (some, common) => {
      // Sets drawn independently have almost no common values.
      const all = some.map((one) => one.map((values, key) => (values.size === 0 ? values : values.union(common[key]!))))
      const entries = all.map((one, i) => sets.createEntry(100 + i, toOrdinals(one)))
      const segment = new Segment(sets.write({ rows: [], moments: undefined, entries }))
      const positions = all.map((_, i) => segment.findPosition(100 + i))
      const containers = new FrozenContainers(segment, positions, KEY_COUNT)
      const leapfrog = new Leapfrog()
      for (let key = 0; key < KEY_COUNT; key++) {
        const expected = [...all[0]![key]!].filter((value) => all.every((one) => one[key]!.has(value)))
        leapfrog.clear(containers, CONTAINER_VALUES)
        const none = !positions.every((position, i) => {
          expect(containers.getSize(containers.getCell(position, key))).toBe(all[i]![key]!.size)
          return leapfrog.add(containers, containers.getCell(position, key))
        })
        if (none) expect(expected).toEqual([])
        else if (leapfrog.isSuitable) {
          suited++
          expect([...leapfrog.found.subarray(0, leapfrog.run())]).toEqual(expected.sort((a, b) => a - b))
        }
      }
    }),
    { numRuns: scaleRuns(200) },
  )
  expect(suited).toBeGreaterThan(15)
})
