import { describe, expect, it } from 'vitest'
import { variants } from '../src/variants.ts'
import { priceOf, searchOf, startPrices } from './support/prices.ts'
import { temporaryFolder } from '@influencer-stats/runtime/testing/temporary'

describe.each(Object.entries(variants))('variant %s', (variant, { indexes }) => {
  it.each(['0', '1'])('boots with %s threads, finds prices, and keeps them', async (threads) => {
    const settings = { variant, threads, data: temporaryFolder() }
    const first = await startPrices(settings)
    const imported = priceOf({ charValues: [{ char: 'term', value: '12' }], value: 1.5 })
    const put = priceOf({ charValues: [{ char: 'term', value: '24' }], value: 2 })
    expect((await first.import([imported])).status).toBe(200)
    expect((await first.ask('PUT', `/prices/${put.id}`, put)).status).toBe(201)
    const index = indexes[0]!
    for (const one of [imported, put]) expect((await first.search(searchOf(one), index)).body.id).toBe(one.id)
    expect(await first.stop()).toBe(true)

    const second = await startPrices(settings)
    for (const one of [imported, put]) {
      expect((await second.search(searchOf(one), index)).body).toMatchObject({ id: one.id, value: one.value })
      const [bulk] = await second.bulk(JSON.stringify({ id: 'x', ...searchOf(one) }), index)
      expect(bulk).toMatchObject({ id: 'x', price: { id: one.id } })
    }
    await second.stop()
  })
})
