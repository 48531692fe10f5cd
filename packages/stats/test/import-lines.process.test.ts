import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { expect, it } from 'vitest'
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
