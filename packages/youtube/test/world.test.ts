import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createChannel, formatPlaylistId, formatUploadId, formatUploadsId } from '../src/world/channels.ts'
import { channelsResource } from '../src/resources/channels-resource.ts'
import { playlistItemsResource } from '../src/resources/playlist-items-resource.ts'
import { playlistsResource } from '../src/resources/playlists-resource.ts'
import { videosResource } from '../src/resources/videos-resource.ts'
import { createList, createWorld, NOW_MS } from './support/list.ts'

const DAY_MS = 86_400_000
const channel = createChannel(7)
const uploadsId = formatUploadsId(channel)
const listUploads = (more = '', options = {}) =>
  createList(playlistItemsResource, `part=snippet,contentDetails&playlistId=${uploadsId}&maxResults=50${more}`, options)
const getVideo = (id: string, options = {}) =>
  createList(videosResource, `part=snippet,contentDetails,status,statistics&id=${id}`, options).items[0]
const getReason = (run: () => unknown) => {
  try {
    run()
  } catch (problem) {
    return (problem as { entry: { status: number; reason: string } }).entry
  }
  return undefined
}

describe('the uploads of a channel', () => {
  it('are videos that name the channel, newest first, and every other list agrees', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 4_999 }),
        fc.integer({ min: Date.UTC(2009, 0, 1), max: NOW_MS }),
        (number, time) => {
          const { id, title, ...one } = createChannel(number)
          const uploads = formatUploadsId({ id, title, ...one })
          const query = `part=snippet,contentDetails&maxResults=50&playlistId=${uploads}`
          const { items, pageInfo } = createList(playlistItemsResource, query, { time })
          const [found] = createList(channelsResource, `part=statistics,contentDetails&id=${id}`, { time }).items
          expect(found.contentDetails.relatedPlaylists.uploads).toBe(uploads)
          expect(found.statistics.videoCount).toBe(String(pageInfo.totalResults))
          const [list] = createList(playlistsResource, `part=contentDetails&id=${uploads}`, { time }).items
          expect(list.contentDetails.itemCount).toBe(pageInfo.totalResults)
          let before = Infinity
          for (const [i, { snippet, contentDetails }] of items.entries()) {
            const video = getVideo(contentDetails.videoId, { time })
            expect(video.snippet).toMatchObject({ channelId: id, channelTitle: title, title: snippet.title })
            expect(snippet).toMatchObject({ channelId: id, videoOwnerChannelId: id, position: i, playlistId: uploads })
            const published = Date.parse(contentDetails.videoPublishedAt)
            expect(video.snippet.publishedAt).toBe(contentDetails.videoPublishedAt)
            expect(published).toBeLessThanOrEqual(Math.min(before, time))
            before = published
          }
        },
      ),
      { numRuns: 50 },
    )
  })

  it('grow with the clock, and a video exists from its publication only', () => {
    const index = 20
    const at = channel.firstUploadAt + index * channel.uploadInterval
    const id = formatUploadId(channel, index)
    expect(listUploads('', { time: at - 1 }).pageInfo.totalResults).toBe(index)
    expect(getVideo(id, { time: at - 1 })).toBeUndefined()
    const after = listUploads('', { time: at })
    expect(after.items[0].contentDetails.videoId).toBe(id)
    expect(after.pageInfo.totalResults).toBe(index + 1)
    expect(getVideo(id, { time: at }).statistics.viewCount).toBe('0')
  })

  it('have an ETag that changes with a new upload only', () => {
    const at = channel.firstUploadAt + 100 * channel.uploadInterval
    const tagAt = (time: number) => listUploads('', { time }).etag
    expect(tagAt(at)).toBe(tagAt(at + channel.uploadInterval - 1))
    expect(tagAt(at + channel.uploadInterval)).not.toBe(tagAt(at))
  })

  it('include added ones from their time, with their texts', () => {
    const upload = {
      id: 'new-upload1',
      at: NOW_MS,
      channel: channel.id,
      title: 'Ours',
      description: 'An #ad',
      duration: 30,
    }
    const world = createWorld({ uploads: [upload] })
    expect(getVideo(upload.id, { world, time: NOW_MS - 1 })).toBeUndefined()
    expect(listUploads('', { world, time: NOW_MS - 1 }).items[0].contentDetails.videoId).not.toBe(upload.id)
    const { items } = listUploads('', { world })
    expect(items[0]).toMatchObject({ snippet: { title: 'Ours', position: 0 }, contentDetails: { videoId: upload.id } })
    expect(getVideo(upload.id, { world })).toMatchObject({
      snippet: { title: 'Ours', description: 'An #ad', channelId: channel.id, publishedAt: '2026-01-01T00:00:00Z' },
      contentDetails: { duration: 'PT30S' },
      statistics: { viewCount: '0' },
    })
    const later = listUploads('', { world, time: NOW_MS + 365 * DAY_MS })
    expect(later.items.map(({ contentDetails }: any) => contentDetails.videoId)).not.toContain(upload.id)
    expect(later.pageInfo.totalResults).toBeGreaterThan(50)
  })

  it('do not include removed videos, which other playlists show as deleted', () => {
    const first = formatUploadId(channel, 0)
    const world = createWorld({ faults: { gone: [first] } })
    const total = listUploads().pageInfo.totalResults
    expect(listUploads('', { world }).pageInfo.totalResults).toBe(total - 1)
    expect(getVideo(first, { world })).toBeUndefined()
    const query = `part=snippet,contentDetails,status&playlistId=${formatPlaylistId(channel)}`
    const [item] = createList(playlistItemsResource, query, { world }).items
    expect(item).toMatchObject({
      snippet: { title: 'Deleted video', resourceId: { videoId: first }, thumbnails: {} },
      contentDetails: { videoId: first },
      status: { privacyStatus: 'privacyStatusUnspecified' },
    })
    expect(item.contentDetails).not.toHaveProperty('videoPublishedAt')
  })
})

