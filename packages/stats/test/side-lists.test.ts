import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { buildChannelNamePath, buildChannelsPath, parseChannels } from '../src/youtube/channel-list.ts'
import { buildPlaylistItemsPath, parsePlaylist, parsePlaylistPage } from '../src/youtube/playlist-page.ts'

const unavailable = expect.objectContaining({ code: 'UPSTREAM_UNAVAILABLE' })
const list = (kind: string, items: unknown, more = {}) =>
  JSON.stringify({ kind: `youtube#${kind}ListResponse`, items, ...more })
const error = (reason: string) => JSON.stringify({ error: { errors: [{ reason }] } })

describe('channels.list', () => {
  const parse = (items: unknown, ids: readonly string[] | undefined = ['a', 'b']) =>
    parseChannels(200, list('channel', items), ids, 9)

  it('requests 50 channels, because the default is five', () => {
    expect(buildChannelsPath(['a', 'b'], 'k&y')).toMatch(/maxResults=50.*&id=a,b&key=k%26y$/)
    expect(buildChannelNamePath({ handle: '@a&b' }, 'k')).toContain('&forHandle=%40a%26b&')
    expect(buildChannelNamePath({ userName: 'a' }, 'k')).toContain('&forUsername=a&')
  })

  it('reads a channel, and nothing that is invalid', () => {
    const snippet = {
      title: 'T',
      customUrl: '@t',
      publishedAt: '2020-01-02T03:04:05Z',
      thumbnails: { medium: { url: 'https://yt3.ggpht.com/x=s240' } },
    }
    const statistics = { viewCount: '10', subscriberCount: '2', videoCount: '1', hiddenSubscriberCount: false }
    const contentDetails = { relatedPlaylists: { uploads: 'UUx' } }
    const odd = {
      snippet: { title: 7, thumbnails: { default: { url: 'https://elsewhere.test/x' } } },
      contentDetails: { relatedPlaylists: { uploads: '../x' } },
    }
    expect(
      parse([
        { id: 'a', snippet, statistics, contentDetails },
        { id: 'b', ...odd },
      ]),
    ).toEqual({
      found: [
        {
          id: 'a',
          title: 'T',
          handle: '@t',
          publishedAt: '2020-01-02T03:04:05.000Z',
          thumbnail: 'https://yt3.ggpht.com/x=s240',
          subscribers: 2,
          views: 10,
          videos: 1,
          uploads: 'UUx',
          asOf: 9,
        },
        { id: 'b', asOf: 9 },
      ],
      unreadable: [],
    })
  })

  it.each([undefined, '0', '50'])('does not take a hidden count for a number: %s', (subscriberCount) => {
    const statistics = { subscriberCount, hiddenSubscriberCount: true }
    expect(parse([{ id: 'a', statistics }]).found).toEqual([{ id: 'a', hidesSubscribers: true, asOf: 9 }])
  })

  it('reads a list without items as no channels, unless the call was full', () => {
    expect(parse(undefined)).toEqual({ found: [], unreadable: [] })
    const ids = Array.from({ length: 50 }, (_, i) => String(i))
    expect(() => parse(undefined, ids)).toThrow(unavailable)
    expect(() => parse([], ids)).toThrow(unavailable)
  })

  it('lists channels with unreadable counts', () => {
    const items = [{ id: 'a', statistics: { subscriberCount: '-1' } }, { id: 'b' }]
    expect(parse(items)).toEqual({ found: [{ id: 'b', asOf: 9 }], unreadable: ['a'] })
  })

  it.each([
    [200, ''],
    [200, '{}'],
    [200, '{"items":{}}'],
    [200, list('channel', [{ id: 1 }])],
    [200, list('channel', [{ id: 'c' }])],
    [200, list('channel', [{ id: 'a', statistics: { viewCount: 12 } }])],
    [200, list('channel', [{ id: 'a', statistics: { hiddenSubscriberCount: 'yes' } }])],
    [304, ''],
    [403, error('quotaExceeded')],
    [500, 'oops'],
  ])('refuses nonsense and errors: %i %s', (status, text) => {
    expect(() => parseChannels(status, text, ['a'], 9)).toThrow(unavailable)
  })
})

