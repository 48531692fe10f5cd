import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import fc from 'fast-check'
import { describe, expect, it, onTestFinished } from 'vitest'
import { combine, sum, toSnapshot, type Snapshot, type VideoNumbers } from '../src/core/video-numbers.ts'
import { VideoTable } from '../src/refresh/video-table.ts'
import { failing, listOf, startFakeYoutube, videoIds } from './support/fake-youtube.ts'
import { createNumbers } from './support/video-numbers.ts'
import { startStats } from './support/stats.ts'

const VIDEO_IDS = ['a', 'b', 'c', 'd']

/** Responses of YouTube to successive calls: the views of the existing videos. */
const rounds = fc.array(fc.dictionary(fc.constantFrom(...VIDEO_IDS), fc.nat(1_000), { noNullPrototype: true }), {
  minLength: 1,
  maxLength: 8,
})

interface ExpectedVideo {
  numbers?: VideoNumbers
  asOf: number
}

/** Returns the expected knowledge of one video after all answers. The time of a round is its number. */
function computeExpected(id: string, answers: readonly Record<string, number>[], interval: number): ExpectedVideo {
  const last = answers.findLastIndex((found) => id in found)
  const end = answers.length - 1
  if (last < 0) return { asOf: end }
  const numbers = createNumbers(id, answers[last]![id])
  if (last === end) return { numbers, asOf: end }
  const omitted = last + 1
  const isRemoved = end > omitted && end - omitted + 1 >= interval
  if (!isRemoved) return { numbers: { ...numbers, omitted }, asOf: last }
  return { numbers: { ...numbers, gone: { since: omitted, asOf: last } }, asOf: end }
}

const foundIn = (answer: Record<string, number>) =>
  Object.entries(answer).map(([id, views]) => createNumbers(id, views))

describe('a removed video', () => {
  it('keeps its last numbers in the sum; a video that never existed is missing', () => {
    fc.assert(
      fc.property(rounds, fc.integer({ min: 1, max: 5 }), (answers, interval) => {
        const table = new VideoTable(() => false)
        table.use(VIDEO_IDS, 'c')
        let before: Snapshot | undefined
        for (const [time, answer] of answers.entries()) {
          table.recordNumbers(VIDEO_IDS, foundIn(answer), time, time, interval)
          before = combine(VIDEO_IDS, toSnapshot(VIDEO_IDS, foundIn(answer), time), before, interval)
        }
        const all = VIDEO_IDS.map((id) => computeExpected(id, answers, interval))
        const videos = all.flatMap(({ numbers }) => numbers ?? [])
        const missing = VIDEO_IDS.filter((_, i) => !all[i]!.numbers)
        const asOf = Math.min(...all.map((one) => one.asOf))
        const byTable = table.read(VIDEO_IDS)!.snapshot
        expect(byTable).toMatchObject({ videos, missing, asOf })
        // A snapshot has one time for all of its numbers.
        expect(before!.asOf).toBeLessThanOrEqual(asOf)
        for (const known of [byTable, before!]) {
          expect(known.missing).toEqual(missing)
          expect(sum(known.videos)).toEqual(sum(videos))
          const states = ({ id, omitted, gone }: VideoNumbers) => [id, omitted, gone?.since]
          expect(known.videos.map(states)).toEqual(videos.map(states))
        }
      }),
    )
  })

  it('is detected regardless of the order in which the data of several collections arrive', () => {
    fc.assert(
      fc.property(fc.shuffledSubarray([0, 1, 2], { minLength: 3 }), (order) => {
        const table = new VideoTable(() => false)
        table.use(['a'], 'c')
        for (const time of order) table.recordNumbers(['a'], time === 1 ? [createNumbers('a', 5)] : [], time, time, 1)
        expect(table.read(['a'])!.snapshot).toMatchObject({ missing: [], videos: [{ views: 5, omitted: 2 }], asOf: 1 })
      }),
    )
  })

  it.each(['v3', 'v6', 'v7'])(
    'is summed, and marked with its time of removal, also after a restart: %s',
    async (variant) => {
      const youtube = await startFakeYoutube()
      const settings = { variant, youtubeUri: youtube.url, dailyBudget: 0, refreshInterval: 100 }
      const data = createTemporaryFolder()
      let stats = await startStats({ ...settings, data })
      onTestFinished(() => stats.stop().then(() => {}))
      const [unchanged, going, never] = videoIds(3)
      const gone = new Set([never])
      youtube.handler = (ids, reply) => reply.end(listOf(ids.filter((id) => !gone.has(id))))
      await stats.put('/collections/c', { videos: [unchanged, going, never] })
      const before = (await stats.get('/collections/c/stats')).body
      expect(before).toMatchObject({ impressions: 200, videos: 2, missing: [never] })
      expect(before).not.toHaveProperty('gone')

      gone.add(going)
      const read = () =>
        waitUntil(async () => {
          const { body } = await stats.get('/collections/c/stats?by=video')
          return body.gone && body.stale === false && body
        })
      const after = await read()
      expect(after).toMatchObject({ impressions: 200, videos: 2, missing: [never], gone: [{ id: going }] })
      const { since, asOf } = after.gone[0]
      expect(since > asOf).toBe(true)
      expect(asOf >= before.asOf).toBe(true)
      expect(after.byVideo).toMatchObject([{ id: unchanged }, { id: going, views: 100, gone: { since, asOf } }])
      expect(after.byVideo[0]).not.toHaveProperty('gone')

      if (variant !== 'v3') {
        await waitUntil(async () => (await read()).asOf > since)
        await stats.stop()
        youtube.handler = failing
        stats = await startStats({ ...settings, data })
        const unchanged = (await stats.get('/collections/c/stats')).body
        expect(unchanged).toMatchObject({ impressions: 200, missing: [never], gone: [{ id: going, since }] })
        youtube.handler = (ids, reply) => reply.end(listOf(ids.filter((id) => !gone.has(id))))
      }
      gone.delete(going)
      await waitUntil(async () => {
        const { body } = await stats.get('/collections/c/stats')
        return body.gone === undefined && body.impressions === 200
      })
    },
  )
})
