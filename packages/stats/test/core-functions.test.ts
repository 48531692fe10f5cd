import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { selectEveryStep, type Point } from '../src/core/history-points.ts'
import { interpolateStart } from '../src/core/growth.ts'
import { combine, sum, toSnapshot } from '../src/core/video-numbers.ts'
import { DAY_MS, computeRefreshInterval, getRemainingQuota, getTimeUntilReset } from '../src/core/quota-budget.ts'
import { formatBody, getReplyEtag, isStale, prepare, prepareByVideo } from '../src/core/prepared-reply.ts'
import { parseDetails, parseVideos, buildVideosPath } from '../src/youtube/video-list.ts'
import { isShort } from '../src/core/video-details.ts'
import { videoId, videoNumbers } from './support/video-numbers.ts'

const HOUR_MS = 3_600_000

describe('sum', () => {
  it('counts the sample as the original programs do', () => {
    const one = { views: 261_734, likes: 14_237, dislikes: 928, comments: 451 }
    const videos = ['a', 'b', 'c'].map((id) => ({ id, ...one }))
    expect(sum(videos)).toEqual({ impressions: 785_202, engagements: 46_848, score: 89_559, videos: 3 })
  })

  it('is zero for an empty list', () => {
    expect(sum([])).toEqual({ impressions: 0, engagements: 0, score: 0, videos: 0 })
  })

  it('of two lists is the sum of their sums', () => {
    fc.assert(
      fc.property(fc.array(videoNumbers), fc.array(videoNumbers), (a, b) => {
        const [left, right, both] = [sum(a), sum(b), sum([...a, ...b])]
        expect(both.impressions).toBe(left.impressions + right.impressions)
        expect(both.engagements).toBe(left.engagements + right.engagements)
        expect(both.score).toBe(left.score + right.score)
      }),
    )
  })
})

describe('snapshots', () => {
  it('keep the order of the collection and list missing videos', () => {
    fc.assert(
      fc.property(fc.uniqueArray(videoId), fc.array(videoNumbers), (ids, more) => {
        const known = ids.filter((_, i) => i % 2 === 0)
        const found = known.map((id) => ({ id, views: 1, likes: 1, comments: 1 })).toReversed()
        const others = more.filter(({ id }) => !ids.includes(id))
        const snapshot = toSnapshot(ids, [...others, ...found], 5)
        expect(snapshot.videos.map(({ id }) => id)).toEqual(known)
        expect(snapshot.missing).toEqual(ids.filter((id) => !known.includes(id)))
      }),
    )
  })

  it('contain a part of their videos, and list the unknown ones', () => {
    const before = toSnapshot(['a', 'b', 'c'], [{ id: 'a', views: 1, likes: 1, comments: 1 }], 5)
    const nothing = toSnapshot([], [], 9)
    expect(combine(['c', 'a'], nothing, before, 0)).toEqual({ ...before, missing: ['c'] })
    expect(combine(['a', 'd'], nothing, before, 0)).toEqual({ ...before, missing: [], unknown: ['d'] })
    expect(combine(['d'], nothing, before, 0)).toBeUndefined()
    expect(combine([], nothing, before, 0)).toEqual(nothing)
    const now = toSnapshot(['a', 'b'], [{ id: 'a', views: 2, likes: 1, comments: 1 }], 9)
    expect(combine(['a', 'b'], now, before, 0)).toEqual(now)
    expect(combine(['a', 'b', 'c'], now, before, 0)).toEqual({ ...now, missing: ['b', 'c'], asOf: 5, since: 9 })
  })
})

