import fc from 'fast-check'
import { expect, it } from 'vitest'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { toStoredPrice, type Price } from '../src/core/price.ts'
import type { CatalogChange } from '../src/messages.ts'
import { createPrice, toUuid } from './support/prices.ts'
import { recordWrites } from './support/power-cut.ts'
import { createTestCatalog, openTestStandalone } from './support/standalone.ts'

async function open({ maxPrices = 1e6, failing = (): boolean => false } = {}) {
  const recording = await recordWrites(createTemporaryFolder())
  const changes: CatalogChange[] = []
  const level = new Proxy(recording.level, {
    get(target: any, name) {
      if (name !== 'write') return target[name]
      return async (run: unknown) => {
        if (failing()) throw new Error('no room')
        return target.write(run)
      }
    },
  })
  const catalog = createTestCatalog(level, { onChange: async (change) => void changes.push(change) })
  const { put, remove } = await openTestStandalone(catalog, level, maxPrices)
  return { catalog, put, remove, recording, changes }
}

it('concurrent changes are one synced write and one message to the threads', async () => {
  const { put, remove, recording, changes } = await open()
  const some = Array.from({ length: 64 }, () => createPrice())
  for (const [outcome, run] of [
    [true, (price: Price) => put(price)],
    [false, (price: Price) => put({ ...price, value: 7 })],
    [true, ({ id }: Price) => remove(id)],
  ] as const) {
    const [writes, words] = [recording.length, changes.length]
    expect(await Promise.all(some.map(run))).toEqual(some.map(() => outcome))
    expect(recording.length - writes).toBe(1)
    expect(changes.length - words).toBe(1)
  }
  // A changed value does not affect the indexes. The many waiting changes are added to the rebuilt segments with the next
  // group.
  expect(changes.map(({ rows }) => rows.length)).toEqual([64, 0, 64])
  expect(changes.map(({ segments }) => segments.get('bitset')!.size)).toEqual([0, 1, 0])
  await recording.level.close()
})

it('a refused change does not affect others; a failed write rejects all its changes', async () => {
  let failing = false
  const { catalog, put, remove, recording } = await open({ maxPrices: 3, failing: () => failing })
  const typed = (id: number, value: string | number) =>
    createPrice({ id: toUuid(id), charValues: [{ char: 'size', value }] })
  const results = await Promise.allSettled([
    put(typed(1, 'large')),
    put(typed(2, 5)),
    put(typed(3, 'small')),
    put(typed(4, 'small')),
    put(typed(5, 'small')),
    remove(toUuid(6)),
  ])
  expect(results.map((one) => (one.status === 'fulfilled' ? one.status : one.reason.code))).toEqual([
    'fulfilled',
    'TYPE_CONFLICT',
    'fulfilled',
    'fulfilled',
    'CATALOG_FULL',
    'fulfilled',
  ])
  failing = true
  const failed = await Promise.allSettled([put(typed(1, 'tiny')), remove(toUuid(3)), remove(toUuid(9))])
  expect(failed.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
  failing = false
  expect((await catalog.get(toUuid(1)))!.charValues).toEqual([{ char: 'size', value: 'large' }])
  expect(await catalog.get(toUuid(3))).toBeDefined()
  expect(catalog.size).toBe(3)
  await put(typed(1, 'tiny'))
  expect((await catalog.get(toUuid(1)))!.charValues).toEqual([{ char: 'size', value: 'tiny' }])
  await recording.level.close()
})

it('concurrent changes have the same result as sequential ones', async () => {
  const change = fc.record({
    id: fc.integer({ min: 1, max: 6 }).map(toUuid),
    price: fc.option(
      fc.record({
        value: fc.integer({ min: 0, max: 3 }),
        offeringId: fc.constantFrom('a', 'b'),
        n: fc.integer({ min: 0, max: 2 }),
        default: fc.boolean(),
      }),
      { nil: undefined },
    ),
  })
  const { catalog, put, remove, recording } = await open()
  const known = new Map<string, Price>()
  await fc.assert(
    fc.asyncProperty(fc.array(fc.array(change, { maxLength: 12 }), { maxLength: 4 }), async (rounds) => {
      for (const round of rounds) {
        const expected: boolean[] = []
        const done = round.map(({ id, price }) => {
          expected.push(price ? !known.has(id) : known.has(id))
          if (!price) {
            known.delete(id)
            return remove(id)
          }
          const { n, ...rest } = price
          const changed = createPrice({ id, ...rest, charValues: [{ char: 'n', value: n }] })
          known.set(id, changed)
          return put(changed)
        })
        expect(await Promise.all(done)).toEqual(expected)
        for (let id = 1; id <= 6; id++) {
          const expected = known.get(toUuid(id))
          expect(await catalog.get(toUuid(id))).toEqual(expected && toStoredPrice(expected))
        }
        expect(catalog.size).toBe(known.size)
      }
    }),
    { numRuns: 60 },
  )
  await recording.level.close()
})
