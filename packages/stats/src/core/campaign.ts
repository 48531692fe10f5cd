import { removeDuplicates } from './ids.ts'

/** What a collection says of the campaign that it stands for. */
export interface Campaign {
  readonly name?: string
  /** Distinct. */
  readonly tags?: readonly string[]
  /** Its first and its last day (YYYY-MM-DD). */
  readonly from?: string
  readonly to?: string
  /** What it costs, in `currency`. */
  readonly cost?: number
  /** An ISO 4217 code. */
  readonly currency?: string
}

/** A change of it: `null` takes something away. */
export type CampaignPatch = { readonly [Name in keyof Campaign]?: Campaign[Name] | null | undefined }

export const MAX_NAME_LENGTH = 200
export const MAX_TAGS = 50
export const MAX_TAG_LENGTH = 50
export const MAX_COST = 1e15

/** ISO 4217's codes, as far as this Node knows them. */
export const CURRENCIES: readonly string[] = Intl.supportedValuesOf('currency')

/** A campaign with a change; without what is absent. */
export function applyPatch(campaign: Campaign, patch: CampaignPatch): Campaign {
  const { name, tags, from, to, cost, currency } = { ...campaign, ...omitValue(patch, undefined) }
  const all = { name, tags: tags?.length ? removeDuplicates(tags) : undefined, from, to, cost, currency }
  return omitValue(omitValue(all, undefined), null) as Campaign
}

const omitValue = <T extends object>(all: T, value: null | undefined): Partial<T> =>
  Object.fromEntries(Object.entries(all).filter((entry) => entry[1] !== value)) as Partial<T>

/** Whether it ends before it begins. */
export const isReversed = ({ from, to }: Campaign): boolean => from !== undefined && to !== undefined && to < from

/** What a thousand views and an engagement have cost; what nobody has seen has no such price. */
export function computeCosts(cost: number, { impressions, engagements }: { impressions: number; engagements: number }) {
  return {
    ...(impressions > 0 && { perThousandViews: (cost / impressions) * 1_000 }),
    ...(engagements > 0 && { perEngagement: cost / engagements }),
  }
}
