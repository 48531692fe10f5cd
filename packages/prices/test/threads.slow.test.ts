import { describe, expect, it } from 'vitest'
import { createPrice, toSearch, startPrices, toUuid } from './support/prices.ts'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'

const CLIENT_COUNT = 16
const THREAD_COUNT = 3

describe.each(['memory', 'lru-level'])('catalog %s on several threads', (catalog) => {
  it('a change that one thread answers is visible to all others, and after a restart', async () => {
    const settings = {
      data: createTemporaryFolder(),
      catalog,
      indexes: 'roaring-offering,bitset,map',
      threads: THREAD_COUNT,
    }
    const first = await startPrices(settings)
    const price = createPrice({ id: toUuid(1), charValues: [{ char: 'term', value: '12' }] })
    await first.import([price, createPrice({ id: toUuid(2), offeringId: 'other', value: 2 })])
    for (let round = 1; round <= 5; round++) {
      const changed = { ...price, value: round, charValues: [{ char: 'term', value: String(round) }] }
      expect((await first.request('PUT', `/prices/${price.id}`, changed)).status).toBe(200)
      for (const index of ['bitmap', 'bitset', 'map']) {
        const replies = await Promise.all(
          Array.from({ length: CLIENT_COUNT }, () => first.search(toSearch(changed), index, { connection: 'close' })),
        )
        for (const { body } of replies) expect(body).toMatchObject({ id: price.id, value: round })
      }
      const old = await first.search(toSearch({ ...changed, charValues: [{ char: 'term', value: String(round - 1) }] }))
      expect(old.body.code).toBe('VALUE_NOT_FOUND')
    }
    await first.request('DELETE', `/prices/${toUuid(2)}`)
    expect(await first.stop()).toBe(true)

    const second = await startPrices({ ...settings, threads: 1 })
    const last = { ...price, value: 5, charValues: [{ char: 'term', value: '5' }] }
    expect((await second.search(toSearch(last))).body.value).toBe(5)
    expect((await second.request('GET', `/prices/${toUuid(2)}`)).status).toBe(404)
    expect((await second.search(toSearch(createPrice({ offeringId: 'other' })))).body.code).toBe('OFFERING_NOT_FOUND')
    expect((await second.import([{ ...last, value: 6 }], '?replace=true')).body).toEqual({ imported: 1, prices: 1 })
    expect((await second.search(toSearch(last))).body.value).toBe(6)
    await second.stop()
  })

  it('a bulk request holds its first view', async () => {
    const prices = await startPrices({ data: createTemporaryFolder(), catalog, threads: 1, cacheBytes: 16_384 })
    const allPrices = Array.from({ length: 3_000 }, (_, i) =>
      createPrice({ id: toUuid(i + 10), charValues: [{ char: 'n', value: i }] }),
    )
    await prices.import(allPrices)
    const toItem = (i: number) => `${JSON.stringify({ id: String(i), ...toSearch(allPrices[i]!) })}\n`
    const change = Promise.withResolvers<void>()
    const body = new ReadableStream({
      async start(controller) {
        controller.enqueue(Buffer.from(toItem(0)))
        await change.promise
        for (let i = 0; i < allPrices.length; i++) controller.enqueue(Buffer.from(toItem(i)))
        controller.close()
      },
    })
    const reply = await fetch(`${prices.url}/v5/search/bitmap/bulk/prices`, {
      method: 'POST',
      body,
      duplex: 'half',
      headers: { 'content-type': 'application/x-ndjson' },
    } as never)
    // The head has arrived, so the request has its view.
    expect(
      (await prices.request('PUT', `/prices/${allPrices[2_999]!.id}`, { ...allPrices[2_999], value: 99 })).status,
    ).toBe(200)
    await prices.import(
      allPrices.map((one) => ({ ...one, value: 98 })),
      '?replace=true',
    )
    change.resolve()
    const answers = (await reply.text())
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(answers).toHaveLength(allPrices.length + 1)
    for (const { price } of answers) expect(price.value).toBe(1)
    expect((await prices.search(toSearch(allPrices[2_999]!))).body.value).toBe(98)
    await prices.stop()
  })
})
