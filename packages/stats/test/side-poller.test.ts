import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { CollectionsOwner } from '../src/campaigns/collections-owner.ts'
import type { Collection } from '../src/core/campaign.ts'
import { CircuitBreaker } from '../src/core/circuit-breaker.ts'
import { DAY_MS } from '../src/core/quota-budget.ts'
import { errors } from '../src/errors.ts'
import { QuotaMeter } from '../src/quota/quota-meter.ts'
import { SidePoller } from '../src/refresh/side/side-poller.ts'
import { createMapState } from '../src/state/map-state.ts'
import type { PlaylistPage, PlaylistRequest } from '../src/youtube/playlist-page.ts'
import { UpstreamProblem } from '../src/youtube/upstream-problem.ts'
import { steadyNow } from '@influencer-stats/runtime/steady-clock'

const CHANNEL = 'UC0007000700070007000700'
const UPLOADS = 'UU0007000700070007000700'
const source = { type: 'channel' as const, id: CHANNEL }
const NOW_MS = Date.parse('2026-03-10T12:00:00Z')
const HOUR_MS = 3_600_000

/** An upload of an hour ago. */
const createUpload = (id: string, more = {}) => ({ id, publishedAt: new Date(NOW_MS - HOUR_MS).toISOString(), ...more })
const found = (videos: object[], more = {}): PlaylistPage =>
  ({ state: 'found', videos, etag: `etag-${videos.length}`, ...more }) as PlaylistPage

/** Runs a side poller on the state `map` with simulated calls and a simulated clock. */
function setUp(state = createMapState()) {
  vi.useFakeTimers({ toFake: ['performance', 'Date'], now: NOW_MS })
  onTestFinished(() => void vi.useRealTimers())
  const requests: PlaylistRequest[] = []
  const channelCalls: (readonly string[])[] = []
  const lines: string[] = []
  const control = {
    reply: (_request: PlaylistRequest): PlaylistPage => found([]),
    subscribers: 5 as number | undefined,
  }
  const meter = new QuotaMeter(QuotaMeter.createMemory(), 0)
  const collections = new CollectionsOwner({
    state,
    retention: DAY_MS,
    onChange: (id, collection) => {
      if (collection) all.set(id, collection)
      else all.delete(id)
      side.onCollectionChange(id, collection)
    },
  })
  onTestFinished(() => collections.close())
  const all = new Map<string, Collection>()
  const side: SidePoller = new SidePoller({
    caller: {
      async getChannels(ids) {
        channelCalls.push(ids)
        const { subscribers } = control
        const list = ids.map((id) => ({ id, title: 'T', asOf: Date.now(), ...(subscribers && { subscribers }) }))
        return { found: list, unreadable: [] }
      },
      async getPlaylistPage(request) {
        requests.push(request)
        return control.reply(request)
      },
    },
    collections,
    meter,
    logger: { info: (line) => void lines.push(line), error: (line) => void lines.push(line) },
    sourceInterval: 900_000,
  })
  const circuit = new CircuitBreaker()
  const begin = () =>
    side.begin({
      circuit,
      listCollections: () => all.values(),
      getCollection: (id) => all.get(id),
      listVideos: () => [...all.values()].flatMap(({ videos }) => videos),
    })
  /** Does all work that is due after a time (ms). */
  async function run(time = 0): Promise<void> {
    vi.advanceTimersByTime(time)
    for (let works; (works = side.start(steadyNow())).length > 0;) await Promise.all(works)
  }
  const put = (id: string, fields: object = {}) =>
    collections.change('put', id, [], { from: '2026-03-01', sources: [source], ...fields })
  return { state, collections, side, circuit, begin, run, put, all, requests, channelCalls, control, lines, meter }
}

