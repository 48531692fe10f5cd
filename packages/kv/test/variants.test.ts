import { expect, it } from 'vitest'
import { variants } from '../src/variants.ts'
import { startKv } from './support/kv.ts'
import { temporaryFolder } from '@influencer-stats/runtime/testing/temporary'

it.each(Object.keys(variants))(
  'variant %s boots on main and with a thread, and keeps what it says it keeps',
  async (variant) => {
    const data = temporaryFolder()
    const written: [string, string][] = []
    for (const [life, threads] of ['0', '1', '0'].entries()) {
      const kv = await startKv({ variant, threads, data })
      const kept = []
      for await (const { id, value } of kv.client.entries()) kept.push([id, value.toString('hex')])
      expect(kept).toEqual(variant === 'v1' ? [] : written)
      await kv.client.put(`${life}a`, 'plain')
      await kv.client.batch([{ op: 'put', id: `${life}b`, value: new Uint8Array([0xff]) }], { durable: true })
      expect((await kv.client.get(`${life}a`))!.value.toString()).toBe('plain')
      written.push([`${life}a`, '706c61696e'], [`${life}b`, 'ff'])
      expect(await kv.stop()).toBe(true)
    }
  },
)
