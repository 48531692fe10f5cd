import type { PostResource } from '@influencer-stats/stats/client'
import { findText } from '../../texts/texts.ts'

/** Parts of a link that are at most this long are shown whole. */
const MAX_PART_LENGTH = 14
/** Length of the end of a longer part, which distinguishes it from others. */
const END_LENGTH = 6

/** The title of a post, or else the path of its link with short ids: `@anna/video/…456789`. */
export const getPostName = ({ title, url }: Pick<PostResource, 'title' | 'url'>): string => title ?? toShortPath(url)

function toShortPath(url: string): string {
  const path = url.replace(/^https:\/\/[^/]+\/|\/$/g, '')
  const isLong = (part: string) => part.length > MAX_PART_LENGTH && !part.startsWith('@')
  return path
    .split('/')
    .map((part) => (isLong(part) ? `…${part.slice(-END_LENGTH)}` : part))
    .join('/')
}

export const getPlatformName = (platform: string): string => findText(`platform.${platform}`) ?? platform