describe('sources', () => {
  it('add uploads that match, once, and mark them', async () => {
    const { put, begin, run, all, control, requests } = setUp()
    begin()
    await put('c', { sources: [{ ...source, contains: ['#spring'] }], to: '2026-03-31' })
    control.reply = () =>
      found([
        createUpload('aaaaaaaaaaa', { title: 'Look #spring' }),
        createUpload('bbbbbbbbbbb', { title: 'Other' }),
        createUpload('ccccccccccc', { title: '#spring', publishedAt: '2026-02-28T23:00:00.000Z' }),
        { id: 'ddddddddddd', title: '#spring' },
      ])
    await run()
    expect(all.get('c')).toMatchObject({ videos: ['aaaaaaaaaaa'], followed: { aaaaaaaaaaa: CHANNEL } })
    const { revision } = all.get('c')!
    control.reply = ({ etag }) => (etag === 'etag-4' ? { state: 'unchanged' } : found([]))
    await run(900_000)
    expect(requests).toEqual([{ playlist: UPLOADS }, { playlist: UPLOADS, etag: 'etag-4' }])
    expect(all.get('c')!.revision).toBe(revision)
  })

  it('never add a removed upload again, also after a restart', async () => {
    const { state, put, begin, run, all, control, collections, side } = setUp()
    begin()
    await put('c')
    control.reply = () => found([createUpload('aaaaaaaaaaa'), createUpload('bbbbbbbbbbb')])
    await run()
    await collections.change('removeVideo', 'c', 'aaaaaaaaaaa')
    control.reply = () => found(['a', 'b', 'c'].map((name) => createUpload(name.repeat(11))))
    await run(900_000)
    expect(all.get('c')).toMatchObject({ videos: ['bbbbbbbbbbb', 'ccccccccccc'], refused: ['aaaaaaaaaaa'] })
    side.end()
    begin()
    await run(900_000)
    expect((await state.get('c'))!.videos).toEqual(['bbbbbbbbbbb', 'ccccccccccc'])
    await collections.change('addVideo', 'c', 'aaaaaaaaaaa')
    expect(all.get('c')).not.toHaveProperty('refused')
  })

  it('continue with the known ETag after a restart, at the same pace', async () => {
    const { put, begin, run, side, control, requests } = setUp()
    begin()
    await put('c')
    control.reply = () => found([createUpload('aaaaaaaaaaa')])
    await run()
    side.end()
    begin()
    await run(600_000)
    expect(requests).toHaveLength(1)
    control.reply = () => ({ state: 'unchanged' })
    await run(300_001)
    expect(requests.slice(1)).toEqual([{ playlist: UPLOADS, etag: 'etag-1' }])
  })

  it('read the list once more without its ETag when a rule changes', async () => {
    const { put, begin, run, all, control, requests, collections } = setUp()
    begin()
    await put('c', { sources: [{ ...source, contains: ['x'] }] })
    control.reply = ({ etag }) => (etag ? { state: 'unchanged' } : found([createUpload('aaaaaaaaaaa', { title: 'y' })]))
    await run()
    expect(all.get('c')!.videos).toEqual([])
    await collections.change('patch', 'c', { sources: [{ ...source, contains: ['y'] }] })
    await run()
    expect(requests.map(({ etag }) => etag)).toEqual([undefined, undefined])
    expect(all.get('c')!.videos).toEqual(['aaaaaaaaaaa'])
    await collections.change('patch', 'c', { name: 'N' })
    await run()
    expect(requests).toHaveLength(2)
  })

  it('read further pages until the begin of the campaign, or a known video', async () => {
    const { put, begin, run, all, control, requests } = setUp()
    begin()
    await put('c', { from: '2026-03-08' })
    const pages: Record<string, PlaylistPage> = {
      first: found([createUpload('aaaaaaaaaaa')], { nextPageToken: 'second' }),
      second: found([createUpload('bbbbbbbbbbb')], { nextPageToken: 'third', etag: 'other' }),
      third: found([createUpload('ccccccccccc', { publishedAt: '2026-03-07T00:00:00.000Z' })], { nextPageToken: 'no' }),
    }
    control.reply = ({ pageToken = 'first' }) => pages[pageToken]!
    await run()
    expect(requests.map(({ pageToken }) => pageToken)).toEqual([undefined, 'second', 'third'])
    expect(all.get('c')!.videos).toEqual(['aaaaaaaaaaa', 'bbbbbbbbbbb'])
    pages.first = found([createUpload('nnnnnnnnnnn'), createUpload('aaaaaaaaaaa')], { nextPageToken: 'second' })
    await run(900_000)
    expect(requests.slice(3)).toEqual([{ playlist: UPLOADS, etag: 'etag-1' }])
    expect(all.get('c')!.videos).toContain('nnnnnnnnnnn')
  })

  it('read all pages of a playlist, whole at least once a day', async () => {
    const { put, begin, run, control, requests } = setUp()
    begin()
    await put('c', { sources: [{ type: 'playlist', id: 'PLplaylist' }] })
    control.reply = ({ etag, pageToken }) =>
      etag ? { state: 'unchanged' } : found([createUpload('aaaaaaaaaaa')], pageToken ? {} : { nextPageToken: 'end' })
    await run()
    await run(900_000)
    await run(DAY_MS)
    expect(requests.map(({ etag, pageToken }) => pageToken ?? etag)).toEqual([
      undefined,
      'end',
      'etag-1',
      undefined,
      'end',
    ])
  })

  it('are read only in the dates of a campaign, and not from the archive', async () => {
    const { put, begin, run, requests, collections } = setUp()
    begin()
    await put('c', { from: '2026-03-11', to: '2026-03-12' })
    await run()
    expect(requests).toHaveLength(0)
    await run(DAY_MS / 2)
    expect(requests).toHaveLength(1)
    await collections.change('patch', 'c', { archived: true })
    await run(DAY_MS / 2)
    expect(requests).toHaveLength(1)
    await collections.change('patch', 'c', { archived: null })
    await run()
    expect(requests).toHaveLength(2)
    await run(5 * DAY_MS)
    await run(HOUR_MS)
    expect(requests.length).toBeLessThan(4)
  })

  it('report a playlist that cannot be read once, and continue', async () => {
    const { put, begin, run, control, lines, circuit, state } = setUp()
    begin()
    await put('c')
    control.reply = () => ({ state: 'inaccessible', reason: 'playlistNotFound' })
    await run()
    await run(900_000)
    expect(lines).toEqual([expect.stringContaining('playlistNotFound')])
    expect(circuit.pause).toBeUndefined()
    expect((await state.getRecords('feed', [UPLOADS]))[0]).toMatchObject({ reason: 'playlistNotFound' })
  })

  it('pause with all other calls in an outage, and leave one fault alone', async () => {
    const { put, begin, run, control, circuit, requests } = setUp()
    begin()
    await put('c')
    control.reply = () => {
      throw new UpstreamProblem({ kind: 'server', detail: 'unreadable', remedy: 'wait' })
    }
    await run()
    expect(circuit.pause).toBeUndefined()
    control.reply = () => {
      throw new UpstreamProblem({ kind: 'quota', detail: 'quotaExceeded', remedy: 'wait' })
    }
    await run(60_000)
    expect(circuit.pause?.fault.kind).toBe('quota')
    const { length } = requests
    await run(600_000)
    expect(requests).toHaveLength(length)
  })

  it('are read again if the uploads could not be stored', async () => {
    const { put, begin, run, all, control, requests, state } = setUp()
    begin()
    await put('c')
    control.reply = ({ etag }) => (etag ? { state: 'unchanged' } : found([createUpload('aaaaaaaaaaa')]))
    const spy = vi.spyOn(state, 'put').mockImplementationOnce(() => {
      throw errors.STATE_UNAVAILABLE()
    })
    await run()
    expect(all.get('c')!.videos).toEqual([])
    spy.mockRestore()
    await run(60_000)
    expect(requests.map(({ etag }) => etag)).toEqual([undefined, undefined])
    expect(all.get('c')!.videos).toEqual(['aaaaaaaaaaa'])
  })
})