describe('pages', () => {
  it('follow each other in both directions, and cover every item once', () => {
    const world = createWorld()
    const pages: any[] = [listUploads('', { world })]
    for (let token; (token = pages.at(-1).nextPageToken) !== undefined;)
      pages.push(listUploads(`&pageToken=${token}`, { world }))
    const ids = pages.flatMap(({ items }) => items.map(({ contentDetails }: any) => contentDetails.videoId))
    expect(ids).toHaveLength(pages[0].pageInfo.totalResults)
    expect(new Set(ids).size).toBe(ids.length)
    expect(listUploads(`&pageToken=${pages[1].prevPageToken}`, { world })).toEqual(pages[0])
    expect(pages[0]).not.toHaveProperty('prevPageToken')
  })

  it('have tokens in the format of Google', () => {
    expect(listUploads().nextPageToken).toBe('EAAaBlBUOkNESQ')
    for (const token of ['nonsense', 'EAAaBlBUOkNESQx', 'CDIQAA'])
      expect(getReason(() => listUploads(`&pageToken=${token}`))).toMatchObject({
        status: 400,
        reason: 'invalidPageToken',
      })
  })

  it('have five items by default, also of channels by id', () => {
    const ids = [1, 2, 3, 4, 5, 6].map((number) => createChannel(number).id)
    const list = createList(channelsResource, `part=id&id=${ids.join(',')}`)
    expect([list.items.length, list.pageInfo]).toEqual([5, { totalResults: 6, resultsPerPage: 5 }])
    expect(createList(channelsResource, `part=id&maxResults=50&id=${ids.join(',')}`).items).toHaveLength(6)
  })

  it.each(['51', '-1', 'many', '1.5'])('have no size %s', (size) => {
    const run = () => createList(playlistItemsResource, `part=id&playlistId=${uploadsId}&maxResults=${size}`)
    expect(getReason(run)).toMatchObject({ status: 400, reason: 'invalidParameter', location: 'maxResults' })
  })
})

describe('channels', () => {
  it('are found by id, handle and user name', () => {
    const find = (filter: string) => createList(channelsResource, `part=id,snippet&${filter}`).items?.[0]?.id
    for (const filter of [`id=${channel.id}`, 'forHandle=@Channel7', 'forHandle=channel7', 'forUsername=user7'])
      expect([filter, find(filter)]).toEqual([filter, channel.id])
    for (const filter of ['id=UC7777777777777777777777', 'id=UCx', 'forHandle=@nobody', 'forUsername=channel7'])
      expect([filter, find(filter)]).toEqual([filter, undefined])
  })

  it('that do not exist give a list without items', () => {
    expect(createList(channelsResource, 'part=id&id=UCx')).toEqual({
      kind: 'youtube#channelListResponse',
      etag: expect.any(String),
      pageInfo: { totalResults: 0, resultsPerPage: 5 },
    })
  })

  it('may hide their subscribers', () => {
    const query = `part=statistics&id=${channel.id}`
    const [open] = createList(channelsResource, query).items
    expect(open.statistics).toMatchObject({ subscriberCount: expect.any(String), hiddenSubscriberCount: false })
    const world = createWorld({ channels: { hidden: [channel.id] } })
    const [hidden] = createList(channelsResource, query, { world }).items
    expect(hidden.statistics.hiddenSubscriberCount).toBe(true)
    expect(hidden.statistics).not.toHaveProperty('subscriberCount')
    expect(createWorld().hidesSubscribers(createChannel(19))).toBe(true)
  })

  it('have counts that never fall, with three significant digits of subscribers', () => {
    const at = fc.integer({ min: Date.UTC(2010, 0, 1), max: Date.UTC(2040, 0, 1) })
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 4_998 }).filter((n) => n % 10 !== 9),
        at,
        at,
        (number, a, b) => {
          const [before, after] = [Math.min(a, b), Math.max(a, b)].map(
            (time) =>
              createList(channelsResource, `part=statistics&id=${createChannel(number).id}`, { time }).items[0]
                .statistics,
          )
          for (const name of ['viewCount', 'subscriberCount', 'videoCount'])
            expect(Number(after[name])).toBeGreaterThanOrEqual(Number(before[name]))
          expect(after.subscriberCount).toMatch(/^\d{1,3}0*$/)
        },
      ),
    )
  })

  it('that are removed take their videos and playlists with them', () => {
    const world = createWorld({ channels: { removed: [channel.id] } })
    expect(createList(channelsResource, `part=id&id=${channel.id}`, { world })).not.toHaveProperty('items')
    expect(getVideo(formatUploadId(channel, 0), { world })).toBeUndefined()
    expect(getReason(() => listUploads('', { world }))).toMatchObject({ status: 404, reason: 'playlistNotFound' })
    const list = () => createList(playlistsResource, `part=id&channelId=${channel.id}`, { world })
    expect(getReason(list)).toMatchObject({ status: 404, reason: 'channelNotFound' })
  })
})

