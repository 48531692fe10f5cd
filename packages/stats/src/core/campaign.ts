import { removeDuplicates } from './ids.ts'

/** Properties of a collection's campaign. */
export interface Campaign {
  readonly name?: string
  /** Distinct. */
  readonly tags?: readonly string[]
  /** First and last day (YYYY-MM-DD). */
  readonly from?: string
  readonly to?: string
  /** Cost in `currency`. A campaign has either one cost or fees. */
  readonly cost?: number
  /** Fees in `currency`, at most one for each creator. */
  readonly fees?: readonly Fee[]
  /** An ISO 4217 code. */
  readonly currency?: string
  /** Channels and playlists whose uploads the campaign follows. Their ids are distinct. */
  readonly sources?: readonly CampaignSource[]
  /** True if the campaign is in the archive. */
  readonly archived?: boolean
}

/** Fee of a creator. */
export interface Fee {
  /** Id of a channel, or a name. */
  readonly creator: string
  readonly amount: number
}

/** A channel or a playlist whose uploads a campaign follows. */
export interface CampaignSource {
  readonly type: 'channel' | 'playlist'
  readonly id: string
  /** Words of which the title or the description of an upload must contain one. Without words, all uploads are followed. */
  readonly contains?: readonly string[]
  /** Title to show. */
  readonly title?: string
}

/** Videos that sources added, as the service records them. */
export interface FollowedVideos {
  /** Id of the source that added a video, by the id of the video. */
  readonly followed?: Readonly<Record<string, string>>
  /** Uploads that a person removed, oldest removal first. Sources never add them again. */
  readonly refused?: readonly string[]
}

/** A version of a collection. */
export interface CollectionVersion {
  readonly id: string
  /** Changes with every change and is never reused, not even after a deletion. */
  readonly revision: number
}

/** A campaign with its videos. */
export interface Collection extends CollectionVersion, Campaign, FollowedVideos {
  /** Distinct, in the client's order. */
  readonly videos: readonly string[]
  /** The revision of the PUT that made the collection (us since 1970); undefined if version 0.2 made it. */
  readonly created?: number
}

/** A deleted collection that can be restored. Its revision is that of the deletion. */
export interface TrashedCollection extends Collection {
  /** Time of the deletion (ISO 8601). */
  readonly deleted: string
}

export const isTrashed = (collection: Collection | TrashedCollection): collection is TrashedCollection =>
  'deleted' in collection

/** A change of a campaign: `null` removes a field. */
export type CampaignPatch = { readonly [Name in keyof Campaign]?: Campaign[Name] | null | undefined }

export const MAX_NAME_LENGTH = 200
export const MAX_TAGS = 50
export const MAX_TAG_LENGTH = 50
export const MAX_COST = 1e15
export const MAX_FEES = 1_000
export const MAX_SOURCES = 20
export const MAX_SOURCE_WORDS = 20

/** Codes of ISO 4217 that this version of Node knows. */
export const CURRENCIES: readonly string[] = Intl.supportedValuesOf('currency')

/** Returns the campaign after a change, without absent fields. */
export function applyPatch(campaign: Campaign, patch: CampaignPatch): Campaign {
  const merged = { ...campaign, ...omitValue(patch, undefined) }
  const { name, tags, from, to, cost, fees, currency, sources, archived } = merged
  const all = {
    name,
    tags: tags?.length ? removeDuplicates(tags) : undefined,
    from,
    to,
    cost,
    fees: fees?.length ? fees : undefined,
    currency,
    sources: sources?.length ? removeRepeatedSources(sources) : undefined,
    archived: archived || undefined,
  }
  return omitValue(omitValue(all, undefined), null) as Campaign
}

const removeRepeatedSources = (sources: readonly CampaignSource[]): CampaignSource[] =>
  sources.filter(({ id }, i) => sources.findIndex((other) => other.id === id) === i)

const omitValue = <T extends object>(all: T, value: null | undefined): Partial<T> =>
  Object.fromEntries(Object.entries(all).filter((entry) => entry[1] !== value)) as Partial<T>

/** True if the campaign ends before it begins. */
export const isReversed = ({ from, to }: Campaign): boolean => from !== undefined && to !== undefined && to < from

/** Returns the reason why the cost of a campaign is ambiguous; undefined if it is not. */
export function findAmbiguousCost({ cost, fees = [] }: Campaign): string | undefined {
  if (cost !== undefined && fees.length > 0) return 'a campaign has either one cost or fees'
  const seen = new Set<string>()
  for (const { creator } of fees) {
    if (seen.has(creator)) return `two fees for ${creator}`
    seen.add(creator)
  }
  return undefined
}

/** Returns the cost of a campaign, or the sum of its fees; undefined without both. */
export const getTotalCost = ({ cost, fees }: Campaign): number | undefined =>
  cost ?? fees?.reduce((sum, { amount }) => sum + amount, 0)

/** Returns the cost of a thousand views and of an engagement. A cost is absent if its count is 0. */
export function computeCosts(cost: number, { impressions, engagements }: { impressions: number; engagements: number }) {
  return {
    ...(impressions > 0 && { perThousandViews: (cost / impressions) * 1_000 }),
    ...(engagements > 0 && { perEngagement: cost / engagements }),
  }
}

/** The version of a collection as replies state it. */
export const getVersion = ({ revision }: { readonly revision: number }): string => String(revision)

/** The ETag of a collection. It changes with the collection, but not with the numbers of its videos. */
export const getEtag = (collection: { readonly revision: number }): string => `"${getVersion(collection)}"`
