import fc from 'fast-check'
import { expect, it } from 'vitest'
import { temporaryFolder } from '@influencer-stats/runtime/testing/temporary'
import { keptPrice, type Price } from '../src/core/price.ts'
import { loadIndexes } from '../src/load-indexes.ts'
import type { Change } from '../src/messages.ts'
import { CatalogOwner } from '../src/owner/catalog-owner.ts'
import { priceOf, uuid } from './support/prices.ts'
import { record } from './support/power-cut.ts'

const indexes = await loadIndexes({ indexes: ['bitset'] })

async function open({ most = 1e6, failing = (): boolean => false } = {}) {
  const recording = await record(temporaryFolder())
  const told: Change[] = []
  const level = new Proxy(recording.level, {
    get(target: any, name) {
      if (name !== 'write') return target[name]
      return async (run: unknown) => {
        if (failing()) throw new Error('no room')
        return target.write(run)
      }
    },
  })
  const owner = await CatalogOwner.open({
    level,
    indexes,
    log: { error: () => undefined },
    most,
    holdsBlocks: true,
    onChange: async (change) => void told.push(change),
    onReplace: async () => undefined,
  })
  return { owner, recording, told }
}

it('changes that come together are one write, synced once, and one word to the threads', async () => {
  const { owner, recording, told } = await open()
  const some = Array.from({ length: 64 }, () => priceOf())
  for (const [outcome, run] of [
    [true, (price: Price) => owner.put(price)],
    [false, (price: Price) => owner.put({ ...price, value: 7 })],
    [true, ({ id }: Price) => owner.remove(id)],
  ] as const) {
    const [writes, words] = [recording.length, told.length]
    expect(await Promise.all(some.map(run))).toEqual(some.map(() => outcome))
    expect(recording.length - writes).toBe(1)
    expect(told.length - words).toBe(1)
  }
  // What costs something else is found as before; what waits is many, so that it is made part of the index next.
  expect(told.map(({ rows }) => rows.length)).toEqual([64, 0, 64])
  expect(told.map(({ segments }) => segments.get('bitset')!.size)).toEqual([0, 1, 0])
  await recording.level.close()
})

it('one that is refused takes no other with it; all fail that a write was for', async () => {
  let failing = false
  const { owner, recording } = await open({ most: 3, failing: () => failing })
  const typed = (id: number, value: string | number) => priceOf({ id: uuid(id), charValues: [{ char: 'size', value }] })
  const results = await Promise.allSettled([
    owner.put(typed(1, 'large')),
    owner.put(typed(2, 5)),
    owner.put(typed(3, 'small')),
    owner.put(typed(4, 'small')),
    owner.put(typed(5, 'small')),
    owner.remove(uuid(6)),
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
  const failed = await Promise.allSettled([owner.put(typed(1, 'tiny')), owner.remove(uuid(3)), owner.remove(uuid(9))])
  expect(failed.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
  failing = false
  expect((await owner.get(uuid(1)))!.charValues).toEqual([{ char: 'size', value: 'large' }])
  expect(await owner.get(uuid(3))).toBeDefined()
  expect(owner.size).toBe(3)
  await owner.put(typed(1, 'tiny'))
  expect((await owner.get(uuid(1)))!.charValues).toEqual([{ char: 'size', value: 'tiny' }])
  await recording.level.close()
})

it('changes that come together come to what they would one after the other', async () => {
  const change = fc.record({
    id: fc.integer({ min: 1, max: 6 }).map(uuid),
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
  const { owner, recording } = await open()
  const known = new Map<string, Price>()
  await fc.assert(
    fc.asyncProperty(fc.array(fc.array(change, { maxLength: 12 }), { maxLength: 4 }), async (rounds) => {
      for (const round of rounds) {
        const expected: boolean[] = []
        const done = round.map(({ id, price }) => {
          expected.push(price ? !known.has(id) : known.has(id))
          if (!price) {
            known.delete(id)
            return owner.remove(id)
          }
          const { n, ...rest } = price
          const put = priceOf({ id, ...rest, charValues: [{ char: 'n', value: n }] })
          known.set(id, put)
          return owner.put(put)
        })
        expect(await Promise.all(done)).toEqual(expected)
        for (let id = 1; id <= 6; id++) {
          const wanted = known.get(uuid(id))
          expect(await owner.get(uuid(id))).toEqual(wanted && keptPrice(wanted))
        }
        expect(owner.size).toBe(known.size)
      }
    }),
    { numRuns: 60 },
  )
  await recording.level.close()
})
