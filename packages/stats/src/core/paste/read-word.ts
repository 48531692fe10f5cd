import { isVideoId } from '../ids.ts'
import { findInUrl, parseLink, trimLink } from '../video-links.ts'
import type { ContentLink, PasteRefusal } from './content-link.ts'
import { explainPostLink, findPostLink } from './post-links.ts'
import {
  explainYoutubeLink,
  findBareId,
  findCustomName,
  findYoutubeLink,
  isYoutubeHost,
  toVideoLink,
} from './youtube-links.ts'

/** Maximum length of a link (characters). */
const MAX_WORD_LENGTH = 8_192
/** English words and numbers, such as `Influencers`. Applied to 11 characters only. */
const WORD_PATTERN = /^(?:\d*(?:[A-Z]?[a-z]*|[A-Z]+)\d*(?:[-_]|$))+$/

/** What a word names. `isDoubtful`: 11 characters, which YouTube must know. */
export type WordContent =
  | { readonly link: ContentLink; readonly isDoubtful?: true; readonly isWord?: true }
  | { readonly reason: PasteRefusal }

/** Returns the content that a word names, or why its link is refused; undefined for a word that is no link. */
export function readWord(word: string): WordContent | undefined {
  if (word.length > MAX_WORD_LENGTH)
    return isLinkText(word.slice(0, MAX_WORD_LENGTH)) ? { reason: 'TOO_LONG' } : undefined
  const text = trimLink(word)
  const bare = findBareId(text)
  if (bare) return { link: bare }
  if (isVideoId(text)) {
    const isWord = WORD_PATTERN.test(text)
    return { link: toVideoLink(text), isDoubtful: true, ...(isWord && { isWord }) }
  }
  if (!isLinkText(text)) return undefined
  const url = parseLink(text)
  if (!url) return { reason: 'MALFORMED_ID' }
  const link = findInUrl(url, findLink) ?? findCustomName(url)
  return link ? { link } : { reason: explainUrl(url) }
}

const findLink = (url: URL): ContentLink | undefined => findYoutubeLink(url) ?? findPostLink(url)

const explainUrl = (url: URL): PasteRefusal =>
  isYoutubeHost(url.hostname) ? explainYoutubeLink(url) : (explainPostLink(url) ?? 'UNSUPPORTED_HOST')

const SCHEME = /^(?:https?:)?\/\//i
const HOST_CHARACTERS = /^[\p{L}\p{N}.-]+$/u
const TOP_LEVEL_DOMAIN = /\.[\p{L}]{2,24}$/u

/** True for text with a scheme, or with a host and a path. */
function isLinkText(text: string): boolean {
  if (SCHEME.test(text)) return true
  const end = text.search(/[/?#]/)
  if (end < 0) return false
  const host = text.slice(0, end).replace(/:(?:80|443)$/, '')
  return host.length <= 253 && HOST_CHARACTERS.test(host) && TOP_LEVEL_DOMAIN.test(host)
}
