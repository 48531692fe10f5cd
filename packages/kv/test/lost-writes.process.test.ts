import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import { Level } from 'level'
import { expect, it, onTestFinished, vi } from 'vitest'
import { startKv } from './support/kv.ts'

it('kv_writes_lost_total counts a write that fails after its reply 202', async () => {
  const kv = await startKv()
  onTestFinished(async () => void (await kv.stop()))
  const readLost = async () => /^kv_writes_lost_total (\d+)$/m.exec((await kv.request('GET', '/metrics')).text)?.[1]
  expect(await readLost()).toBe('0')
  const put = vi.spyOn(Level.prototype, 'put').mockRejectedValue(new Error('the write fails'))
  onTestFinished(() => put.mockRestore())
  const { status } = await kv.request('PUT', '/v0/entity?id=a', '1', { prefer: 'respond-async' })
  expect(status).toBe(202)
  await waitUntil(async () => (await readLost()) === '1')
})
