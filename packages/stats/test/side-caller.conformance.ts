import { findFreePort } from '@influencer-stats/runtime/testing/free-port'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createSilentLogger } from '../src/logger/silent.ts'
import { QuotaMeter } from '../src/quota/quota-meter.ts'
import { ApiKeys } from '../src/youtube/api-keys.ts'
import type { VideoClient, VideoClientOptions } from '../src/youtube/video-client.ts'
import { SAMPLE_VIDEOS, startStandIn, type TestStandIn } from './support/stand-in.ts'

const unavailable = { code: 'UPSTREAM_UNAVAILABLE' }
const createIds = (n: number) => Array.from({ length: n }, (_, i) => `${String(i).padStart(10, '0')}A`)

/** Ids of a channel of the stand-in and of its uploads. @param digits its number, in four digits */
const toChannelId = (digits: string) => `UC${digits.repeat(6).slice(0, 22)}`
const toUploadsId = (digits: string) => `UU${digits.repeat(6).slice(0, 22)}`

/** Conformance suite of the side calls of every client, against the stand-in and its faults. */
export function testSideCaller(name: string, create: (options: VideoClientOptions) => Promise<VideoClient>): void {
  describe(`side calls of the client ${name}`, () => {
    let standIn: TestStandIn
    let client: VideoClient
    let meter: QuotaMeter
    const options = (more: Partial<VideoClientOptions> = {}): VideoClientOptions => ({
      uri: standIn.url,
      keys: new ApiKeys({ text: 'stand-in' }),
      timeout: 30_000,
      connections: 4,
      meter,
      logger: createSilentLogger(),
      ...more,
    })

    beforeAll(async () => {
      standIn = await startStandIn()
    })
    afterAll(() => standIn.stop())
    beforeEach(async () => {
      await standIn.control.clearFaults()
      await standIn.control.resetCounts()
      meter = new QuotaMeter(QuotaMeter.createMemory(), 0)
      client = await create(options())
    })
    afterEach(() => client.close())

    it('reads channels, and counts their units apart', async () => {
      const [open, hidden] = [toChannelId('0007'), toChannelId('0009')]
      const { found, unreadable } = await client.side.getChannels([open, hidden, 'UCx'])
      expect(unreadable).toEqual([])
      expect(found.map(({ id }) => id).toSorted()).toEqual([open, hidden])
      expect(found.find(({ id }) => id === open)).toMatchObject({
        title: 'Channel 7',
        handle: '@channel7',
        subscribers: expect.any(Number),
        uploads: toUploadsId('0007'),
        thumbnail: expect.stringMatching(/^https:/),
      })
      expect(found.find(({ id }) => id === hidden)).toMatchObject({ hidesSubscribers: true })
      expect(found.find(({ id }) => id === hidden)).not.toHaveProperty('subscribers')
      expect(meter.usedByKind).toEqual({ videos: 0, channels: 1, playlistItems: 0, lookups: 0 })
      expect(await client.side.getChannels([])).toEqual({ found: [], unreadable: [] })
      expect(meter.used).toBe(1)
    })

    it('reads 50 channels in one call', async () => {
      const ids = Array.from({ length: 50 }, (_, i) => toChannelId(String(i).padStart(4, '0')))
      expect((await client.side.getChannels(ids)).found.map(({ id }) => id)).toEqual(ids)
      expect(await standIn.control.getCounts()).toMatchObject({ calls: 1, channels: 1 })
    })

    it('reads the pages of a playlist, and learns by the ETag that a page is unchanged', async () => {
      const playlist = toUploadsId('0007')
      await standIn.control.freezeClock(Date.UTC(2026, 0, 1))
      const page = await client.side.getPlaylistPage({ playlist })
      if (page.state !== 'found') throw new Error(page.state)
      expect(page.videos).toHaveLength(50)
      expect(page.videos[0]).toMatchObject({ channelId: toChannelId('0007'), publishedAt: expect.any(String) })
      const next = await client.side.getPlaylistPage({ playlist, pageToken: page.nextPageToken })
      expect(next).toMatchObject({ state: 'found', total: page.total })
      expect(await client.side.getPlaylistPage({ playlist, etag: page.etag })).toEqual({ state: 'unchanged' })
      await standIn.control.addUploads({ channel: toChannelId('0007'), videos: [{ id: 'new-upload1', title: 'New' }] })
      const changed = await client.side.getPlaylistPage({ playlist, etag: page.etag })
      if (changed.state !== 'found') throw new Error(changed.state)
      expect(changed.videos.slice(0, 2)).toMatchObject([{ id: 'new-upload1', title: 'New' }, page.videos[0]!])
      expect(meter.usedByKind.playlistItems).toBe(4)
      await standIn.control.clearUploads()
      await standIn.control.releaseClock()
    })

    it('reports a playlist that does not exist, and looks up names, playlists and ids', async () => {
      const { side } = client
      expect(await side.getPlaylistPage({ playlist: 'UUx' })).toEqual({
        state: 'inaccessible',
        reason: 'playlistNotFound',
      })
      expect(await side.findChannel({ handle: '@Channel7' })).toMatchObject({ id: toChannelId('0007') })
      expect(await side.findChannel({ userName: 'user7' })).toMatchObject({ id: toChannelId('0007') })
      expect(await side.findChannel({ handle: '@nobody' })).toBeUndefined()
      expect(await side.findPlaylist(toUploadsId('0007'))).toMatchObject({ channelId: toChannelId('0007') })
      expect(await side.findPlaylist('UUx')).toBeUndefined()
      const words = [SAMPLE_VIDEOS[0]!, 'influencer_', ...createIds(48).map((id) => `${id.slice(0, 10)}_`)]
      expect((await side.findVideos(words)).map(({ id }) => id)).toEqual([SAMPLE_VIDEOS[0]])
      expect(await side.findVideos(words.slice(1))).toEqual([])
      expect(meter.usedByKind).toEqual({ videos: 0, channels: 0, playlistItems: 1, lookups: 7 })
    })

    it.each([
      ['out of quota', { quotaLeft: 0 }],
      ['failing', { errorRate: 1, errorStatus: 500 }],
      ['cut halfway', { cut: 'halfway' as const }],
      ['talking nonsense', { malformed: true }],
    ])('makes no empty results of side calls while YouTube is %s', async (_, faults) => {
      await standIn.control.setFaults(faults)
      const { side } = client
      const calls = [
        () => side.getChannels([toChannelId('0007')]),
        () => side.getPlaylistPage({ playlist: toUploadsId('0007') }),
        () => side.findChannel({ handle: '@channel7' }),
        () => side.findPlaylist(toUploadsId('0007')),
        () => side.findVideos(SAMPLE_VIDEOS),
      ]
      for (const call of calls) await expect(call()).rejects.toMatchObject(unavailable)
    })

    it('makes no side call that the budget does not allow, and no unit is lost if YouTube is unreachable', async () => {
      const poor = await create(options({ meter: new QuotaMeter(QuotaMeter.createMemory(), 1) }))
      await poor.side.getChannels([toChannelId('0007')])
      await expect(poor.side.getChannels([toChannelId('0007')])).rejects.toMatchObject(unavailable)
      expect((await standIn.control.getCounts()).calls).toBe(1)
      await poor.close()
      const lost = await create(options({ uri: `http://127.0.0.1:${await findFreePort()}` }))
      await expect(lost.side.getPlaylistPage({ playlist: 'UUx' })).rejects.toMatchObject(unavailable)
      expect(meter.usedByKind).toEqual({ videos: 0, channels: 0, playlistItems: 0, lookups: 0 })
      await lost.close()
    })
  })
}