describe('channels of videos', () => {
  const details = (channelId: string) => [{ id: 'a', channelId, asOf: 1 }]

  it('are read once a day, with a point if their counts have changed', async () => {
    const { state, begin, run, side, control, channelCalls, collections } = setUp()
    begin()
    await run()
    await collections.change('put', 'v', ['aaaaaaaaaaa'])
    await state.putVideos([{ id: 'aaaaaaaaaaa', details: { id: 'aaaaaaaaaaa', channelId: CHANNEL, asOf: 1 } }])
    side.addChannels(details(CHANNEL))
    side.addChannels(details(CHANNEL))
    await run(5_000)
    await run(DAY_MS)
    control.subscribers = 6
    await run(DAY_MS)
    expect(channelCalls).toEqual([[CHANNEL], [CHANNEL], [CHANNEL]])
    expect((await state.getRecords('channel', [CHANNEL]))[0]).toMatchObject({ title: 'T', subscribers: 6 })
    const points = await state.listRecords('channel-point', { prefix: `${CHANNEL}/`, limit: 9 })
    expect(points.map(({ value }) => value.subscribers)).toEqual([5, 6])
  })

  it('are those of the stored videos after a restart, and not read sooner', async () => {
    const { state, put, begin, run, collections, side, channelCalls } = setUp()
    await collections.change('put', 'v', ['aaaaaaaaaaa', 'bbbbbbbbbbb'])
    await put('c', { sources: [] })
    await state.putVideos([
      { id: 'aaaaaaaaaaa', details: { id: 'aaaaaaaaaaa', channelId: CHANNEL, asOf: 1 } },
      { id: 'bbbbbbbbbbb', details: { id: 'bbbbbbbbbbb', channelId: 'UCother', asOf: 1 } },
    ])
    await state.putRecords([{ kind: 'channel', key: CHANNEL, value: { id: CHANNEL, asOf: NOW_MS - HOUR_MS } }])
    begin()
    await run()
    await run(5_000)
    expect(channelCalls).toEqual([['UCother']])
    await collections.change('removeVideo', 'v', 'bbbbbbbbbbb')
    await run(DAY_MS)
    expect(channelCalls[1]).toContain(CHANNEL)
    await run(DAY_MS)
    expect(side.size.channels).toBe(1)
    expect(channelCalls.at(-1)).toEqual([CHANNEL])
  })

  it('cost the videos their share of the budget only while this node polls', async () => {
    const { begin, side, run, meter } = setUp()
    expect(side.getVideoQuota(0)).toEqual(meter.remainingQuota)
    begin()
    await run()
    side.addChannels(details(CHANNEL))
    await run(5_000)
    side.end()
    await run(DAY_MS)
    expect([side.size, side.getWakeAt(0)]).toEqual([{ channels: 0, sources: 0 }, Infinity])
  })
})
