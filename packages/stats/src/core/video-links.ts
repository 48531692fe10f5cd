const ID = '[A-Za-z0-9_-]{11}'
const HOST = '(?:(?:https?:)?//)?(?:(?:www|m|music|gaming)\\.)?'
const REST = '/?(?:[?#][!-~]*)?'

/**
 * The pattern of an id or a direct link: watch, youtu.be, shorts, live, embed, v, e. `videoIdOf` accepts more: links of
 * YouTube Studio, redirects to a video, and the characters that surround links in texts.
 */
export const VIDEO =
  `^(?:${ID}|${HOST}(?:youtu\\.be(?::443)?/${ID}${REST}|youtube(?:-nocookie)?\\.com(?::443)?/(?:` +
  `(?:shorts|live|embed|v|e)/${ID}${REST}|watch/?\\?(?:[!-"$-~]*?&)??v=${ID}(?:[&#][!-~]*)?)))$`

const IS_ID = new RegExp(`^${ID}$`)

/** Zero-width characters, marks of direction and the like: they come with text that was copied. */
const INVISIBLE = /[\p{Cc}\p{Cf}]/gu
const BEFORE = new Set('([{<"\'«“‘*')
const BEHIND = new Set(')]}>"\'»”’*.,;:!?…&/')

/** Longest link (characters). */
const MAX_LINK = 8_192
/** A redirect may lead to a redirect. */
const MAX_REDIRECTS = 3

/** The id of the video that a link or an id names; undefined if it names none. */
export function videoIdOf(text: string): string | undefined {
  if (IS_ID.test(text)) return text
  if (text.length > MAX_LINK) return undefined
  const link = trimmed(text)
  if (IS_ID.test(link)) return link
  const url = toUrl(link)
  return url && idOf(url, MAX_REDIRECTS)
}

/** A link to a video. */
export const linkTo = (id: string): string => `https://www.youtube.com/watch?v=${id}`

/** Text without the characters that surround a link in prose. */
function trimmed(text: string): string {
  const visible = text.replace(INVISIBLE, '').trim()
  let [start, end] = [0, visible.length]
  while (start < end && BEFORE.has(visible[start]!)) start++
  while (end > start && BEHIND.has(visible[end - 1]!)) end--
  return visible.slice(start, end)
}

function toUrl(link: string): URL | undefined {
  if (/\s/.test(link)) return undefined
  const scheme = /^https?:\/\//i.test(link) ? '' : link.startsWith('//') ? 'https:' : 'https://'
  return URL.parse(scheme + link) ?? undefined
}

function idOf(url: URL, redirects: number): string | undefined {
  if (url.username || !['', '80', '443'].includes(url.port)) return undefined
  return idOnYouTube(url) ?? (redirects > 0 ? idOfTarget(url, redirects) : undefined)
}

const KINDS = new Set(['shorts', 'live', 'embed', 'v', 'e', 'watch'])

function idOnYouTube({ hostname, pathname, searchParams }: URL): string | undefined {
  const [first = '', second = ''] = pathname.split('/').slice(1)
  switch (hostname.replace(/^(?:www|m|music|gaming)\.|\.$/g, '')) {
    case 'youtu.be':
      return idIn(first)
    case 'studio.youtube.com':
      return first === 'video' ? idIn(second) : undefined
    case 'youtube.com':
    case 'youtube-nocookie.com':
      if (KINDS.has(first) && second !== '') return idIn(second)
      return first === '' || first === 'watch' ? searchParams.getAll('v').map(idIn).find(Boolean) : undefined
    default:
      return undefined
  }
}

/** An id out of a part of a URL, behind which there may be parameters without a `?`, and what else surrounds a link. */
function idIn(part: string): string | undefined {
  const id = trimmed(decoded(part).split('&', 1)[0]!)
  return IS_ID.test(id) ? id : undefined
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

/** Names of the parameters in which redirects have their target: YouTube's, Google's, mail filters' and social networks'. */
const TARGETS = ['u', 'q', 'url', 'to', 'continue', 'next', 'target', 'z']

function idOfTarget(url: URL, redirects: number): string | undefined {
  for (const name of TARGETS)
    for (const target of url.searchParams.getAll(name)) {
      const isPath = target.startsWith('/') && !target.startsWith('//')
      const next = toUrl(isPath ? url.origin + target : trimmed(target))
      const id = next && idOf(next, redirects - 1)
      if (id) return id
    }
  return undefined
}
