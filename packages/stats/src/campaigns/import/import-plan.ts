import { isDeepStrictEqual } from 'node:util'
import { applyPatch, type Collection } from '../../core/campaign.ts'
import { removeDuplicates } from '../../core/ids.ts'
import type { CollectionFields } from '../collection-changes.ts'
import type { CampaignContent } from '../../core/campaign-file/campaign-content.ts'

/** What an import does to a campaign. */
export interface PlannedChange {
  readonly state: 'new' | 'changed' | 'unchanged'
  readonly fields: CollectionFields
  /** Numbers of videos that the campaign gets and loses. */
  readonly added: number
  readonly removed: number
}

/**
 * Returns what the content of a file does to a campaign.
 * @param before the campaign, if it exists. Content with an id replaces it; other content is added to it.
 */
export function planChange(
  { id, posts: _posts, ...content }: CampaignContent,
  before: Collection | undefined,
): PlannedChange {
  const fields = before && id === undefined ? addContent(before, content) : content
  const [last, next] = [new Set(before?.videos), new Set(fields.videos)]
  const added = fields.videos.filter((video) => !last.has(video)).length
  const removed = [...last].filter((video) => !next.has(video)).length
  const state = !before ? 'new' : isDeepStrictEqual(toFields(fields), toFields(before)) ? 'unchanged' : 'changed'
  return { state, fields, added, removed }
}

/** Adds videos, tags, fees and sources. Other properties that the file states replace those of the campaign. */
function addContent(
  before: Collection,
  { videos, tags, fees, sources, ...stated }: CollectionFields,
): CollectionFields {
  const { cost: _cost, fees: lastFees = [], ...rest } = before
  const paid = new Set(fees?.map(({ creator }) => creator))
  const isPriced = stated.cost !== undefined || fees !== undefined
  const lastSources = before.sources ?? []
  return {
    ...(isPriced ? rest : before),
    ...stated,
    ...(fees && { fees: [...lastFees.filter(({ creator }) => !paid.has(creator)), ...fees] }),
    ...(tags && { tags: removeDuplicates([...(before.tags ?? []), ...tags]) }),
    ...(sources && { sources: [...lastSources, ...sources] }),
    videos: removeDuplicates([...before.videos, ...videos]),
  }
}

const toFields = ({ videos, followed = {}, refused = [], ...campaign }: CollectionFields) => ({
  ...applyPatch({}, campaign),
  videos,
  followed,
  refused,
})
