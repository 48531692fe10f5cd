import type { PostResource } from '@influencer-stats/stats/client'
import { findText } from '../../texts/texts.ts'

/** The title of a post, or else its link in short. */
export const getPostName = ({ title, url }: Pick<PostResource, 'title' | 'url'>): string =>
  title ?? url.replace(/^https:\/\/(?:www\.)?|\/$/g, '')

export const getPlatformName = (platform: string): string => findText(`platform.${platform}`) ?? platform
