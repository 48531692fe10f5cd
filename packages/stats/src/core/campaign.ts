import { removeDuplicates } from './ids.ts'

/** Properties of a collection's campaign. */
export interface Campaign {
  readonly name?: string
  /** Distinct. */
  readonly tags?: readonly string[]
  /** First and last day (YYYY-MM-DD). */
  readonly from?: string
  readonly to?: string
  /** Cost in `currency`. */
  readonly cost?: number
  /** An ISO 4217 code. */
  readonly currency?: string
}

/** A version of a collection. */
export interface CollectionVersion {
  readonly id: string
  /** Changes with every change and is never reused, not even after a deletion. */
  readonly revision: number
}

/** A campaign with its videos. */
export interface Collection extends CollectionVersion, Campaign {
  /** Distinct, in the client's order. */
  readonly videos: readonly string[]
  /** The revision of the PUT that made the collection (us since 1970); undefined if version 0.2 made it. */
  readonly created?: number
}

/** A change of a campaign: `null` removes a field. */
export type CampaignPatch = { readonly [Name in keyof Campaign]?: Campaign[Name] | null | undefined }

export const MAX_NAME_LENGTH = 200
export const MAX_TAGS = 50
export const MAX_TAG_LENGTH = 50
export const MAX_COST = 1e15

/** Codes of ISO 4217 that this version of Node knows. */
export const CURRENCIES: readonly string[] = Intl.supportedValuesOf('currency')

/** Returns the campaign after a change, without absent fields. */
export function applyPatch(campaign: Campaign, patch: CampaignPatch): Campaign {
  const { name, tags, from, to, cost, currency } = { ...campaign, ...omitValue(patch, undefined) }
  const all = { name, tags: tags?.length ? removeDuplicates(tags) : undefined, from, to, cost, currency }
  return omitValue(omitValue(all, undefined), null) as Campaign
}

const omitValue = <T extends object>(all: T, value: null | undefined): Partial<T> =>
  Object.fromEntries(Object.entries(all).filter((entry) => entry[1] !== value)) as Partial<T>

/** True if the campaign ends before it begins. */
export const isReversed = ({ from, to }: Campaign): boolean => from !== undefined && to !== undefined && to < from

/** Returns the cost of a thousand views and of an engagement. A cost is absent if its count is 0. */
export function computeCosts(cost: number, { impressions, engagements }: { impressions: number; engagements: number }) {
  return {
    ...(impressions > 0 && { perThousandViews: (cost / impressions) * 1_000 }),
    ...(engagements > 0 && { perEngagement: cost / engagements }),
  }
}
