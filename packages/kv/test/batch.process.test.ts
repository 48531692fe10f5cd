import { expect, it, onTestFinished } from 'vitest'
import { measureLongestHold } from '@influencer-stats/runtime/testing/longest-hold'
import { startKv } from './support/kv.ts'

const put = (i: number) => `{"op":"put","id":"${i}","value":""}\n`
const createLines = (count: number) => Array.from({ length: count }, (_, i) => put(i)).join('')

it('batches of many lines do not end a thread, accepted or not', async () => {
  const kv = await startKv({ threads: 2, batchLines: 30_000 })
  const [accepted, more] = [createLines(30_000), createLines(300_000)]
  const sendBatch = [more, more, accepted, accepted].map((body) => kv.request('POST', '/v0/batch', body))
  const replies = await Promise.all(sendBatch)
  expect(replies.map(({ status, code }) => [status, code])).toEqual([
    [413, 'BATCH_TOO_LARGE'],
    [413, 'BATCH_TOO_LARGE'],
    [200, undefined],
    [200, undefined],
  ])
  expect(JSON.parse(replies[0]!.text).detail).toMatch(/^line 30001: /)
  expect((await kv.request('GET', '/v0/entity?id=29999')).status).toBe(200)
  expect((await kv.request('GET', '/v0/entity?id=30000')).status).toBe(404)
  await kv.stop()
})

it('a batch of many lines lets other requests proceed', async () => {
  const kv = await startKv({ threads: 0, batchLines: 100_000 })
  onTestFinished(async () => void (await kv.stop()))
  const body = createLines(100_000)
  const { result, held: longest, worked } = await measureLongestHold(() => kv.request('POST', '/v0/batch', body))
  expect(result.status).toBe(200)
  // It takes 3 % of the work. Without yields it would take half.
  expect(longest / worked).toBeLessThan(0.1)
})
