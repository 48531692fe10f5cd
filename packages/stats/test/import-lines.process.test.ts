import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { toPacificDay } from '@influencer-stats/runtime/pacific-time'
import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import { expect, it } from 'vitest'
import { listOf, startFakeYoutube, videoIds } from './support/fake-youtube.ts'
import { startStats } from './support/stats.ts'

it('refuses a line that is no part of an export', async () => {
  const stats = await startStats({ youtubeUri: 'http://127.0.0.1:9', data: createTemporaryFolder() })
  const send = async (body: string) => {
    const headers = { 'content-type': 'application/x-ndjson' }
    const reply = await fetch(`${stats.url}/import`, { method: 'POST', body, headers })
    return { status: reply.status, ...((await reply.json()) as object) }
  }
  const collection = { id: 'a', videos: [], revision: 1 }
  const valid = JSON.stringify({ type: 'collection', collection, numbers: {} })
  for (const invalid of ['x', '{}', '{"type":"point"}', valid.replace('"a"', '".."'), '{"type":"toString"}'])
    expect(await send(`${valid}\n${invalid}\n`)).toMatchObject({
      status: 400,
      code: 'IMPORT_LINE_INVALID',
      detail: expect.stringMatching(/^line 2: /),
    })
  expect((await stats.get('/collections/a')).status).toBe(404)
  expect(await send(valid)).toMatchObject({ status: 200, lines: 1, newer: 0 })
  expect((await stats.get('/collections/a')).status).toBe(200)
  await stats.stop()
})

it('imports the units by kind of call', async () => {
  const stats = await startStats({ youtubeUri: 'http://127.0.0.1:9', data: createTemporaryFolder() })
  const day = toPacificDay(Date.now())
  const body = JSON.stringify({ type: 'usage', usage: { day, used: 9, kinds: { channels: 1, lookups: 3 } } })
  const headers = { 'content-type': 'application/x-ndjson' }
  expect((await fetch(`${stats.url}/import`, { method: 'POST', body, headers })).status).toBe(200)
  const kinds = { videos: 5, channels: 1, playlistItems: 0, lookups: 3 }
  expect((await stats.get('/upstream')).body.budget).toMatchObject({ used: 9, kinds })
  expect(await (await fetch(`${stats.url}/export`)).text()).toContain(body)
  await stats.stop()
})

it('continues with the used quota of the exported service, and spends none of it twice', async () => {
  const youtube = await startFakeYoutube()
  youtube.handler = (ids, reply) => reply.end(listOf(ids, 1))
  const data = createTemporaryFolder()
  const settings = { youtubeUri: youtube.url, data, sseUri: '', dailyBudget: 5, readTimeout: 500 }
  const first = await startStats(settings)
  const send = async (used: number, day = toPacificDay(Date.now())) => {
    const headers = { 'content-type': 'application/x-ndjson' }
    const body = JSON.stringify({ type: 'usage', usage: { day, used } })
    expect((await fetch(`${first.url}/import`, { method: 'POST', body, headers })).status).toBe(200)
  }
  // A smaller count, and that of another day, change nothing.
  await send(5)
  await send(2)
  await send(1, '2020-01-01')
  await first.put('/collections/a', { videos: videoIds(1) })
  expect(await first.get('/collections/a/stats')).toMatchObject({ status: 503, body: { code: 'UPSTREAM_UNAVAILABLE' } })
  await first.stop()
  const second = await startStats(settings)
  await waitUntil(async () => (await second.get('/collections/a/stats')).body.code === 'UPSTREAM_UNAVAILABLE')
  await second.stop()
  expect(youtube.calls).toEqual([])
})
