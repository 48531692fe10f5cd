import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { expect, it } from 'vitest'
import { createPrice, startPrices, toUuid } from './support/prices.ts'

it('names with NUL or a lone surrogate are refused with a clear detail, in a PUT and in an import', async () => {
  const prices = await startPrices({ data: createTemporaryFolder(), threads: 1 })
  const { id, ...price } = createPrice({ charValues: [{ char: 'term', value: '12' }] })
  for (const text of ['\0', 'a\0b', '\ud800', 'x\udc00'])
    for (const [where, part] of [
      ['/offeringId', { offeringId: text }],
      ['/groupId', { groupId: text }],
      ['/priceSpecId', { priceSpecId: text }],
      ['/charValues/0/char', { charValues: [{ char: text, value: '12' }] }],
      ['/charValues/0/value', { charValues: [{ char: 'term', value: text }] }],
    ] as const) {
      const sentence = `${where} must be a string of 1 to 256 whole characters (no NUL)`
      const put = await prices.request('PUT', `/prices/${id}`, { ...price, ...part })
      expect(put).toMatchObject({
        status: 400,
        body: { code: 'VALIDATION_FAILED', detail: expect.stringContaining(`body${sentence}`) },
      })
      const imported = await prices.import([{ id, ...price, ...part }])
      expect(imported).toMatchObject({
        status: 400,
        body: { code: 'BAD_LINE', detail: expect.stringContaining(`line 1: price${sentence}`) },
      })
    }
  expect((await prices.request('GET', `/prices/${id}`)).status).toBe(404)
  const stored = { ...price, offeringId: '\u0001👩‍👩‍👧\uFFFD' }
  expect((await prices.request('PUT', `/prices/${toUuid(7)}`, stored)).status).toBe(201)
  expect((await prices.request('GET', `/prices/${toUuid(7)}`)).body.offeringId).toBe(stored.offeringId)
  await prices.stop()
})
