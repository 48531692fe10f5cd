import { findVideoId, toVideoUrl } from '../video-links.ts'
import type { ChannelLink, ContentLink, PasteRefusal, PlaylistLink, VideoLink } from './content-link.ts'

const CHANNEL_ID = /^UC[\w-]{22}$/
/** Playlists of users (PL), uploads (UU), Shorts and live streams of a channel (UUSH, UULV), favourites (FL), albums (OLAK5uy_). */
const PLAYLIST_ID = /^(?:PL|UU|FL|EC|OLAK5uy_)[\w-]{10,64}$/
/** Watch later, likes, history, and mixes, which YouTube generates for each viewer. */
const PERSONAL_PLAYLIST_ID = /^(?:WL|LL|LM|HL|RD|TL)[\w-]*$/
/** A playlist id that is not confused with a word. */
const BARE_PLAYLIST_ID = /^PL(?:[0-9A-F]{16}|[\w-]{32})$/
const HANDLE = /^[\p{L}\p{N}\p{M}_.·-]{1,60}$/u
/** YouTube's handles have 3 to 30 characters. They do not end with a dot. */
const BARE_HANDLE = /^@[\p{L}\p{N}_][\p{L}\p{N}\p{M}_.·-]{1,28}[\p{L}\p{N}\p{M}_·-]$/u
const HOST = /^(?:(?:www|m|music|gaming)\.)?(?:youtube(?:-nocookie)?\.com|youtu\.be)$|^studio\.youtube\.com$/
/** First parts of paths that are not the name of a channel. */
const RESERVED_PATHS = new Set(
  (
    'about account ads attribution_link audiolibrary c channel channels clip creators e embed feed gaming hashtag ' +
    'howyoutubeworks kids live logout movies music oembed pair playables playlist playlists post premium redirect ' +
    'results s select_site shorts signin source sports t trending upload user v video watch watch_videos yt'
  ).split(' '),
)

export const toVideoLink = (id: string): VideoLink => ({ type: 'video', platform: 'youtube', id, url: toVideoUrl(id) })

const toChannelLink = (id: string): ChannelLink => ({
  type: 'channel',
  platform: 'youtube',
  url: `https://www.youtube.com/channel/${id}`,
  id,
})

const NAME_PREFIXES = { handle: '@', user: 'user/', custom: 'c/' } as const

const toNamedChannel = (nameKind: 'handle' | 'user' | 'custom', name: string): ChannelLink => ({
  type: 'channel',
  platform: 'youtube',
  url: `https://www.youtube.com/${NAME_PREFIXES[nameKind]}${encodeURI(name)}`,
  name,
  nameKind,
})

const toPlaylistLink = (id: string): PlaylistLink => ({
  type: 'playlist',
  platform: 'youtube',
  id,
  url: `https://www.youtube.com/playlist?list=${id}`,
})

/** Returns the channel or the playlist that a word without a link names: its id, or `@` and a handle. */
export function findBareId(word: string): ChannelLink | PlaylistLink | undefined {
  if (word.length > 64) return undefined
  if (BARE_HANDLE.test(word)) return toNamedChannel('handle', word.slice(1))
  if (CHANNEL_ID.test(word)) return toChannelLink(word)
  return BARE_PLAYLIST_ID.test(word) ? toPlaylistLink(word) : undefined
}

export const isYoutubeHost = (host: string): boolean => HOST.test(host)

/** Returns the video, playlist or channel that a URL of YouTube names. A playlist in the link of a video is ignored. */
export function findYoutubeLink(url: URL): ContentLink | undefined {
  if (!HOST.test(url.hostname)) return undefined
  const id = findVideoId(url)
  const [first = '', second = ''] = splitPath(url)
  if (id !== undefined) return first === 'shorts' ? { ...toVideoLink(id), isShort: true } : toVideoLink(id)
  const list = getList(url)
  if (PLAYLIST_ID.test(list)) return toPlaylistLink(list)
  if (first.startsWith('@') && HANDLE.test(first.slice(1))) return toNamedChannel('handle', first.slice(1))
  const channel = first === 'channel' ? second : first === 'embed' ? (url.searchParams.get('channel') ?? '') : ''
  if (CHANNEL_ID.test(channel)) return toChannelLink(channel)
  if ((first === 'user' || first === 'c') && HANDLE.test(second))
    return toNamedChannel(first === 'c' ? 'custom' : 'user', second)
  return undefined
}

/** Returns the channel of a link such as youtube.com/nasa, the oldest form. */
export function findCustomName(url: URL): ChannelLink | undefined {
  const [first = ''] = splitPath(url)
  const isName =
    HOST.test(url.hostname) && !url.username && !url.port && url.hostname.endsWith('youtube.com') && HANDLE.test(first)
  return isName && !RESERVED_PATHS.has(first.toLowerCase()) && !first.includes('.')
    ? { ...toNamedChannel('custom', first), url: `https://www.youtube.com/${encodeURI(first)}` }
    : undefined
}

/** Paths that contain the id of a video, a channel or a playlist. */
const PATHS_WITH_ID = new Set([
  'watch',
  'shorts',
  'live',
  'embed',
  'v',
  'e',
  'channel',
  'user',
  'c',
  'playlist',
  'video',
])

/** Returns why a URL of YouTube names no video, channel or playlist. */
export function explainYoutubeLink(url: URL): PasteRefusal {
  const [first = ''] = splitPath(url)
  const list = getList(url)
  if (PERSONAL_PLAYLIST_ID.test(list)) return 'PERSONAL_PLAYLIST'
  const hasId = list !== '' || PATHS_WITH_ID.has(first) || first.startsWith('@') || url.searchParams.has('v')
  return hasId || (url.hostname === 'youtu.be' && first !== '') ? 'MALFORMED_ID' : 'UNSUPPORTED_LINK'
}

/** Without the punctuation that follows a link in a text. */
const getList = (url: URL): string => (url.searchParams.get('list') ?? '').replace(/[^\w-].*$/s, '')

function splitPath({ pathname }: URL): string[] {
  const path = pathname.slice(1)
  try {
    return decodeURIComponent(path).split('/')
  } catch {
    return path.split('/')
  }
}
