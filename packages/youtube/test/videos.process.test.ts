import { gunzipSync } from 'node:zlib'
import { request } from 'undici'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { FIXED_COUNTS, FIXED_ID, startStandIn, type StandIn } from './support/stand-in.ts'

let standIn: StandIn
beforeAll(async () => {
  standIn = await startStandIn()
})
afterAll(() => standIn.stop())
beforeEach(() => standIn.control.releaseClock())

const videoIds = Array.from({ length: 50 }, (_, i) => `video-${String(i).padStart(5, '0')}`)

describe('GET /youtube/v3/videos', () => {
  it('answers like Google, indented', async () => {
    const reply = await standIn.get()
    const text = await reply.text()
    expect(reply.status).toBe(200)
    expect(reply.headers.get('content-type')).toBe('application/json; charset=UTF-8')
    const list = JSON.parse(text)
    expect(text).toBe(`${JSON.stringify(list, null, 2)}\n`)
    expect(list).toEqual({
      kind: 'youtube#videoListResponse',
      etag: expect.any(String),
      items: [{ kind: 'youtube#video', etag: expect.any(String), id: FIXED_ID, statistics: FIXED_COUNTS }],
      pageInfo: { totalResults: 1, resultsPerPage: 1 },
    })
    expect(reply.headers.get('etag')).toBe(`"${list.etag}"`)
  })

  it('returns the known counts of the three known videos', async () => {
    const reply = await standIn.get({ id: '-4lB5EKS5Uk,-jlLkTtgWUk,1FEFpk-uIYo' })
    const { items } = (await reply.json()) as any
    expect(items.map((item: any) => item.statistics)).toEqual([FIXED_COUNTS, FIXED_COUNTS, FIXED_COUNTS])
  })

  it('returns the requested parts', async () => {
    const reply = await standIn.get({ part: 'snippet,contentDetails,status,statistics,id,topicDetails' })
    const [video] = ((await reply.json()) as any).items
    expect(Object.keys(video)).toEqual(['kind', 'etag', 'id', 'snippet', 'contentDetails', 'status', 'statistics'])
    expect(video.snippet).toMatchObject({ publishedAt: expect.stringMatching(/Z$/), title: expect.any(String) })
    expect(video.contentDetails.duration).toMatch(/^PT\d+M\d+S$/)
    expect(video.status.privacyStatus).toBe('public')
    const bare = await standIn.get({ part: 'id' })
    expect(Object.keys(((await bare.json()) as any).items[0])).toEqual(['kind', 'etag', 'id'])
  })

  it('preserves the order, returns each video once, and omits videos that do not exist', async () => {
    const reply = await standIn.get({ id: `bbbbbbbbbbb,short,aaaaaaaaaa_,${FIXED_ID},bbbbbbbbbbb` })
    const { items, pageInfo } = (await reply.json()) as any
    expect(items.map((item: any) => item.id)).toEqual(['bbbbbbbbbbb', FIXED_ID])
    expect(pageInfo).toEqual({ totalResults: 2, resultsPerPage: 2 })
    const none = await standIn.get({ id: 'aaaaaaaaaa_' })
    expect(await none.json()).toMatchObject({ items: [], pageInfo: { totalResults: 0, resultsPerPage: 0 } })
  })

  it('omits commentCount if comments are disabled', async () => {
    const [video] = ((await (await standIn.get({ id: 'abcdefghij-' })).json()) as any).items
    expect(Object.keys(video.statistics)).toEqual(['viewCount', 'likeCount', 'dislikeCount', 'favoriteCount'])
  })

  it('returns the requested fields, and does not indent if requested', async () => {
    const reply = await standIn.get({ fields: 'items(id,statistics/viewCount)', prettyPrint: 'false' })
    expect(await reply.text()).toBe(`{"items":[{"id":"${FIXED_ID}","statistics":{"viewCount":"261734"}}]}`)
  })

  it('accepts the key as a header', async () => {
    const url = `${standIn.url}/youtube/v3/videos?part=id&id=${FIXED_ID}`
    expect((await fetch(url, { headers: { 'x-goog-api-key': 'stand-in' } })).status).toBe(200)
    expect((await fetch(url, { headers: { 'x-goog-api-key': 'other' } })).status).toBe(400)
  })

  it('gives every reply a unique id', async () => {
    const ids = await Promise.all([1, 2].map(async () => (await standIn.get()).headers.get('x-request-id')))
    expect(ids[0]).toEqual(expect.any(String))
    expect(ids[0]).not.toBe(ids[1])
  })
})

