import { describe, expect, it } from 'vitest'
import { variants } from '../src/variants.ts'
import { startSse } from './support/test-sse.ts'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'

describe.each(Object.keys(variants))('variant %s', (variant) => {
  it.each([0, 1])('starts with %s threads and delivers values to streams', async (threads) => {
    const sse = await startSse({ variant, threads, data: createTemporaryFolder() })
    const streams = await sse.openBoth('?topic=a')
    const id = await sse.put('value', 'a')
    for (const stream of streams) {
      await stream.until(1)
      expect(stream.events).toEqual([{ type: 'message', data: 'value', lastEventId: id }])
    }
    expect((await sse.request('GET', '/connections')).body.streams).toBe(2)
    expect(await sse.stop()).toBe(true)
  })
})

describe('the broker local', () => {
  it('is refused with several threads', async () => {
    await expect(startSse({ broker: 'local', threads: 2 })).rejects.toMatchObject({ code: 'SINGLE_THREAD' })
  })
})
