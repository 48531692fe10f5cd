import { campaign } from './en/campaign.ts'
import { campaigns } from './en/campaigns.ts'
import { creators } from './en/creators.ts'
import { errors } from './en/errors.ts'
import { files } from './en/files.ts'
import { frame } from './en/frame.ts'
import { health } from './en/health.ts'
import { links } from './en/links.ts'
import { log } from './en/log.ts'
import { many } from './en/many.ts'
import { parts } from './en/parts.ts'
import { posts } from './en/posts.ts'
import { prices } from './en/prices.ts'
import { results } from './en/results.ts'
import { sources } from './en/sources.ts'

/** All texts of the page in English, the source of the keys. The files in `en/` are parts of one list. */
export const texts = {
  ...campaign,
  ...campaigns,
  ...creators,
  ...errors,
  ...files,
  ...frame,
  ...health,
  ...links,
  ...log,
  ...many,
  ...parts,
  ...posts,
  ...prices,
  ...results,
  ...sources,
} as const
