import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { request } from 'undici'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { MAX_SOURCES, MAX_TAGS } from '../src/core/campaign.ts'
import { SAMPLE_VIDEOS, startStandIn, type TestStandIn } from './support/stand-in.ts'
import { toContent, startStats, type TestStats } from './support/stats.ts'

const CAMPAIGN = {
  name: '<b>Spring</b> & "co", Весна 🌱',
  tags: ['drinks', 'spring'],
  from: '2026-03-01',
  to: '2026-05-31',
  cost: 12_500.5,
  currency: 'EUR',
}

const FEE = { creator: 'UCuAXFkgsw1L7xaCfnd5JJOw', amount: 900.5 }
const SOURCE = { type: 'channel', id: 'UCuAXFkgsw1L7xaCfnd5JJOw', title: 'C' }

describe('campaigns', () => {
  let standIn: TestStandIn
  let stats: TestStats
  const settings = { data: createTemporaryFolder() }
  beforeAll(async () => {
    standIn = await startStandIn()
    stats = await startStats({ youtubeUri: standIn.url, corsOrigins: 'https://app.example', ...settings })
  })
  afterAll(async () => {
    await stats.stop()
    await standIn.stop()
  })

  it('are stored unchanged, also over a restart, and removed by a PUT without them', async () => {
    const [video] = SAMPLE_VIDEOS
    const given = { videos: [video], ...CAMPAIGN, tags: [...CAMPAIGN.tags, CAMPAIGN.tags[0]] }
    const unchanged = { id: 'c', videos: [video], ...CAMPAIGN }
    expect(await stats.put('/collections/c', given)).toMatchObject({ status: 201, body: unchanged })
    await stats.stop()
    stats = await startStats({ youtubeUri: standIn.url, corsOrigins: 'https://app.example', ...settings })
    expect(toContent((await stats.get('/collections/c')).body)).toEqual(unchanged)
    expect((await stats.get('/collections?limit=1&after=b')).body.collections.map(toContent)).toEqual([unchanged])
    await stats.put(`/collections/c/videos/${SAMPLE_VIDEOS[1]}`)
    expect(toContent((await stats.get('/collections/c')).body)).toEqual({
      ...unchanged,
      videos: SAMPLE_VIDEOS.slice(0, 2),
    })
    await stats.delete(`/collections/c/videos/${SAMPLE_VIDEOS[1]}`)
    expect(toContent((await stats.get('/collections/c')).body)).toEqual(unchanged)
    await stats.put('/collections/c', { videos: [video] })
    expect(toContent((await stats.get('/collections/c')).body)).toEqual({ id: 'c', videos: [video] })
  })

  it('change only in the fields of a PATCH, and lose the fields that are null', async () => {
    await stats.put('/collections/p', { videos: SAMPLE_VIDEOS, ...CAMPAIGN })
    const renamed = { id: 'p', videos: SAMPLE_VIDEOS, ...CAMPAIGN, name: 'Summer' }
    expect(await stats.patch('/collections/p', { name: 'Summer' })).toMatchObject({ status: 200, body: renamed })
    const { cost: _cost, tags: _tags, ...rest } = renamed
    expect(toContent((await stats.patch('/collections/p', { cost: null, tags: [] })).body)).toEqual(rest)
    expect(toContent((await stats.patch('/collections/p', {})).body)).toEqual(rest)
    const [video] = SAMPLE_VIDEOS
    expect(toContent((await stats.patch('/collections/p', { videos: [video, video] })).body)).toEqual({
      ...rest,
      videos: [video],
    })
    expect(toContent((await stats.get('/collections/p')).body)).toEqual({ ...rest, videos: [video] })
    const unknownUrl = await stats.patch('/collections/none', { name: 'x' })
    expect(unknownUrl).toMatchObject({ status: 404, body: { code: 'COLLECTION_NOT_FOUND' } })
    expect((await stats.get('/collections/none')).status).toBe(404)
  })

  it('may be changed from a page of a named origin', async () => {
    const headers = { origin: 'https://app.example', 'access-control-request-method': 'PATCH' }
    const preflight = await request(`${stats.url}/collections/p`, { method: 'OPTIONS', headers })
    expect(preflight.headers['access-control-allow-methods']).toContain('PATCH')
    await preflight.body.dump()
  })

  it('accept links in place of ids everywhere', async () => {
    const links = [
      `https://www.youtube.com/watch?app=desktop&v=${SAMPLE_VIDEOS[0]}&t=10s`,
      `https://youtu.be/${SAMPLE_VIDEOS[1]}?si=abc`,
      ` https://m.youtube.com/shorts/${SAMPLE_VIDEOS[2]}\n`,
      SAMPLE_VIDEOS[0],
    ]
    expect((await stats.put('/collections/l', { videos: links })).body.videos).toEqual(SAMPLE_VIDEOS)
    const patched = await stats.patch('/collections/l', { videos: [`music.youtube.com/watch?v=${SAMPLE_VIDEOS[1]}`] })
    expect(patched.body.videos).toEqual([SAMPLE_VIDEOS[1]])
    const path = `/collections/l/videos/${encodeURIComponent(`https://youtube.com/live/${SAMPLE_VIDEOS[2]}?feature=x`)}`
    expect(await stats.put(path)).toMatchObject({ status: 201, body: { videos: [SAMPLE_VIDEOS[1], SAMPLE_VIDEOS[2]] } })
    expect((await stats.delete(path)).status).toBe(204)
  })

  const invalid = { status: 400, code: 'VALIDATION_FAILED' }
  it.each([
    ['a name of a megabyte', { name: 'x'.repeat(1_000_000) }, invalid],
    ['an empty name', { name: '' }, invalid],
    ['a name that is a number', { name: 5 }, invalid],
    ['10,000 tags', { tags: Array.from({ length: 10_000 }, (_, i) => `t${i}`) }, invalid],
    ['too many tags', { tags: Array.from({ length: MAX_TAGS + 1 }, (_, i) => `t${i}`) }, invalid],
    ['an empty tag', { tags: [''] }, invalid],
    ['a day that is none', { from: '2026-02-30' }, invalid],
    ['a day in another form', { to: '31.12.2026' }, invalid],
    [
      'an end before the beginning',
      { from: '2026-05-31', to: '2026-05-30' },
      { status: 409, code: 'INVALID_DATE_RANGE' },
    ],
    ['a negative cost', { cost: -1 }, invalid],
    ['an infinite cost', '{"cost":1e400}', invalid],
    ['a cost in words', { cost: '5' }, invalid],
    ['fees beside a cost', { fees: [{ creator: 'A', amount: 1 }], cost: 1 }, { status: 409, code: 'COST_AMBIGUOUS' }],
    ['two fees for one creator', { fees: [FEE, FEE] }, { status: 409, code: 'COST_AMBIGUOUS' }],
    ['a fee without a creator', { fees: [{ amount: 5 }] }, invalid],
    ['a negative fee', { fees: [{ creator: 'A', amount: -5 }] }, invalid],
    ['a source of another kind', { sources: [{ ...SOURCE, type: 'user' }] }, invalid],
    ['a source of another site', { sources: [{ ...SOURCE, id: 'https://vimeo.com/@a' }] }, invalid],
    [
      'too many sources',
      { sources: Array.from({ length: MAX_SOURCES + 1 }, (_, i) => ({ ...SOURCE, id: `PL${i}` })) },
      invalid,
    ],
    ['videos that sources added', { followed: {} }, invalid],
    ['an unknown currency', { currency: 'ABC' }, invalid],
    ['a currency in small letters', { currency: 'eur' }, invalid],
    ['a link to another site', { videos: ['https://vimeo.com/123456789'] }, invalid],
    ['a field that there is not', { budget: 5 }, invalid],
  ])('refuse %s without a change', async (_, wrong, { status, code }) => {
    const before = { videos: [SAMPLE_VIDEOS[0]], ...CAMPAIGN }
    await stats.put('/collections/kept', before)
    const patch = typeof wrong === 'string' ? wrong : JSON.stringify(wrong)
    const put = patch.replace('{', patch.includes('"videos"') ? '{' : '{"videos":[],')
    for (const refused of [
      await stats.patch('/collections/kept', patch),
      await stats.put('/collections/kept', put),
      await stats.put('/collections/new', put),
    ]) {
      expect(refused).toMatchObject({ status, body: { status, code, title: expect.any(String) } })
      expect(JSON.stringify(refused.body).length).toBeLessThan(1_000)
    }
    expect(toContent((await stats.get('/collections/kept')).body)).toEqual({ id: 'kept', ...before })
    expect((await stats.get('/collections/new')).status).toBe(404)
  })

  it('are not changed to end before they begin by a change of one of the days', async () => {
    await stats.put('/collections/d', { videos: [], from: '2026-03-01' })
    const refused = await stats.patch('/collections/d', { to: '2026-02-28' })
    expect(refused).toMatchObject({ status: 409, body: { code: 'INVALID_DATE_RANGE' } })
    expect(toContent((await stats.get('/collections/d')).body)).toEqual({ id: 'd', videos: [], from: '2026-03-01' })
    expect((await stats.patch('/collections/d', { to: '2026-03-01' })).status).toBe(200)
  })

  it('have fees in place of a cost, sources and a mark of the archive', async () => {
    const fees = [FEE, { creator: 'B', amount: 0 }]
    const other = { type: 'playlist', id: 'PLabc', contains: ['#ad'], title: 'Clips' }
    const fields = { videos: SAMPLE_VIDEOS, fees, currency: 'EUR', sources: [SOURCE, other], archived: true }
    const put = await stats.put('/collections/f', { ...fields, sources: [SOURCE, other, { ...other, title: 'Again' }] })
    expect(toContent(put.body)).toEqual({ id: 'f', ...fields })
    await stats.get('/collections/f/stats')
    const row = (await stats.get('/collections/f?include=stats')).body
    expect(row.costs.perEngagement).toBeCloseTo(FEE.amount / row.stats.engagements)
    await stats.put('/collections/g', { videos: [], cost: FEE.amount - 1 })
    const { collections } = (await stats.get('/collections?sort=-cost&limit=200')).body
    const ids = collections.map(({ id }: { id: string }) => id)
    expect(ids.indexOf('f')).toBeLessThan(ids.indexOf('g'))

    expect((await stats.patch('/collections/f', { cost: 5 })).body.code).toBe('COST_AMBIGUOUS')
    const patched = await stats.patch('/collections/f', { cost: 5, fees: null, sources: [other], archived: false })
    const rest = { id: 'f', videos: SAMPLE_VIDEOS, currency: 'EUR' }
    expect(toContent(patched.body)).toEqual({ ...rest, cost: 5, sources: [other] })
    expect(toContent((await stats.patch('/collections/f', { cost: null, fees, archived: true })).body)).toEqual({
      ...rest,
      fees,
      sources: [other],
      archived: true,
    })
    expect(toContent((await stats.put('/collections/f', { videos: [] })).body)).toEqual({ id: 'f', videos: [] })
  })

  it('name the invalid link', async () => {
    const videos = [SAMPLE_VIDEOS[0], `https://vimeo.com/${'1'.repeat(200)}`]
    const { detail } = (await stats.put('/collections/n', { videos })).body
    expect(detail).toContain('body/videos/1')
    expect(detail).toContain('https://vimeo.com/111')
    expect(detail.length).toBeLessThan(250)
  })
})
