const ID_PATTERN = '[A-Za-z0-9_-]{11}'
const HOST_PATTERN = '(?:(?:https?:)?//)?(?:(?:www|m|music|gaming)\\.)?'
const REST_PATTERN = '/?(?:[?#][!-~]*)?'

/**
 * The pattern of an id or a direct link: watch, youtu.be, shorts, live, embed, v, e. `parseVideoId` accepts more: links of
 * YouTube Studio, redirects to a video, and the characters that surround links in texts.
 */
export const VIDEO_PATTERN =
  `^(?:${ID_PATTERN}|${HOST_PATTERN}(?:youtu\\.be(?::443)?/${ID_PATTERN}${REST_PATTERN}|youtube(?:-nocookie)?\\.com(?::443)?/(?:` +
  `(?:shorts|live|embed|v|e)/${ID_PATTERN}${REST_PATTERN}|watch/?\\?(?:[!-"$-~]*?&)??v=${ID_PATTERN}(?:[&#][!-~]*)?)))$`

const ID_REGEXP = new RegExp(`^${ID_PATTERN}$`)

/** Zero-width characters, direction marks and the like, which copied text contains. */
const INVISIBLE_CHARACTERS = /[\p{Cc}\p{Cf}]/gu
const LEADING_CHARACTERS = new Set('([{<"\'«“‘*')
const TRAILING_CHARACTERS = new Set(')]}>"\'»”’*.,;:!?…&/')

/** Maximum length of a link (characters). */
const MAX_LINK_LENGTH = 8_192
/** Maximum number of nested redirects. */
const MAX_REDIRECTS = 3

/** Returns the id of the video that a link or an id names; undefined if it names none. */
export function parseVideoId(text: string): string | undefined {
  if (ID_REGEXP.test(text)) return text
  if (text.length > MAX_LINK_LENGTH) return undefined
  const link = trimLink(text)
  if (ID_REGEXP.test(link)) return link
  const url = parseLink(link)
  return url && findInUrl(url, findVideoId)
}

/** Parses a link with or without its scheme, and with the characters that surround it. Undefined if it is too long. */
export const parseLink = (text: string): URL | undefined =>
  text.length > MAX_LINK_LENGTH ? undefined : toUrl(trimLink(text))

/** Returns a link to a video. */
export const toVideoUrl = (id: string): string => `https://www.youtube.com/watch?v=${id}`

/** Returns text without the characters that surround a link in prose. */
export function trimLink(text: string): string {
  const visible = text.replace(INVISIBLE_CHARACTERS, '').trim()
  let [start, end] = [0, visible.length]
  while (start < end && LEADING_CHARACTERS.has(visible[start]!)) start++
  while (end > start && TRAILING_CHARACTERS.has(visible[end - 1]!)) end--
  return visible.slice(start, end)
}

function toUrl(link: string): URL | undefined {
  if (/\s/.test(link)) return undefined
  const scheme = /^https?:\/\//i.test(link) ? '' : link.startsWith('//') ? 'https:' : 'https://'
  return URL.parse(scheme + link) ?? undefined
}

/**
 * Returns the first result of `find` for a URL or for the target of its redirects. Undefined for a URL with a user name or
 * an unusual port.
 */
export function findInUrl<T>(url: URL, find: (url: URL) => T | undefined, redirects = MAX_REDIRECTS): T | undefined {
  if (url.username || !['', '80', '443'].includes(url.port)) return undefined
  return find(url) ?? (redirects > 0 && url.search !== '' ? findInTargets(url, find, redirects) : undefined)
}

/** Parts of links to embedded playlists and live streams, which look like ids. */
const EMBEDDED_PAGES = new Set(['videoseries', 'live_stream'])
const PATH_KINDS = new Set(['shorts', 'live', 'embed', 'v', 'e', 'watch'])

/** Returns the id of the video that a URL of YouTube names. */
export function findVideoId({ hostname, pathname, searchParams }: URL): string | undefined {
  const [first = '', second = ''] = pathname.split('/').slice(1)
  switch (hostname.replace(/^(?:www|m|music|gaming)\.|\.$/g, '')) {
    case 'youtu.be':
      return parseId(first)
    case 'studio.youtube.com':
      return first === 'video' ? parseId(second) : undefined
    case 'youtube.com':
    case 'youtube-nocookie.com':
      if (first === 'embed' && EMBEDDED_PAGES.has(second)) return undefined
      if (PATH_KINDS.has(first) && second !== '') return parseId(second)
      return first === '' || first === 'watch' ? searchParams.getAll('v').map(parseId).find(Boolean) : undefined
    default:
      return undefined
  }
}

/** Returns the id in a part of a URL. Parameters without a `?` and characters that surround a link may follow it. */
function parseId(part: string): string | undefined {
  const id = trimLink(decodePart(part).split('&', 1)[0]!)
  return ID_REGEXP.test(id) ? id : undefined
}

function decodePart(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

/**
 * Names of the parameters that contain the target of a redirect, used by YouTube, Google, mail filters and social
 * networks.
 */
const TARGET_PARAMETERS = ['u', 'q', 'url', 'to', 'continue', 'next', 'target', 'z']

function findInTargets<T>(url: URL, find: (url: URL) => T | undefined, redirects: number): T | undefined {
  for (const name of TARGET_PARAMETERS)
    for (const target of url.searchParams.getAll(name)) {
      const isPath = target.startsWith('/') && !target.startsWith('//')
      const next = toUrl(isPath ? url.origin + target : trimLink(target))
      const found = next && findInUrl(next, find, redirects - 1)
      if (found !== undefined) return found
    }
  return undefined
}
