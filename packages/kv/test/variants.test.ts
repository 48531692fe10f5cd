import { describe, expect, it } from 'vitest'
import { variants } from '../src/variants.ts'
import { startKv } from './support/kv.ts'
import { temporaryFolder } from '@influencer-stats/runtime/testing/temporary'

describe.each(Object.keys(variants))('variant %s', (variant) => {
  it.each(['0', '1'])('boots with %s threads, and keeps what it says it keeps', async (threads) => {
    const settings = { variant, threads, data: temporaryFolder() }
    const first = await startKv(settings)
    await first.client.put('a', 'plain')
    await first.client.batch([{ op: 'put', id: 'b', value: new Uint8Array([0xff]) }], { durable: true })
    expect((await first.client.get('a'))!.value.toString()).toBe('plain')
    expect(await first.stop()).toBe(true)
    const second = await startKv(settings)
    const kept = []
    for await (const { id, value } of second.client.entries()) kept.push([id, value.toString('hex')])
    expect(kept).toEqual(
      variant === 'v1'
        ? []
        : [
            ['a', '706c61696e'],
            ['b', 'ff'],
          ],
    )
    await second.stop()
  })
})
