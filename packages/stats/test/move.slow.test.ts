import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import { execFile } from 'node:child_process'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { listOf, startFakeYoutube, videoIds } from './support/fake-youtube.ts'
import { startStats } from './support/stats.ts'

const CLI = fileURLToPath(new URL('../src/cli.ts', import.meta.url))
const HOUR_MS = 3_600_000

/** Runs `pnpm stats`. */
const run = (...args: string[]) =>
  promisify(execFile)(process.execPath, [CLI, ...args]).then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    ({ code, stdout, stderr }) => ({ code, stdout, stderr }),
  )

it('moves collections, histories and details to another service, byte for byte', async () => {
  const folder = createTemporaryFolder()
  const [here, there, file] = ['here', 'there', 'file'].map((name) => join(folder, name)) as [string, string, string]
  const youtube = await startFakeYoutube()
  // Without a budget: with one, a refresh of 60 videos comes no more often than every 17 s.
  const settings = { youtubeUri: youtube.url, threads: 1, sseUri: '', dailyBudget: 0 }
  const first = await startStats({ ...settings, data: here, refreshInterval: 100 })
  await first.put('/collections/spring', { videos: videoIds(60), name: 'Spring\u2028line', tags: ['a'] })
  await first.put('/collections/empty', {
    videos: [],
    sources: [{ type: 'channel', id: 'UCa', title: 'A' }],
    archived: true,
  })
  await first.put('/collections/empty/posts/p', { url: 'https://x.com/i/status/12345', title: 'Post' })
  for (const [day, views] of [
    ['20', 700],
    ['21', 650],
  ])
    await first.post('/collections/empty/posts/p/numbers', { views, at: `2026-11-${day}T12:00:00Z`, note: 'mail' })
  await first.put('/collections/old', { videos: videoIds(2) })
  await first.put('/collections/old/posts/p', { url: 'https://x.com/i/status/12345' })
  await first.delete('/collections/old')
  let counts = 100
  youtube.handler = (ids, reply) => reply.end(listOf(ids, (counts += 10)))
  await waitUntil(async () => (await first.get('/collections/spring/stats/history')).body.points?.length > 3)
  const [expected, history, posts, numbers] = await Promise.all(
    [
      '/collections/spring',
      '/collections/spring/stats/history',
      '/collections/empty/posts',
      '/collections/empty/posts/p/numbers',
    ].map(async (path) => (await first.get(path)).body),
  )
  expect(await run('export', `${file}.live`, '--url', first.url)).toMatchObject({ code: 0, stderr: '' })
  expect(await run('export', `${file}.busy`, '--from', here)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('DATA_LOCKED'),
  })
  await first.stop()

  expect(await run('export', file, '--from', here)).toMatchObject({ code: 0, stderr: '' })
  expect(statSync(file).mode & 0o777).toBe(0o600)
  const bytes = readFileSync(file)
  const calls = youtube.calls.length
  const second = await startStats({ ...settings, data: there, refreshInterval: HOUR_MS })
  // A damaged file changes nothing.
  const damaged = Buffer.from(bytes)
  damaged[Math.floor(bytes.length / 2)]! ^= 1
  for (const content of [damaged, bytes.subarray(0, -20), bytes.subarray(0, bytes.lastIndexOf('{"lines"'))]) {
    writeFileSync(`${file}.damaged`, content)
    const refused = await run('import', `${file}.damaged`, '--url', second.url)
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('EXPORT_DAMAGED') })
  }
  expect((await second.get('/collections')).body.collections).toEqual([])

  for (let i = 0; i < 2; i++) expect(await run('import', file, '--url', second.url)).toMatchObject({ code: 0 })
  expect((await second.get('/collections/spring')).body).toEqual(expected)
  expect((await second.get('/collections/spring/stats/history')).body.points.slice(0, history.points.length)).toEqual(
    history.points,
  )
  expect((await second.get('/collections/spring/stats')).body).toMatchObject({ videos: 60 })
  expect((await second.get('/collections/empty')).body).toMatchObject({ archived: true, sources: [{ id: 'UCa' }] })
  expect((await second.get('/collections/empty/posts')).body).toEqual(posts)
  expect((await second.get('/collections/empty/posts/p/numbers')).body).toEqual(numbers)
  expect((await second.get('/collections/empty/stats')).body.reported).toMatchObject({ impressions: 650, posts: 1 })
  expect((await second.get('/trash')).body.collections).toMatchObject([{ id: 'old', videos: videoIds(2) }])
  // The numbers are recent enough: no call was necessary.
  expect(youtube.calls).toHaveLength(calls)
  expect(await run('export', `${file}.again`, '--url', second.url)).toMatchObject({ code: 0 })
  expect(readFileSync(`${file}.again`).equals(bytes)).toBe(true)

  // A later version remains.
  await second.patch('/collections/spring', { name: 'Later' })
  const repeated = await run('import', file, '--url', second.url)
  expect(repeated).toMatchObject({ code: 0, stdout: expect.stringMatching(/1 collections have/) })
  expect((await second.get('/collections/spring')).body.name).toBe('Later')
  expect((await second.post('/trash/old/restore')).status).toBe(200)
  expect(await run('import', file, '--url', second.url)).toMatchObject({
    stdout: expect.stringMatching(/2 collections have/),
  })
  expect((await second.get('/collections/old')).status).toBe(200)
  expect((await second.get('/collections/old/posts')).body.posts).toMatchObject([{ id: 'p' }])
  await second.stop()
})