describe('a playlist', () => {
  it('has the first uploads of its channel, then what was added', () => {
    const playlist = formatPlaylistId(channel)
    const world = createWorld({ items: [{ playlist, video: '-4lB5EKS5Uk', at: NOW_MS }] })
    const query = `part=snippet&maxResults=50&playlistId=${playlist}`
    const before = createList(playlistItemsResource, query, { world, time: NOW_MS - 1 })
    const after = createList(playlistItemsResource, query, { world })
    expect([before.items.length, after.items.length]).toEqual([30, 31])
    const { channelId, videoOwnerChannelId, position } = after.items[30].snippet
    expect([channelId, position]).toEqual([channel.id, 30])
    expect(videoOwnerChannelId).toBe(getVideo('-4lB5EKS5Uk').snippet.channelId)
    expect(
      createList(playlistsResource, `part=contentDetails,snippet&channelId=${channel.id}`, { world }).items,
    ).toEqual([expect.objectContaining({ id: playlist, contentDetails: { itemCount: 31 } })])
    const one = createList(playlistItemsResource, `${query}&videoId=-4lB5EKS5Uk`, { world })
    expect([one.items.length, one.pageInfo.totalResults]).toEqual([1, 1])
  })

  it.each([
    ['nobody', 404, 'playlistNotFound'],
    ['UU7777777777777777777777', 404, 'playlistNotFound'],
    ['PL0007', 404, 'playlistNotFound'],
    ['WL', 400, 'playlistOperationUnsupported'],
    ['LL', 403, 'playlistItemsNotAccessible'],
  ])('%s gives %i %s', (id, status, reason) => {
    expect(getReason(() => createList(playlistItemsResource, `part=id&playlistId=${id}`))).toMatchObject({
      status,
      reason,
    })
  })

  it('is required, and is the only filter', () => {
    const reasonOf = (query: string) => getReason(() => createList(playlistItemsResource, query))?.reason
    expect(reasonOf('part=id')).toBe('missingRequiredParameter')
    expect(reasonOf(`part=id&playlistId=${uploadsId}&id=x`)).toBe('incompatibleParameters')
    expect(reasonOf(`part=id&playlistId=${uploadsId}&channelId=x`)).toBe('unexpectedParameter')
    expect(reasonOf(`part=statistics&playlistId=${uploadsId}`)).toBe('unknownPart')
    expect(reasonOf(`part=id&playlistId=${uploadsId}&videoId=nowhere____`)).toBe('videoNotFound')
  })
})

describe('videos', () => {
  it('are Shorts, broadcasts or hours long, as their ids determine', () => {
    const ids = Array.from({ length: 400 }, (_, i) => `video-${String(i).padStart(5, '0')}`)
    const durations = ids.map((id) => getVideo(id).contentDetails.duration as string)
    for (const duration of durations) expect(duration).toMatch(/^PT(\dH)?(\d+M)?(\d+S)?$/)
    const shorts = durations.filter((duration) => /^PT\d+S$/.test(duration))
    expect(shorts.length).toBeGreaterThan(40)
    expect(shorts.length).toBeLessThan(120)
    expect(durations.some((duration) => /H/.test(duration))).toBe(true)
    expect(getVideo('abcdefghi-L')).toMatchObject({
      snippet: { liveBroadcastContent: 'live' },
      contentDetails: { duration: 'P0D' },
      status: { uploadStatus: 'uploaded' },
    })
    const upcoming = createList(videosResource, 'part=snippet,statistics,liveStreamingDetails&id=abcdefghi-U').items[0]
    expect(upcoming).toMatchObject({
      snippet: { liveBroadcastContent: 'upcoming' },
      statistics: { viewCount: '0' },
      liveStreamingDetails: { scheduledStartTime: expect.any(String) },
    })
    expect(createList(videosResource, 'part=liveStreamingDetails&id=abcdefghijk').items[0]).not.toHaveProperty(
      'liveStreamingDetails',
    )
  })

  it('keep the titles, channels and counts of earlier versions', () => {
    const { snippet, statistics } = getVideo('abcdefghijk')
    expect([snippet.title, snippet.channelId, snippet.publishedAt, statistics.viewCount]).toMatchInlineSnapshot(`
      [
        "Street food #355",
        "UC4420442044204420442044",
        "2012-12-05T17:31:36Z",
        "19820",
      ]
    `)
  })
})
