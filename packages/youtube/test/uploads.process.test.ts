import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createChannel, formatPlaylistId, formatUploadsId } from '../src/world/channels.ts'
import { startStandIn, type StandIn } from './support/stand-in.ts'

let standIn: StandIn
beforeAll(async () => {
  standIn = await startStandIn({ threads: '2' })
})
afterAll(() => standIn.stop())
beforeEach(async () => {
  await standIn.control.clearUploads()
  await standIn.control.clearChannels()
  await standIn.control.releaseClock()
})

const NOON = Date.UTC(2026, 0, 1, 12)
const channel = createChannel(7)
const get = async (resource: string, query: Record<string, string>) => {
  const reply = await fetch(
    `${standIn.url}/youtube/v3/${resource}?${new URLSearchParams({ key: 'stand-in', ...query })}`,
  )
  return (await reply.json()) as any
}
const listVideos = async (playlistId: string) => {
  const { items } = await get('playlistItems', { part: 'contentDetails', playlistId, maxResults: '50' })
  return items.map(({ contentDetails }: any) => contentDetails.videoId)
}

describe('added uploads', () => {
  it('appear at their time, on every thread', async () => {
    await standIn.control.freezeClock(NOON)
    const uploads = formatUploadsId(channel)
    const before = await listVideos(uploads)
    await standIn.control.addUploads({ channel: channel.id, videos: [{ id: 'now-upload1', title: 'Now' }] })
    await standIn.control.addUploads({ channel: channel.id, videos: [{ id: 'later-video', at: NOON + 60_000 }] })
    expect(await listVideos(uploads)).toEqual(['now-upload1', ...before].slice(0, 50))
    expect((await get('videos', { part: 'id', id: 'later-video' })).items).toEqual([])
    await standIn.control.freezeClock(NOON + 60_000)
    expect((await listVideos(uploads)).slice(0, 2)).toEqual(['later-video', 'now-upload1'])
    const { items } = await get('videos', { part: 'snippet', id: 'later-video,now-upload1' })
    expect(items.map(({ snippet }: any) => snippet.channelId)).toEqual([channel.id, channel.id])
    expect(items[1].snippet.title).toBe('Now')
  })

  it('replace an earlier upload of the same id, and end with a reset', async () => {
    await standIn.control.freezeClock(NOON)
    await standIn.control.addUploads({ channel: channel.id, videos: [{ id: 'new-upload1', title: 'One' }] })
    await standIn.control.addUploads({ channel: createChannel(8).id, videos: [{ id: 'new-upload1', title: 'Two' }] })
    expect(await standIn.control.getUploads()).toEqual({
      uploads: [{ id: 'new-upload1', title: 'Two', at: NOON, channel: createChannel(8).id }],
      items: [],
    })
    await standIn.control.clearUploads()
    expect(await standIn.control.getUploads()).toEqual({ uploads: [], items: [] })
  })

  it('can be added to a playlist', async () => {
    const playlist = formatPlaylistId(channel)
    await standIn.control.addUploads({ playlist, videos: [{ id: '-4lB5EKS5Uk' }, { id: 'abcdefghijk' }] })
    expect((await listVideos(playlist)).slice(30)).toEqual(['-4lB5EKS5Uk', 'abcdefghijk'])
  })
})

it('channels can hide their subscribers, and vanish', async () => {
  const other = createChannel(8)
  await standIn.control.setChannels({ hidden: [channel.id], removed: [other.id] })
  expect(await standIn.control.getChannels()).toEqual({ hidden: [channel.id], removed: [other.id] })
  const { items } = await get('channels', { part: 'statistics', id: `${channel.id},${other.id}` })
  expect(items).toEqual([expect.objectContaining({ id: channel.id })])
  expect(items[0].statistics.hiddenSubscriberCount).toBe(true)
  await standIn.control.clearChannels()
  expect((await get('channels', { part: 'id', id: `${channel.id},${other.id}` })).items).toHaveLength(2)
})

it('counts the calls of each method', async () => {
  await standIn.control.resetCounts()
  await get('channels', { part: 'id', id: channel.id })
  await get('playlists', { part: 'id', id: formatPlaylistId(channel) })
  await listVideos(formatUploadsId(channel))
  await listVideos(formatUploadsId(channel))
  expect(await standIn.control.getCounts()).toEqual({ calls: 4, ids: 0, channels: 1, playlists: 1, playlistItems: 2 })
})