describe('prepared replies', () => {
  it('are unchanged without removed videos, and list removed ones', () => {
    const one = { id: 'a', views: 3, likes: 2, comments: 1 }
    const reading = { snapshot: { videos: [one], missing: ['b'], unknown: ['c'], asOf: 0 }, at: 0 }
    const sums = '{"impressions":3,"engagements":3,"score":5,"videos":1,"missing":["b"],"unknown":["c"],'
    const end = '"asOf":"1970-01-01T00:00:00.000Z","stale":false'
    expect(formatBody(prepare(reading), false)).toBe(`${sums}${end}}`)
    expect(formatBody(prepareByVideo(reading), false)).toBe(
      `${sums}${end},"byVideo":[{"id":"a","views":3,"likes":2,"comments":1}]}`,
    )
    const removed = { ...reading, snapshot: { ...reading.snapshot, videos: [{ ...one, gone: { since: 1, asOf: 0 } }] } }
    const times = '"since":"1970-01-01T00:00:00.001Z","asOf":"1970-01-01T00:00:00.000Z"'
    expect(formatBody(prepare(removed), false)).toBe(`${sums}"gone":[{"id":"a",${times}}],${end}}`)
  })

  it('are JSON with a correct length, and an ETag that changes with them', () => {
    fc.assert(
      fc.property(fc.array(videoNumbers), fc.uniqueArray(videoId), fc.boolean(), (videos, missing, stale) => {
        const reading = { snapshot: { videos, missing, asOf: 1_000 }, at: 50 }
        const plain = prepare(reading)
        expect([70, 71].map((now) => isStale(plain, now, 20))).toEqual([false, true])
        const body = formatBody(plain, stale)
        expect(body.length).toBe(Buffer.byteLength(body))
        expect(JSON.parse(body)).toEqual({ ...sum(videos), missing, asOf: '1970-01-01T00:00:01.000Z', stale })
        expect(JSON.parse(formatBody(prepareByVideo(reading), stale))).toMatchObject({ byVideo: videos, stale })
        const others = [
          prepareByVideo(reading),
          prepare({ ...reading, snapshot: { ...reading.snapshot, asOf: 1_001 } }),
        ]
        const etags = [...others, plain].flatMap((reply) => [true, false].map((old) => getReplyEtag(reply, old)))
        expect(new Set(etags).size).toBe(6)
        expect(getReplyEtag(prepare(reading), stale)).toBe(getReplyEtag(plain, stale))
      }),
    )
  })
})

describe('history', () => {
  const points = (times: number[]): Point[] =>
    times.map((at) => ({ at, impressions: 1, engagements: 1, score: 1, videos: 1 }))

  it('is exact between two points only if none between them was pruned', () => {
    const at = (hours: number, impressions: number, before?: [number, number]): Point => ({
      at: hours * HOUR_MS,
      impressions,
      engagements: 0,
      score: 0,
      videos: 1,
      ...(before && { before }),
    })
    const end = { point: at(44, 900), until: 44 * HOUR_MS }
    const first = at(18, 100)
    const start = (next: Point) => interpolateStart('24h', end, { before: first, next })
    expect(start(at(22, 500, [18 * HOUR_MS, 21 * HOUR_MS]))).toMatchObject({ impressions: 100, at: 20 * HOUR_MS })
    expect(start(at(22, 500, [19 * HOUR_MS, 21 * HOUR_MS]))).toBeUndefined()
    expect(start(at(20.5, 500, [18 * HOUR_MS, 19.5 * HOUR_MS]))).toMatchObject({ impressions: 300 })
    expect(start(at(22, 500))).toBeUndefined()
  })

  it('returns the last point of each step', () => {
    expect(selectEveryStep(points([1, 5, 9, 10, 25, 29]), (at) => Math.floor(at / 10)).map(({ at }) => at)).toEqual([
      9, 10, 29,
    ])
  })
})

