import type { PasteRefusal, PostLink } from './content-link.ts'
import { findFacebookPost, findLinkedinPost } from './network-posts.ts'
import { getParts, getHost, type PostFinder } from './post-path.ts'

const ID = /^\d{5,25}$/
const INSTAGRAM_CODE = /^[\w-]{5,64}$/
const USER = /^@?[\w.-]{1,64}$/
const SHORT_CODE = /^\w{5,32}$/
const CLIP = /^[\w-]{5,120}$/

const toInstagram = (kind: string, id: string, author?: string): PostLink => ({
  type: 'post',
  platform: 'instagram',
  id,
  url: `https://www.instagram.com/${kind === 'reels' ? 'reel' : kind}/${id}/`,
  ...(author && { author: `@${author}` }),
})

const INSTAGRAM_KINDS = new Set(['p', 'reel', 'reels', 'tv'])

const findInstagramPost: PostFinder = (url) => {
  const [first = '', second = '', third = ''] = getParts(url)
  if (INSTAGRAM_KINDS.has(first) && INSTAGRAM_CODE.test(second)) return toInstagram(first, second)
  if (first === 'share' && INSTAGRAM_CODE.test(third || second)) {
    const url = `https://www.instagram.com/share/${third ? `${second}/${third}` : second}/`
    return { type: 'post', platform: 'instagram', id: third || second, url, isShortLink: true }
  }
  if (INSTAGRAM_KINDS.has(second) && USER.test(first) && INSTAGRAM_CODE.test(third))
    return toInstagram(second, third, first)
  return undefined
}

const toTiktok = (id: string, kind: string, user: string): PostLink => ({
  type: 'post',
  platform: 'tiktok',
  id,
  url: `https://www.tiktok.com/${user || '@'}/${kind}/${id}`,
  ...(user.length > 1 && { author: user }),
})

const toTiktokShortLink = (code: string): PostLink => ({
  type: 'post',
  platform: 'tiktok',
  id: code,
  url: `https://vm.tiktok.com/${code}/`,
  isShortLink: true,
})

const findTiktokPost: PostFinder = (url) => {
  const [first = '', second = '', third = ''] = getParts(url)
  if (/^v[mt]\./.test(url.hostname)) return SHORT_CODE.test(first) ? toTiktokShortLink(first) : undefined
  if (first === 't' && SHORT_CODE.test(second)) return toTiktokShortLink(second)
  if (first.startsWith('@') && (second === 'video' || second === 'photo') && ID.test(third))
    return toTiktok(third, second, USER.test(first) ? first.toLowerCase() : '')
  if (first === 'v' && ID.test(second.replace('.html', ''))) return toTiktok(second.replace('.html', ''), 'video', '')
  if ((first === 'embed' || first === 'player') && ID.test(third || second))
    return toTiktok(third || second, 'video', '')
  return undefined
}

const toTwitchVideo = (id: string): PostLink => ({
  type: 'post',
  platform: 'twitch',
  id,
  url: `https://www.twitch.tv/videos/${id}`,
})

const toTwitchClip = (id: string, author?: string): PostLink => ({
  type: 'post',
  platform: 'twitch',
  id,
  url: `https://clips.twitch.tv/${id}`,
  ...(author && { author: `@${author.toLowerCase()}` }),
})

const findTwitchPost: PostFinder = (url) => {
  const [first = '', second = '', third = ''] = getParts(url)
  if (url.hostname === 'clips.twitch.tv') {
    const clip = first === 'embed' ? (url.searchParams.get('clip') ?? '') : first
    return CLIP.test(clip) ? toTwitchClip(clip) : undefined
  }
  const played = (url.hostname === 'player.twitch.tv' && url.searchParams.get('video')) || ''
  if (/^v?\d{5,15}$/.test(played)) return toTwitchVideo(played.replace('v', ''))
  if (first === 'videos' && ID.test(second)) return toTwitchVideo(second)
  if ((second === 'v' || second === 'video') && ID.test(third)) return toTwitchVideo(third)
  return second === 'clip' && CLIP.test(third) && USER.test(first) ? toTwitchClip(third, first) : undefined
}

const findXPost: PostFinder = (url) => {
  const parts = getParts(url)
  const at = parts.findIndex((part) => part === 'status' || part === 'statuses')
  const id = /^\d{5,25}/.exec(parts[at + 1] ?? '')?.[0]
  if (at < 1 || at > 2 || id === undefined) return undefined
  const user = at === 1 && parts[0] !== 'i' && USER.test(parts[0]!) ? parts[0]! : undefined
  return {
    type: 'post',
    platform: 'x',
    id,
    url: `https://x.com/${user ?? 'i'}/status/${id}`,
    ...(user && { author: `@${user}` }),
  }
}

interface SocialSite {
  readonly find: PostFinder
  /** First parts of paths that are neither a post nor an account. */
  readonly reserved: ReadonlySet<string>
  /** Parts of a path after which an id follows. */
  readonly kinds: ReadonlySet<string>
}

const defineSite = (find: PostFinder, kinds: string, reserved: string): SocialSite => ({
  find,
  kinds: new Set(kinds.split(' ')),
  reserved: new Set(reserved.split(' ')),
})

const X = defineSite(findXPost, 'status statuses', 'i home explore search hashtag intent share')
const FACEBOOK = defineSite(
  findFacebookPost,
  'watch reel posts videos permalink.php story.php video.php photo photo.php share',
  'groups events marketplace gaming hashtag login sharer.php l.php stories',
)
const SITES: ReadonlyMap<string, SocialSite> = new Map(
  Object.entries({
    'instagram.com': defineSite(findInstagramPost, 'p reel reels tv share', 'stories explore accounts direct'),
    'tiktok.com': defineSite(findTiktokPost, 'video photo v t embed player', 'tag music discover foryou explore live'),
    'twitch.tv': defineSite(findTwitchPost, 'videos v video clip', 'directory p settings downloads'),
    'x.com': X,
    'twitter.com': X,
    'facebook.com': FACEBOOK,
    'fb.watch': FACEBOOK,
    'fb.com': FACEBOOK,
    'linkedin.com': defineSite(findLinkedinPost, 'posts feed embed', 'jobs learning search groups events pulse'),
  }),
)

/** Returns the post that a URL of a platform names; undefined if it names none. */
export const findPostLink = (url: URL): PostLink | undefined => SITES.get(getHost(url))?.find(url)

const SHORTENERS = new Set(
  (
    't.co lnkd.in bit.ly goo.gl tinyurl.com ow.ly buff.ly cutt.ly rebrand.ly is.gd t.ly shorturl.at rb.gy youtube.app.goo.gl ' +
    'fb.me fb.gg dlvr.it trib.al amzn.to linktr.ee'
  ).split(' '),
)

/** Returns why a URL of no post is refused; undefined if its host is not one of a platform. */
export function explainPostLink(url: URL): PasteRefusal | undefined {
  if (SHORTENERS.has(url.hostname.replace(/^www\./, ''))) return 'SHORTENED_LINK'
  const host = getHost(url)
  const site = SITES.get(host)
  if (!site) return undefined
  const [first = '', ...rest] = getParts(url)
  if (site.kinds.has(first) || rest.some((part) => site.kinds.has(part))) return 'MALFORMED_ID'
  if (first === '' || site.reserved.has(first)) return 'UNSUPPORTED_LINK'
  return host === 'fb.watch' || /^(?:v[mt]|clips)\./.test(url.hostname) ? 'MALFORMED_ID' : 'PROFILE_LINK'
}
