import { expect, it } from 'vitest'
import { variants } from '../src/variants.ts'
import { startKv } from './support/kv.ts'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'

it.each(Object.keys(variants))(
  'variant %s starts on main and with a thread, and retains what it declares persistent',
  async (variant) => {
    const data = createTemporaryFolder()
    const written: [string, string][] = []
    for (const [lifetime, threads] of ['0', '1', '0'].entries()) {
      const kv = await startKv({ variant, threads, data })
      const persisted = []
      for await (const { id, value } of kv.client.entries()) persisted.push([id, value.toString('hex')])
      expect(persisted).toEqual(variant === 'v1' ? [] : written)
      await kv.client.put(`${lifetime}a`, 'plain')
      await kv.client.batch([{ op: 'put', id: `${lifetime}b`, value: new Uint8Array([0xff]) }], { durable: true })
      expect((await kv.client.get(`${lifetime}a`))!.value.toString()).toBe('plain')
      written.push([`${lifetime}a`, '706c61696e'], [`${lifetime}b`, 'ff'])
      expect(await kv.stop()).toBe(true)
    }
  },
)