describe('pace', () => {
  const noon = Date.parse('2026-11-20T20:00:00Z')

  it('computes the reset of the quota: midnight Pacific Time', () => {
    expect(getTimeUntilReset(noon)).toBe(12 * HOUR_MS)
    expect(getTimeUntilReset(Date.parse('2026-11-20T08:00:00Z'))).toBe(DAY_MS)
  })

  it('is never faster than the minimum interval, nor than the daily budget allows', () => {
    expect(computeRefreshInterval(getRemainingQuota(10_000, 0, noon), 1, 10_000)).toBe(10_000)
    expect(computeRefreshInterval(getRemainingQuota(10_000, 0, noon), 200, 10_000)).toBe((DAY_MS * 200) / 10_000)
    expect(computeRefreshInterval(getRemainingQuota(0, 0, noon), 200, 10_000)).toBe(10_000)
  })

  it('slows down when few units are left, and waits for the next day when too few are', () => {
    expect(computeRefreshInterval(getRemainingQuota(10_000, 9_000, noon), 200, 10_000)).toBe(
      (12 * HOUR_MS * 200) / 1_000,
    )
    expect(computeRefreshInterval(getRemainingQuota(10_000, 9_900, noon), 200, 10_000)).toBe(12 * HOUR_MS)
  })

  it('never exceeds the budget of a day, regardless of the earlier use', () => {
    const arbitrary = [fc.integer({ min: 1, max: 500 }), fc.integer({ min: 1, max: 20_000 }), fc.nat(20_000)] as const
    fc.assert(
      fc.property(...arbitrary, (calls, budget, used) => {
        const start = Date.parse('2026-11-20T08:00:00Z')
        let spent = Math.min(used, budget)
        const before = spent
        let rounds = 0
        for (let now = start; now < start + DAY_MS && rounds < 300; rounds++) {
          now += computeRefreshInterval(getRemainingQuota(budget, spent, now), calls, 10_000)
          if (now < start + DAY_MS) spent += calls
        }
        expect(spent).toBeLessThanOrEqual(Math.max(budget, before))
      }),
    )
  })
})

