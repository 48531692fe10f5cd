import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { openRawClient, formatRequest } from '@influencer-stats/runtime/testing/raw-client'
import { SERVERS } from '@influencer-stats/runtime/settings'
import { expect, it } from 'vitest'
import { startStats } from './support/stats.ts'

const UNUSED_URL = 'http://127.0.0.1:9'
const BROKEN_TEXT = ['\\u0000', 'a\\u0000b', '\\ud800', '\\udc00', 'x\\udc00\\ud800y', '\\ud83d ']

it('names and tags with NUL or half a character are refused with a reason; every other text is stored exactly', async () => {
  const stats = await startStats({ youtubeUri: UNUSED_URL, data: createTemporaryFolder(), threads: 1 })
  await stats.put('/collections/c', { videos: [], name: 'Spring' })
  for (const text of BROKEN_TEXT)
    for (const [where, fields] of [
      ['body/name', `"name":"${text}"`],
      ['body/tags/1', `"tags":["a","${text}"]`],
    ]) {
      const sentence = expect.stringMatching(
        new RegExp(`^${where} must be a string of 1 to \\d+ whole characters \\(no NUL\\).*; received "`),
      )
      for (const refused of [
        await stats.put('/collections/n', `{"videos":[],${fields}}`),
        await stats.patch('/collections/c', `{${fields}}`),
      ])
        expect(refused).toMatchObject({ status: 400, body: { code: 'VALIDATION_FAILED', detail: sentence } })
    }
  expect((await stats.get('/collections/n')).status).toBe(404)
  expect((await stats.get('/collections/c')).body).toMatchObject({ name: 'Spring' })
  for (const name of ['\u0001\t\n', '\u{10FFFF}', '👩‍👩‍👧', '\uFFFD', '\u2028"\\', '\uFEFFa'])
    expect((await stats.patch('/collections/c', { name, tags: [name] })).body).toMatchObject({ name, tags: [name] })
  await stats.stop()
})

it.each(SERVERS)('the ids . and .. are refused in every encoding, served by %s', async (server) => {
  const stats = await startStats({ youtubeUri: UNUSED_URL, data: createTemporaryFolder(), threads: 1, server })
  const body = '{"videos":[]}'
  for (const id of ['.', '..', '%2e', '%2E%2e', '.%2e']) {
    const client = await openRawClient(Number(new URL(stats.url).port))
    client.send(formatRequest('PUT', `/collections/${id}`, { 'content-type': 'application/json' }, body))
    expect([id, (await client.reply()).status]).toEqual([id, 400])
  }
  expect((await stats.get('/collections')).body.collections).toEqual([])
  for (const id of ['...', '.a', 'a.', '..a', '-', '~', 'x'.repeat(128)])
    expect([id, (await stats.put(`/collections/${id}`, body)).status]).toEqual([id, 201])
  await stats.stop()
})
