import type { RunningService } from '@influencer-stats/runtime/service-host'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startKv } from './support/kv.ts'
import { SAMPLE_VIDEOS, startStandIn, type TestStandIn } from './support/stand-in.ts'
import { startStats, type TestStats } from './support/stats.ts'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'

const CLIENT_COUNT = 24

describe.each(['v6', 'v7', 'v7 with state map', 'v6 with state kv', 'v7 with state kv'])('%s on 3 threads', (name) => {
  let standIn: TestStandIn
  let kv: RunningService
  let stats: TestStats
  beforeAll(async () => {
    standIn = await startStandIn()
    kv = await startKv()
    const [variant = '', , , state = 'level'] = name.split(' ')
    const addresses = { youtubeUri: standIn.url, kvUri: kv.url }
    stats = await startStats({ variant, state, threads: 3, ...addresses, data: createTemporaryFolder() })
  })
  afterAll(async () => {
    await stats.stop()
    await kv.stop()
    await standIn.stop()
  })

  /** Reads over many new connections at once, so that every thread gets requests. */
  const readAll = (path: string) =>
    Promise.all(Array.from({ length: CLIENT_COUNT }, () => stats.get(path, { connection: 'close' })))

  it('a change on one thread is visible to the next read on every other thread', async () => {
    for (let round = 0; round < 8; round++) {
      const videos = SAMPLE_VIDEOS.slice(0, 1 + (round % 3))
      await stats.put('/collections/c', { videos })
      for (const { body } of await readAll('/collections/c')) expect(body.videos).toEqual(videos)
      for (const { body } of await readAll('/collections/c/stats')) expect(body.videos).toBe(videos.length)
    }
    await stats.delete('/collections/c')
    for (const { status } of await readAll('/collections/c/stats')) expect(status).toBe(404)
    for (const { status } of await readAll('/collections/c')) expect(status).toBe(404)
  })

  it('loses none of the videos that many clients add at once', async () => {
    await stats.put('/collections/d', { videos: [] })
    const ids = Array.from({ length: 40 }, (_, i) => `${String(i).padStart(10, '0')}A`)
    await Promise.all(ids.map((id) => stats.put(`/collections/d/videos/${id}`, undefined, { connection: 'close' })))
    expect((await stats.get('/collections/d')).body.videos.toSorted()).toEqual(ids)
  })
})

describe('a state in memory', () => {
  it.each([
    [{ variant: 'v3' }, 'SINGLE_THREAD'],
    [{ variant: 'v4' }, 'SINGLE_THREAD'],
    [{ variant: 'v6', cache: 'refresh' }, 'SINGLE_THREAD'],
  ])('is refused to several threads: %o', async (settings, code) => {
    await expect(startStats({ ...settings, threads: 2, youtubeUri: 'http://127.0.0.1:9' })).rejects.toMatchObject({
      code,
    })
  })
})
