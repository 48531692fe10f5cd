import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { expect, it, onTestFinished } from 'vitest'
import { createStatsClient } from '../src/client.ts'
import { SAMPLE_VIDEOS, startStandIn } from './support/stand-in.ts'
import { startStats } from './support/stats.ts'

const [first, second, third] = SAMPLE_VIDEOS as [string, string, string]
/** The stand-in knows no video whose id ends in `_`. */
const NO_VIDEO = 'gone_video_'

it.each(['v3', 'v6', 'v8'])('a paste is previewed with one call for its bare words: %s', async (variant) => {
  const standIn = await startStandIn()
  const stats = await startStats({ variant, youtubeUri: standIn.url, data: createTemporaryFolder() })
  onTestFinished(async () => {
    await stats.stop()
    await standIn.stop()
  })
  const client = createStatsClient(stats.url)
  const text = `${first}\nhttps://youtu.be/${second}\n${third}\n${NO_VIDEO}\nhttps://vimeo.com/1`
  const before = (await client.getUpstream()).budget.kinds.lookups
  const expected = [
    { line: 1, state: 'new', id: first, title: expect.any(String), channel: expect.any(String) },
    { line: 2, state: 'new', id: second, url: `https://www.youtube.com/watch?v=${second}` },
    { line: 3, state: 'new', id: third },
    { line: 4, text: NO_VIDEO, state: 'refused', reason: 'NOT_A_VIDEO' },
    { line: 5, state: 'refused', reason: 'UNSUPPORTED_HOST' },
  ]
  expect((await client.previewPaste(text)).items).toMatchObject(expected)
  expect((await client.previewPaste(text)).items).toMatchObject(expected)
  expect((await client.getUpstream()).budget.kinds.lookups - before).toBe(1)

  expect(await client.previewPasteFor('c', text)).toBeUndefined()
  await client.put('c', { videos: [second] })
  const { items } = (await client.previewPasteFor('c', text))!
  expect(items.map(({ state }) => state)).toEqual(['new', 'member', 'new', 'refused', 'refused'])
})

it('without YouTube, bare words are reported as not looked up', async () => {
  const stats = await startStats({ youtubeUri: 'http://127.0.0.1:9', data: createTemporaryFolder() })
  onTestFinished(async () => void (await stats.stop()))
  const { items } = await createStatsClient(stats.url).previewPaste(`${first}\nhttps://youtu.be/${second}`)
  expect(items).toMatchObject([
    { state: 'unknown', reason: 'NOT_CHECKED', id: first },
    { state: 'new', id: second },
  ])
})
