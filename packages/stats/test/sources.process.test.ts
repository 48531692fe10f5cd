import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { SAMPLE_CHANNEL as channel, SAMPLE_PLAYLIST, startStandIn, type TestStandIn } from './support/stand-in.ts'
import { startStats, type TestStats } from './support/stats.ts'

/** The uploads of the stand-in have no other dates than those of its clock. */
const NOON = Date.UTC(2026, 2, 10, 12)
const dates = { from: '2026-03-10', to: '2099-12-31' }

let standIn: TestStandIn
let stats: TestStats
let data: string
const open = () =>
  startStats({ youtubeUri: standIn.url, data, sseUri: '', refreshInterval: 50, sourceInterval: 50, dailyBudget: 0 })

beforeAll(async () => {
  standIn = await startStandIn()
  data = createTemporaryFolder()
  stats = await open()
})
afterAll(async () => {
  await stats.stop()
  await standIn.stop()
})
beforeEach(async () => {
  await standIn.control.clearUploads()
  await standIn.control.freezeClock(NOON)
})

const getCollection = async (id: string) => (await stats.get(`/collections/${id}`)).body
const upload = (videos: { id: string; title?: string; description?: string }[]) =>
  standIn.control.addUploads({ channel: channel.id, videos })
async function readRecords(): Promise<any[]> {
  const text = await (await fetch(`${stats.url}/export`)).text()
  return text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
    .filter(({ type }) => type === 'record')
}
/** Resolves after the playlist was read `count` times more. */
async function waitForReads(count = 3): Promise<void> {
  const getReads = async () => (await stats.get('/upstream')).body.budget.kinds.playlistItems as number
  const before = await getReads()
  await waitUntil(async () => (await getReads()) >= before + count)
}

describe('a campaign that follows a channel', () => {
  it('gets its new uploads that match, without the removed one, also after a restart', async () => {
    const sources = [{ type: 'channel', id: channel.id, title: channel.title, contains: ['#spring'] }]
    expect((await stats.put('/collections/c', { videos: [], ...dates, sources })).status).toBe(201)
    await waitForReads()
    expect((await getCollection('c')).videos).toEqual([])
    await upload([
      { id: 'upload-one1', title: 'Our look #spring' },
      { id: 'upload-two2', title: 'Nothing of ours' },
      { id: 'upload-3333', title: 'Look', description: 'Paid. #Spring' },
    ])
    const added = ['upload-3333', 'upload-one1']
    const after = await waitUntil(async () => {
      const one = await getCollection('c')
      return one.videos.length === 2 && one
    })
    expect(after.videos.toSorted()).toEqual(added)
    expect(after.followed).toEqual(Object.fromEntries(added.map((id) => [id, channel.id])))
    // Added videos are polled as all others.
    await waitUntil(async () => (await stats.get('/collections/c/stats')).body.videos === 2)

    await stats.delete('/collections/c/videos/upload-one1')
    await upload([{ id: 'upload-4444', title: '#spring again' }])
    await waitUntil(async () => (await getCollection('c')).videos.includes('upload-4444'))
    await stats.stop()
    stats = await open()
    await waitForReads()
    expect(await getCollection('c')).toMatchObject({
      videos: ['upload-3333', 'upload-4444'],
      refused: ['upload-one1'],
      followed: { 'upload-3333': channel.id, 'upload-4444': channel.id },
    })
    // A copy does not get what a person removed from the original.
    const copy = (await stats.post('/collections/c/duplicate', {})).body
    await waitForReads()
    const { videos, refused, followed } = await getCollection('c')
    expect(await getCollection(copy.id)).toMatchObject({ videos, refused, followed })
    await stats.delete(`/collections/${copy.id}`)
    await stats.delete('/collections/c')
  })

  it('costs one unit per read, and changes nothing while nothing is new', async () => {
    const sources = [{ type: 'channel', id: channel.id, title: channel.title }]
    await stats.put('/collections/d', { videos: [], ...dates, sources })
    await waitForReads()
    const { version } = await getCollection('d')
    const feed = (await readRecords()).find(({ kind, value }) => kind === 'feed' && value.etag)
    await waitForReads(5)
    const later = (await readRecords()).find(({ key }) => key === feed.key)
    // The known page remains while YouTube responds with 304.
    expect(later.value).toEqual({ ...feed.value, asOf: later.value.asOf, nextAt: later.value.asOf + 50 })
    expect(later.value.asOf).toBeGreaterThan(feed.value.asOf)
    expect((await getCollection('d')).version).toBe(version)
    await stats.delete('/collections/d')
  })

  it('gets the items that a playlist gains at its end', async () => {
    const id = SAMPLE_PLAYLIST
    await stats.put('/collections/p', { videos: [], ...dates, sources: [{ type: 'playlist', id, title: 'P' }] })
    await waitForReads()
    await upload([{ id: 'upload-5555' }])
    await standIn.control.addUploads({ playlist: id, videos: [{ id: 'upload-5555' }] })
    await waitUntil(async () => (await getCollection('p')).videos.includes('upload-5555'))
    expect((await getCollection('p')).followed).toEqual({ 'upload-5555': id })
    await stats.delete('/collections/p')
  })
})

