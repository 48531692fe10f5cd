import { expect, it } from 'vitest'
import type { Price } from '../src/core/price.ts'
import { variants } from '../src/variants.ts'
import { priceOf, searchOf, startPrices } from './support/prices.ts'
import { temporaryFolder } from '@influencer-stats/runtime/testing/temporary'

it.each(Object.entries(variants))(
  'variant %s boots on main and with a thread, finds prices, and keeps them',
  async (variant, { indexes }) => {
    const data = temporaryFolder()
    const index = indexes[0]!
    const kept: Price[] = []
    for (const threads of ['0', '1', '0']) {
      const prices = await startPrices({ variant, threads, data })
      const expectFound = async () => {
        for (const one of kept) {
          expect((await prices.search(searchOf(one), index)).body).toMatchObject({ id: one.id, value: one.value })
          const [bulk] = await prices.bulk(JSON.stringify({ id: 'x', ...searchOf(one) }), index)
          expect(bulk).toMatchObject({ id: 'x', price: { id: one.id } })
        }
      }
      await expectFound()
      const [imported, put] = [1, 2].map((place) =>
        priceOf({ charValues: [{ char: 'term', value: String(kept.length + place) }], value: place / 2 }),
      ) as [Price, Price]
      expect((await prices.import([imported])).status).toBe(200)
      expect((await prices.ask('PUT', `/prices/${put.id}`, put)).status).toBe(201)
      kept.push(imported, put)
      await expectFound()
      expect(await prices.stop()).toBe(true)
    }
  },
)
