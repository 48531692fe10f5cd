import { campaign } from './de/campaign.ts'
import { campaigns } from './de/campaigns.ts'
import { creators } from './de/creators.ts'
import { errors } from './de/errors.ts'
import { files } from './de/files.ts'
import { frame } from './de/frame.ts'
import { health } from './de/health.ts'
import { links } from './de/links.ts'
import { log } from './de/log.ts'
import { many } from './de/many.ts'
import { parts } from './de/parts.ts'
import { posts } from './de/posts.ts'
import { prices } from './de/prices.ts'
import { results } from './de/results.ts'
import { sources } from './de/sources.ts'
import type { texts as english } from './en.ts'
import type { Translation } from './text-types.ts'

/** All texts of the page in German. */
export const texts: Translation<typeof english> = {
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
}