it('reads the channels of videos', async () => {
  await stats.put('/collections/v', { videos: ['-4lB5EKS5Uk'] })
  await waitUntil(async () => (await stats.get('/upstream')).body.budget.kinds.channels > 0)
  const { channelId } = (await stats.get('/collections/v/videos')).body.videos[0]
  const lines = await waitUntil(async () => {
    const records = await readRecords()
    return records.some(({ kind, key }) => kind === 'channel' && key === channelId) && records
  })
  expect(lines.find(({ kind, key }) => kind === 'channel' && key === channelId).value).toMatchObject({
    id: channelId,
    title: expect.any(String),
    hidesSubscribers: true,
    videos: expect.any(Number),
  })
  expect(lines.some(({ kind, key }) => kind === 'channel-point' && key.startsWith(`${channelId}/`))).toBe(true)
})

describe('the state of sources', () => {
  const list = async (id: string) => (await stats.get(`/collections/${id}/sources`)).body.sources

  it('states what each one added, and when it was checked', async () => {
    const sources = [
      { type: 'channel', id: channel.id, title: channel.title, contains: ['#spring'] },
      { type: 'channel', id: 'UC7777777777777777777777', title: 'Gone' },
    ]
    await upload(['upload-6666', 'upload-7777'].map((id) => ({ id, title: '#spring' })))
    await stats.put('/collections/f', { videos: [], ...dates, sources })
    const [followed, missing] = await waitUntil(async () => {
      const found = await list('f')
      return found[0].added === 2 && found.every(({ checked }: any) => checked) && found
    })
    const times = { checked: expect.any(String), next: expect.any(String) }
    expect(followed).toEqual({ ...sources[0], state: 'active', added: 2, ...times })
    expect(missing).toEqual({ ...sources[1], state: 'failing', reason: 'playlistNotFound', added: 0, ...times })
    expect(Date.parse(followed.next)).toBeGreaterThanOrEqual(Date.parse(followed.checked))
    await stats.patch('/collections/f', { archived: true })
    expect(await list('f')).toMatchObject([{ state: 'inactive', reason: 'archived', added: 2 }, {}])
    await stats.delete('/collections/f')
  })

  it('is empty without sources', async () => {
    await stats.put('/collections/e', { videos: [] })
    expect(await list('e')).toEqual([])
    await stats.delete('/collections/e')
  })
})

describe('a source', () => {
  const putSource = (source: object) => stats.put('/collections/s', { videos: [], ...dates, sources: [source] })

  it.each([
    [{ id: channel.id }],
    [{ id: channel.handle }],
    [{ id: `https://www.youtube.com/${channel.handle}/videos` }],
    [{ id: 'youtube.com/user/user7' }],
    [{ id: `https://www.youtube.com/channel/${channel.id}` }],
  ])('%j is stored with the id and the title of its channel', async (source) => {
    await stats.delete('/collections/s')
    const { status, body } = await putSource({ ...source, contains: ['#spring'] })
    expect([status, body.sources]).toEqual([
      201,
      [{ type: 'channel', id: channel.id, title: channel.title, contains: ['#spring'] }],
    ])
  })

  it('may be a playlist', async () => {
    const { body } = await stats.patch('/collections/s', {
      sources: [{ id: `https://www.youtube.com/playlist?list=${SAMPLE_PLAYLIST}` }],
    })
    expect(body.sources).toEqual([{ type: 'playlist', id: SAMPLE_PLAYLIST, title: expect.any(String) }])
  })

  it('is looked up once', async () => {
    const getLookups = async () => (await stats.get('/upstream')).body.budget.kinds.lookups as number
    await putSource({ id: channel.handle })
    const before = await getLookups()
    const { body } = await stats.patch('/collections/s', { sources: [{ id: channel.id, contains: ['new'] }] })
    expect(body.sources).toEqual([{ type: 'channel', id: channel.id, title: channel.title, contains: ['new'] }])
    expect((await stats.patch('/collections/s', { sources: null })).body).not.toHaveProperty('sources')
    await putSource({ type: 'playlist', id: SAMPLE_PLAYLIST, title: 'Mine' })
    expect(await getLookups()).toBe(before)
  })

  it.each([
    [{ id: '@channel9999' }, 422, 'SOURCE_NOT_FOUND'],
    [{ id: 'UC7777777777777777777777' }, 422, 'SOURCE_NOT_FOUND'],
    [{ id: 'https://www.youtube.com/playlist?list=PL99999999999999999999999999999999' }, 422, 'SOURCE_NOT_FOUND'],
    [{ id: 'https://www.tiktok.com/@someone' }, 400, 'VALIDATION_FAILED'],
    [{ id: 'some words' }, 400, 'VALIDATION_FAILED'],
    [{ id: 'https://youtu.be/-4lB5EKS5Uk' }, 400, 'VALIDATION_FAILED'],
  ])('%j is refused with %i %s', async (source, status, code) => {
    expect(await putSource(source)).toMatchObject({ status, body: { code } })
  })

  it('is refused while YouTube is unavailable, or the budget is used up', async () => {
    const unavailable = { status: 503, body: { code: 'UPSTREAM_UNAVAILABLE' } }
    const settings = { data: createTemporaryFolder(), sseUri: '' }
    const offline = await startStats({ ...settings, youtubeUri: 'http://127.0.0.1:9' })
    const campaign = { videos: [], sources: [{ id: channel.handle }] }
    expect(await offline.put('/collections/a', campaign)).toMatchObject(unavailable)
    await offline.stop()
    const poor = await startStats({ ...settings, youtubeUri: standIn.url, dailyBudget: 1 })
    expect((await poor.put('/collections/a', campaign)).status).toBe(201)
    expect(await poor.put('/collections/b', { videos: [], sources: [{ id: '@channel8' }] })).toMatchObject(unavailable)
    await poor.stop()
  })
})
