import { steadyNow } from '@influencer-stats/runtime/steady-clock'
import { describe, expect, it, vi } from 'vitest'
import { DAY_MS } from '../src/core/quota-budget.ts'
import { errors } from '../src/errors.ts'
import type { PlaylistPage } from '../src/youtube/playlist-page.ts'
import { UpstreamProblem } from '../src/youtube/upstream-problem.ts'
import {
  CHANNEL,
  createUpload,
  found,
  HOUR_MS,
  NOW_MS,
  setUpSidePoller as setUp,
  source,
  UPLOADS,
} from './support/side-poller.ts'

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
    expect((await state.getRecords('feed', [UPLOADS]))[0]).toMatchObject({
      reason: 'playlistNotFound',
      asOf: NOW_MS + 900_000,
      nextAt: NOW_MS + 1_800_000,
    })
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

  it.each(['succeeds', 'fails'])(
    'tell the circuit breaker the result of a probe that %s after their end',
    async (how) => {
      const { put, begin, run, side, control, circuit, requests } = setUp()
      begin()
      await put('c')
      circuit.recordFailure(false, { kind: 'network', detail: 'no reply', remedy: 'wait' }, steadyNow(), 0)
      await run()
      const probe = Promise.withResolvers<PlaylistPage>()
      control.reply = () => probe.promise
      vi.advanceTimersByTime(1_000)
      const works = side.start(steadyNow())
      expect(circuit.getAllowedAt()).toBe(Infinity)
      side.end()
      if (how === 'succeeds') probe.resolve(found([]))
      else probe.reject(new UpstreamProblem({ kind: 'network', detail: 'no reply', remedy: 'wait' }))
      await Promise.all(works)
      expect(circuit.getAllowedAt()).toBe(how === 'succeeds' ? -Infinity : steadyNow() + 2_000)
      begin()
      control.reply = () => found([])
      await run(2_000)
      expect(requests).toHaveLength(2)
    },
  )

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
