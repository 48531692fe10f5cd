import type { PostLink } from './content-link.ts'
import { getHost, getParts, type PostFinder } from './post-path.ts'

/** A number, or `pfbid` and characters: the form that hides the number. */
const FACEBOOK_ID = /^(?:\d{5,25}|pfbid\w{10,90})$/
const CODE = /^[\w-]{5,64}$/
const PAGE = /^[\w.-]{1,100}$/

const toFacebook = (id: string, path: string, author?: string): PostLink => ({
  type: 'post',
  platform: 'facebook',
  id,
  url: `https://www.facebook.com/${path}`,
  ...(author && !/^\d+$/.test(author) && { author: `@${author}` }),
})

const toShortLink = (id: string, url: string): PostLink => ({
  type: 'post',
  platform: 'facebook',
  id,
  url,
  isShortLink: true,
})

/** Returns the Facebook post of the parameters of watch, permalink.php, story.php, photo.php and video.php. */
function findByParameters({ searchParams }: URL, first: string): PostLink | undefined {
  const get = (name: string) => searchParams.get(name) ?? ''
  const [video, photo, story, page] = [get('v'), get('fbid'), get('story_fbid'), get('id')]
  if ((first === 'watch' || first === 'video.php') && FACEBOOK_ID.test(video))
    return toFacebook(video, `watch/?v=${video}`)
  if ((first === 'photo' || first === 'photo.php') && FACEBOOK_ID.test(photo))
    return toFacebook(photo, `photo/?fbid=${photo}`)
  if ((first === 'permalink.php' || first === 'story.php') && FACEBOOK_ID.test(story) && /^\d{1,25}$/.test(page))
    return toFacebook(story, `permalink.php?story_fbid=${story}&id=${page}`)
  return undefined
}

export const findFacebookPost: PostFinder = (url) => {
  const parts = getParts(url)
  const [first = '', second = '', third = ''] = parts
  if (getHost(url) === 'fb.watch')
    return CODE.test(first) ? toShortLink(first, `https://fb.watch/${first}/`) : undefined
  if (first === 'share' && CODE.test(third || second)) {
    const path = third ? `share/${second}/${third}/` : `share/${second}/`
    return toShortLink(third || second, `https://www.facebook.com/${path}`)
  }
  if (first === 'reel' && FACEBOOK_ID.test(second)) return toFacebook(second, `reel/${second}`)
  if (first === 'groups' && (third === 'posts' || third === 'permalink') && FACEBOOK_ID.test(parts[3] ?? ''))
    return PAGE.test(second) ? toFacebook(parts[3]!, `groups/${second}/posts/${parts[3]}`) : undefined
  if ((second === 'posts' || second === 'videos') && PAGE.test(first)) {
    // The title of a post or a video may precede its id.
    const id = [parts[3], third].find((part) => part !== undefined && FACEBOOK_ID.test(part))
    if (id !== undefined) return toFacebook(id, `${first}/${second}/${id}`, first)
  }
  return findByParameters(url, first)
}

const LINKEDIN_URN = /^urn:li:(activity|share|ugcPost):(\d{5,25})$/i
const LINKEDIN_SLUG = /-(activity|share|ugcPost)-(\d{5,25})(?:-[\w-]{1,16})?$/i
const URN_TYPES: Readonly<Record<string, string>> = { activity: 'activity', share: 'share', ugcpost: 'ugcPost' }

function toLinkedin(match: RegExpExecArray, author?: string): PostLink {
  const id = `urn:li:${URN_TYPES[match[1]!.toLowerCase()]}:${match[2]}`
  return {
    type: 'post',
    platform: 'linkedin',
    id,
    url: `https://www.linkedin.com/feed/update/${id}/`,
    ...(author && { author: `@${author}` }),
  }
}

export const findLinkedinPost: PostFinder = (url) => {
  const parts = getParts(url)
  if (parts[0] === 'posts') {
    const slug = (parts[1] ?? '').slice(-200)
    const match = LINKEDIN_SLUG.exec(slug)
    const author = parts[1]?.includes('_') ? parts[1].slice(0, parts[1].indexOf('_')) : undefined
    return match ? toLinkedin(match, author) : undefined
  }
  const at = parts.indexOf('update')
  const urn = parts[0] === 'feed' || parts[0] === 'embed' ? LINKEDIN_URN.exec(parts[at + 1] ?? '') : null
  return urn ? toLinkedin(urn) : undefined
}