describe('videos.list', () => {
  it('requests ids in one call, with the key escaped', () => {
    expect(buildVideosPath(['a', 'b'], 'k&y')).toBe(
      '/youtube/v3/videos?part=statistics&fields=kind,items(id,statistics)&prettyPrint=false&id=a,b&key=k%26y',
    )
  })

  it('requests details, and reads the valid ones', () => {
    expect(buildVideosPath(['a'], 'k', true)).toContain('part=snippet,contentDetails,statistics&')
    const snippet = { title: 'T', channelTitle: 'C', channelId: 'UC', publishedAt: '2020-01-02T03:04:05Z' }
    const known = { title: 'T', channel: 'C', channelId: 'UC', publishedAt: '2020-01-02T03:04:05.000Z' }
    const odd = { title: 5, channelTitle: '', channelId: null, publishedAt: 'yesterday' }
    const long = { title: 'x'.repeat(10_000) }
    const ids = ['a', 'b', 'c', 'd']
    const items = [snippet, odd, undefined, long].map((one, i) => ({ id: ids[i], snippet: one }))
    expect(parseDetails([...items, { id: 'other', snippet }, null, 7], ids, 9)).toEqual([
      { id: 'a', ...known, asOf: 9 },
      { id: 'b', asOf: 9 },
      { id: 'c', asOf: 9 },
      { id: 'd', title: 'x'.repeat(500), asOf: 9 },
    ])
  })

  it('reads lengths and states of broadcasts', () => {
    const read = (duration: unknown, liveBroadcastContent?: unknown) =>
      parseDetails([{ id: 'a', snippet: { liveBroadcastContent }, contentDetails: { duration } }], ['a'], 9)[0]!
    const lengths = [
      ['PT59S', 59],
      ['PT1M', 60],
      ['PT12M34S', 754],
      ['PT1H2M3S', 3_723],
      ['P1DT2H', 93_600],
      ['P1W', 604_800],
      ['P0D', undefined],
      ['PT', undefined],
      ['P', undefined],
      ['12', undefined],
      [60, undefined],
      [undefined, undefined],
    ] as const
    for (const [text, seconds] of lengths) expect([text, read(text).duration]).toEqual([text, seconds])
    for (const live of ['none', 'live', 'upcoming']) expect(read('P0D', live)).toEqual({ id: 'a', live, asOf: 9 })
    expect(read('PT1M', 'ended')).toEqual({ id: 'a', duration: 60, asOf: 9 })
    expect([isShort(read('PT1M', 'none')), isShort(read('PT61S', 'none')), isShort(read('PT9S', 'live'))]).toEqual([
      true,
      false,
      false,
    ])
    expect(isShort({})).toBe(false)
  })

  it('reads counts that are strings, and omits absent ones', () => {
    const statistics = { viewCount: '10', likeCount: '2', commentCount: '1' }
    const items = [
      { id: 'a', statistics },
      { id: 'b', statistics: { viewCount: '7', dislikeCount: '3' } },
    ]
    expect(parseVideos(200, JSON.stringify({ items }), ['a', 'b'], 50).found).toEqual([
      { id: 'a', views: 10, likes: 2, comments: 1 },
      { id: 'b', views: 7, dislikes: 3 },
    ])
    expect(parseVideos(200, '{"kind":"youtube#videoListResponse"}', ['a', 'b'], 50).found).toEqual([])
  })

  it('lists unreadable items, and reads the others', () => {
    const good = { id: 'good', statistics: { viewCount: '1' } }
    const ids = ['good', 'bad', 'omitted']
    const parse = (bad: unknown) => parseVideos(200, JSON.stringify({ items: [bad, good] }), ids, 50)
    const spoilt = [1, '-1', '1.5', '', null, '9007199254740993', {}].map((viewCount) => ({ viewCount }))
    for (const statistics of [...spoilt, null, 7, 'x']) {
      const { found, unreadable } = parse({ id: 'bad', statistics })
      expect(found).toEqual([{ id: 'good', views: 1 }])
      expect(unreadable).toEqual(['bad'])
    }
    // An item without an id may be any video.
    for (const bad of [{ id: 1, statistics: {} }, null, 7]) expect(parse(bad).unreadable).toEqual(['bad', 'omitted'])
    for (const bad of [{ id: 'bad' }, { id: 'bad', statistics: {} }]) {
      expect(parse(bad)).toMatchObject({ found: [{ id: 'bad' }, { id: 'good', views: 1 }], unreadable: [] })
    }
  })

  it('treats an empty list as a fault only in the response to a full call of several ids', () => {
    const list = '{"kind":"youtube#videoListResponse","items":[]}'
    expect(parseVideos(200, list, ['a'], 1).found).toEqual([])
    expect(parseVideos(200, list, ['a', 'b'], 50).found).toEqual([])
    expect(() => parseVideos(200, list, ['a', 'b'], 2)).toThrow('none of 2 videos')
  })

  it.each([
    [200, ''],
    [200, '<html>'],
    [200, 'null'],
    [200, '{}'],
    [200, '{"items":{}}'],
    [200, '{"items":[{"id":1,"statistics":{}}]}'],
    [200, '{"items":[{"id":"a","statistics":{"viewCount":12}}]}'],
    [200, '{"items":[{"id":"a","statistics":{"viewCount":"-1"}}]}'],
    [200, '{"items":[{"id":"b","statistics":{}}]}'],
    [403, '{"error":{"errors":[{"reason":"quotaExceeded"}]}}'],
    [500, 'oops'],
    [503, '{}'],
  ])('refuses nonsense and errors: %i %s', (status, text) => {
    expect(() => parseVideos(status, text, ['a'], 50)).toThrow(
      expect.objectContaining({ code: 'UPSTREAM_UNAVAILABLE' }),
    )
  })

  it('refuses every reply that is not from the API, and has no other failure', () => {
    fc.assert(
      fc.property(fc.integer({ min: 200, max: 599 }), fc.oneof(fc.json(), fc.string()), (status, text) => {
        try {
          expect(Array.isArray(parseVideos(status, text, ['a'], 50).found)).toBe(true)
        } catch (error) {
          expect(error).toMatchObject({ code: 'UPSTREAM_UNAVAILABLE' })
        }
      }),
    )
  })

  it('reports the reason of a refusal, and no other part of the reply', () => {
    const reply = (reason: string) => JSON.stringify({ error: { errors: [{ reason }] } })
    expect(() => parseVideos(403, reply('quotaExceeded'), [], 50)).toThrow('quotaExceeded')
    expect(() => parseVideos(403, reply('key=secret'), [], 50)).toThrow('no reason given')
  })
})