describe('playlistItems.list', () => {
  const item = (videoId: string, snippet = {}) => ({
    snippet: { title: 'T', playlistId: 'UU', ...snippet },
    contentDetails: { videoId, videoPublishedAt: '2020-01-02T03:04:05Z' },
  })
  const parse = (items: unknown, more = {}) =>
    parsePlaylistPage(200, list('playlistItem', items, more), { playlist: 'UU' })

  it('requests a page of 50', () => {
    expect(buildPlaylistItemsPath('UU', undefined, 'k')).toMatch(/maxResults=50.*&playlistId=UU&key=k$/)
    expect(buildPlaylistItemsPath('UU', 'EAA&', 'k')).toMatch(/&pageToken=EAA%26&key=k$/)
  })

  it('reads videos, the ETag and the next page', () => {
    const deleted = { snippet: { title: 'Deleted video' }, contentDetails: { videoId: 'bbbbbbbbbbb' } }
    const owner = { description: 'D', videoOwnerChannelId: 'UC', publishedAt: '2021-01-01T00:00:00Z' }
    const more = { etag: 'e', nextPageToken: 'p', pageInfo: { totalResults: 60 } }
    expect(parse([item('aaaaaaaaaaa', owner), deleted], more)).toEqual({
      state: 'found',
      videos: [
        {
          id: 'aaaaaaaaaaa',
          title: 'T',
          description: 'D',
          channelId: 'UC',
          publishedAt: '2020-01-02T03:04:05.000Z',
          addedAt: '2021-01-01T00:00:00.000Z',
        },
        { id: 'bbbbbbbbbbb', title: 'Deleted video' },
      ],
      total: 60,
      nextPageToken: 'p',
      etag: 'e',
    })
    expect(parse([], { etag: 'e', pageInfo: { totalResults: 0 } })).toEqual({
      state: 'found',
      videos: [],
      total: 0,
      etag: 'e',
    })
  })

  it('has no ETag if an item is unreadable, so that the page is read again', () => {
    const page = parse([item('aaaaaaaaaaa'), item('short')], { etag: 'e' })
    expect(page).toMatchObject({ state: 'found', videos: [{ id: 'aaaaaaaaaaa' }] })
    expect(page).not.toHaveProperty('etag')
  })

  it('takes 304 for unchanged only if an ETag was sent', () => {
    expect(parsePlaylistPage(304, '', { playlist: 'UU', etag: 'e' })).toEqual({ state: 'unchanged' })
    expect(() => parsePlaylistPage(304, '', { playlist: 'UU' })).toThrow(unavailable)
  })

  it.each([
    [404, 'playlistNotFound'],
    [403, 'playlistItemsNotAccessible'],
    [400, 'playlistOperationUnsupported'],
  ])('reports a playlist that cannot be read as such, not as an outage: %i %s', (status, reason) => {
    expect(parsePlaylistPage(status, error(reason), { playlist: 'UU' })).toEqual({ state: 'inaccessible', reason })
  })

  it.each([
    [200, ''],
    [200, '{}'],
    [200, list('video', undefined)],
    [200, list('playlistItem', [{}])],
    [200, list('playlistItem', [item('aaaaaaaaaaa', { playlistId: 'other' })])],
    [200, list('playlistItem', undefined, { nextPageToken: 'p' })],
    [200, list('playlistItem', undefined, { pageInfo: { totalResults: 7 } })],
    [404, error('notFound')],
    [404, 'not found'],
    [403, error('quotaExceeded')],
    [503, '{}'],
  ])('refuses nonsense and errors: %i %s', (status, text) => {
    expect(() => parsePlaylistPage(status, text, { playlist: 'UU' })).toThrow(unavailable)
  })
})

describe('playlists.list', () => {
  const parse = (items: unknown) => parsePlaylist(200, list('playlist', items), 'UU')

  it('reads a playlist, or that there is none', () => {
    const snippet = { title: 'T', channelId: 'UC', channelTitle: 'C' }
    expect(parse([{ id: 'UU', snippet, contentDetails: { itemCount: 3 } }])).toEqual({
      id: 'UU',
      title: 'T',
      channelId: 'UC',
      channel: 'C',
      videos: 3,
    })
    expect(parse([])).toBeUndefined()
  })

  it('refuses another playlist', () => {
    expect(() => parse([{ id: 'UV' }])).toThrow(unavailable)
    expect(() => parse([{ id: 'UU' }, { id: 'UU' }])).toThrow(unavailable)
  })
})

it.each([
  ['channels', (status: number, text: string) => parseChannels(status, text, ['a'], 9)],
  ['playlist items', (status: number, text: string) => parsePlaylistPage(status, text, { playlist: 'UU' })],
  ['playlists', (status: number, text: string) => parsePlaylist(status, text, 'UU')],
] as const)('any reply gives %s or that error', (_, parse) => {
  fc.assert(
    fc.property(fc.integer({ min: 200, max: 599 }), fc.oneof(fc.json(), fc.string()), (status, text) => {
      try {
        parse(status, text)
      } catch (problem) {
        expect(problem).toMatchObject({ code: 'UPSTREAM_UNAVAILABLE' })
      }
    }),
  )
})
