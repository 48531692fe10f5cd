import { expect, it } from 'vitest'
import type { Price } from '../src/core/price.ts'
import { variants } from '../src/variants.ts'
import { createPrice, toSearch, startPrices } from './support/prices.ts'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'

it.each(Object.entries(variants))(
  'variant %s starts without and with threads, finds prices, and stores them',
  async (variant, { indexes }) => {
    const data = createTemporaryFolder()
    const index = indexes[0]!
    const stored: Price[] = []
    for (const threads of ['0', '1', '0']) {
      const prices = await startPrices({ variant, threads, data })
      const expectFound = async () => {
        for (const one of stored) {
          expect((await prices.search(toSearch(one), index)).body).toMatchObject({ id: one.id, value: one.value })
          const [bulk] = await prices.searchBulk(JSON.stringify({ id: 'x', ...toSearch(one) }), index)
          expect(bulk).toMatchObject({ id: 'x', price: { id: one.id } })
        }
      }
      await expectFound()
      const [imported, put] = [1, 2].map((position) =>
        createPrice({ charValues: [{ char: 'term', value: String(stored.length + position) }], value: position / 2 }),
      ) as [Price, Price]
      expect((await prices.import([imported])).status).toBe(200)
      expect((await prices.request('PUT', `/prices/${put.id}`, put)).status).toBe(201)
      stored.push(imported, put)
      await expectFound()
      expect(await prices.stop()).toBe(true)
    }
  },
)
