import { youtube } from '@googleapis/youtube'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createChannel, formatUploadsId } from '../src/world/channels.ts'
import { FIXED_COUNTS, FIXED_ID, startStandIn, type StandIn } from './support/stand-in.ts'

let standIn: StandIn
beforeAll(async () => {
  standIn = await startStandIn()
})
afterAll(() => standIn.stop())

const createClient = (key: string) => youtube({ version: 'v3', auth: key, rootUrl: `${standIn.url}/` })

const getReason = (key: string) =>
  createClient(key)
    .videos.list({ part: ['id'], id: [FIXED_ID] })
    .then(undefined, ({ status, response }) => [status, response.data.error.errors[0].reason])

describe('Google’s own client', () => {
  it('reads statistics', async () => {
    const { data, status } = await createClient('stand-in').videos.list({ part: ['statistics'], id: [FIXED_ID] })
    expect(status).toBe(200)
    expect(data.items).toEqual([expect.objectContaining({ id: FIXED_ID, statistics: FIXED_COUNTS })])
  })

  it('reads 50 videos with several parts, zipped, and with selected fields', async () => {
    const ids = Array.from({ length: 50 }, (_, i) => `video-${String(i).padStart(5, '0')}`)
    const { data, headers } = await createClient('stand-in').videos.list({
      part: ['id', 'snippet', 'statistics'],
      id: ids,
      fields: 'items(id,snippet/title,statistics(viewCount))',
    })
    expect(new Headers(headers as Record<string, string>).get('content-encoding')).toBe('gzip')
    expect(data.items?.map((item) => item.id)).toEqual(ids)
    expect(data.items?.[0]?.snippet).toEqual({ title: expect.any(String) })
  })

  it('receives 304 for unchanged data', async () => {
    const client = createClient('stand-in')
    const query = { part: ['statistics'], id: [FIXED_ID] }
    const { data } = await client.videos.list(query)
    const { status } = await client.videos.list(query, { headers: { 'if-none-match': `"${data.etag}"` } })
    expect(status).toBe(304)
  })

  it('reads channels, playlists and their items, page by page', async () => {
    const client = createClient('stand-in')
    const channel = createChannel(7)
    const uploads = formatUploadsId(channel)
    const found = await client.channels.list({
      part: ['snippet', 'statistics', 'contentDetails'],
      forHandle: '@channel7',
    })
    expect(found.data.items).toEqual([expect.objectContaining({ id: channel.id })])
    expect(found.data.items![0]!.contentDetails!.relatedPlaylists!.uploads).toBe(uploads)
    const query = { part: ['snippet', 'contentDetails'], playlistId: uploads, maxResults: 50 }
    const { data } = await client.playlistItems.list(query)
    expect(data.items).toHaveLength(50)
    const next = await client.playlistItems.list({ ...query, pageToken: data.nextPageToken! })
    expect(next.data.items![0]!.snippet!.position).toBe(50)
    const ids = data.items!.map((item) => item.contentDetails!.videoId!)
    const videos = await client.videos.list({ part: ['snippet'], id: ids })
    expect(videos.data.items!.map(({ snippet }) => snippet!.channelId)).toEqual(ids.map(() => channel.id))
    const list = await client.playlists.list({ part: ['contentDetails'], id: [uploads] })
    expect(list.data.items![0]!.contentDetails!.itemCount).toBe(data.pageInfo!.totalResults)
  })

  it('receives 304 for a playlist without new items, at the cost of a unit', async () => {
    await standIn.control.setFaults({ quotaLeft: 2 })
    const client = createClient('stand-in')
    const query = { part: ['contentDetails'], playlistId: formatUploadsId(createChannel(8)) }
    const { data } = await client.playlistItems.list(query)
    const { status } = await client.playlistItems.list(query, { headers: { 'if-none-match': `"${data.etag}"` } })
    expect(status).toBe(304)
    expect(await standIn.control.getFaults()).toEqual({ quotaLeft: 0 })
    await standIn.control.clearFaults()
  })

  it('understands a playlist that does not exist', async () => {
    const missing = createClient('stand-in').playlistItems.list({
      part: ['id'],
      playlistId: 'UU7777777777777777777777',
    })
    const { status, response } = await missing.then(
      () => undefined as never,
      (fault) => fault,
    )
    expect([status, response.data.error.errors[0].reason]).toEqual([404, 'playlistNotFound'])
  })

  it('understands errors', async () => {
    expect(await getReason('wrong')).toEqual([400, 'keyInvalid'])
    await standIn.control.setFaults({ quotaLeft: 0 })
    expect(await getReason('stand-in')).toEqual([403, 'quotaExceeded'])
  })
})