describe('CORS', () => {
  it('is for the configured origins', async () => {
    const other = await startStandIn({ corsOrigins: 'http://page.test' })
    const headers = (await other.get({}, { origin: 'http://page.test' })).headers
    expect(headers.get('access-control-allow-origin')).toBe('http://page.test')
    expect(headers.get('x-request-id')).toEqual(expect.any(String))
    await other.stop()
    expect((await standIn.get({}, { origin: 'http://page.test' })).headers.has('access-control-allow-origin')).toBe(
      false,
    )
  })
})

describe('ETag', () => {
  it('saves the body for a client that has it', async () => {
    const etag = (await standIn.get()).headers.get('etag')!
    for (const known of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      const { statusCode, headers, body } = await request(standIn.buildVideosUrl(), {
        headers: { 'if-none-match': known },
      })
      expect(statusCode).toBe(304)
      expect(headers.etag).toBe(etag)
      expect(await body.text()).toBe('')
    }
    expect((await standIn.get({}, { 'if-none-match': '"other"' })).status).toBe(200)
  })

  it('changes with the counts and with the parts', async () => {
    const tagOf = async (parameters: Record<string, string>) => (await standIn.get(parameters)).headers.get('etag')
    await standIn.control.freezeClock(Date.UTC(2026, 0, 1))
    const video = { id: videoIds.join(',') }
    const before = await tagOf(video)
    expect(await tagOf(video)).toBe(before)
    expect(await tagOf({ ...video, part: 'snippet,statistics' })).not.toBe(before)
    await standIn.control.freezeClock(Date.UTC(2026, 0, 2))
    expect(await tagOf(video)).not.toBe(before)
  })
})

describe('gzip', () => {
  it('is for replies over 1 KB to clients that accept it', async () => {
    const url = standIn.buildVideosUrl({ id: videoIds.join(',') })
    await standIn.control.freezeClock(Date.UTC(2026, 0, 1))
    const plain = await request(url)
    expect(plain.headers).not.toHaveProperty('content-encoding')
    const text = await plain.body.text()
    const zipped = await request(url, { headers: { 'accept-encoding': 'gzip' } })
    expect(zipped.headers).toMatchObject({ 'content-encoding': 'gzip', vary: 'Accept-Encoding' })
    const bytes = Buffer.from(await zipped.body.arrayBuffer())
    expect(bytes.length).toBe(Number(zipped.headers['content-length']))
    expect(bytes.length).toBeLessThan(text.length)
    expect(gunzipSync(bytes).toString()).toBe(text)
  })

  it('is not for small replies', async () => {
    const { headers, body } = await request(standIn.buildVideosUrl(), { headers: { 'accept-encoding': 'gzip' } })
    expect(headers).not.toHaveProperty('content-encoding')
    expect((await body.text()).length).toBeLessThanOrEqual(1024)
  })
})

const views = async () =>
  Number(((await (await standIn.get({ id: 'abcdefghijk' })).json()) as any).items[0].statistics.viewCount)

describe('the clock', () => {
  it('can be frozen, and counts with it', async () => {
    const at = Date.UTC(2026, 0, 1)
    await standIn.control.freezeClock(at)
    expect(await standIn.control.getClock()).toEqual({ now: at, frozen: true })
    const before = await views()
    await standIn.control.freezeClock(at + 9_999)
    expect(await views()).toBe(before)
    await standIn.control.freezeClock(at + 365 * 86_400_000)
    expect(await views()).toBeGreaterThan(before)
    await standIn.control.freezeClock(at)
    expect(await views()).toBe(before)
  })

  it('freezes at the present by default, and runs again when released', async () => {
    const before = Date.now()
    await standIn.control.freezeClock()
    const frozen = await standIn.control.getClock()
    expect(frozen.frozen).toBe(true)
    expect(frozen.now).toBeGreaterThanOrEqual(before)
    await standIn.control.freezeClock()
    expect(await standIn.control.getClock()).toEqual(frozen)
    await standIn.control.releaseClock()
    expect(await standIn.control.getClock()).toEqual({ now: expect.any(Number), frozen: false })
  })
})

describe('counts', () => {
  it('are the number of calls and of their ids', async () => {
    await standIn.control.resetCounts()
    await standIn.get()
    await standIn.get({ id: videoIds.join(',') })
    await standIn.get({ key: 'wrong' })
    await standIn.get({ id: '' })
    expect(await standIn.control.getCounts()).toEqual({
      calls: 4,
      ids: 52,
      channels: 0,
      playlists: 0,
      playlistItems: 0,
    })
    const metrics = await (await fetch(`${standIn.url}/metrics`)).text()
    expect(metrics).toMatch(/^youtube_calls_total 4$/m)
    expect(metrics).toMatch(/^youtube_ids_total 52$/m)
    await standIn.control.resetCounts()
    expect(await standIn.control.getCounts()).toMatchObject({ calls: 0, ids: 0 })
  })
})
