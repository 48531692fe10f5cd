import type { Collection, Fee } from '../../core/campaign.ts'
import { computeCosts } from '../../core/campaign.ts'
import { sum, type Totals, type VideoNumbers } from '../../core/video-numbers.ts'
import { toCreatorNumbers, type CampaignCreator, type CampaignCreators, type CreatorChannel } from './creator.ts'

/** The channel of a video, as its details state it. */
export interface VideoChannel {
  readonly id: string
  readonly title?: string | undefined
}

/** Videos of one creator in a campaign. */
export interface CreatorGroup {
  readonly id: string
  /** Title of the channel in the details of the videos. */
  readonly title?: string | undefined
  readonly numbers: readonly VideoNumbers[]
  readonly fee?: number | undefined
}

/** The creators of a campaign with the numbers of their videos. */
export interface CampaignGroups {
  readonly collection: Collection
  readonly groups: readonly CreatorGroup[]
  /** Numbers of the videos whose channel is unknown. */
  readonly unattributed: readonly VideoNumbers[]
}

/** Groups the videos of a campaign by their channels. */
export function groupByChannel(
  collection: Collection,
  numbers: readonly VideoNumbers[],
  channels: ReadonlyMap<string, VideoChannel>,
): CampaignGroups {
  const groups = new Map<string, { id: string; title?: string | undefined; numbers: VideoNumbers[] }>()
  const unattributed: VideoNumbers[] = []
  for (const video of numbers) {
    const channel = channels.get(video.id)
    if (!channel) {
      unattributed.push(video)
      continue
    }
    const group = groups.get(channel.id)
    if (group) group.numbers.push(video)
    else groups.set(channel.id, { ...channel, numbers: [video] })
  }
  return { collection, groups: [...groups.values()], unattributed }
}

const fold = (name: string) => name.normalize('NFKC').trim().toLowerCase()

/**
 * Adds the fees of a campaign to its creators. A fee belongs to the channel with this id; otherwise to the channel of the
 * campaign with this title or handle, if only one has it. Other fees belong to creators without videos.
 */
export function assignFees(
  { collection, groups, unattributed }: CampaignGroups,
  getChannel: (id: string) => CreatorChannel | undefined,
): CampaignGroups {
  const { fees } = collection
  if (!fees?.length) return { collection, groups, unattributed }
  const findCreator = createFeeLookUp(groups, getChannel)
  const amounts = new Map<string, number>()
  for (const { creator, amount } of fees) {
    const id = findCreator(creator)
    amounts.set(id, (amounts.get(id) ?? 0) + amount)
  }
  const known = new Set(groups.map(({ id }) => id))
  const others = [...amounts.keys()].filter((id) => !known.has(id)).map((id) => ({ id, numbers: [] }))
  return {
    collection,
    groups: [...groups, ...others].map((group) => ({ ...group, fee: amounts.get(group.id) })),
    unattributed,
  }
}

/** Returns the function that finds the id of the creator of a fee. */
function createFeeLookUp(
  groups: readonly CreatorGroup[],
  getChannel: (id: string) => CreatorChannel | undefined,
): (creator: Fee['creator']) => string {
  const ids = new Set(groups.map(({ id }) => id))
  const byName = new Map<string, Set<string>>()
  for (const { id, title } of groups) {
    const channel = getChannel(id)
    for (const name of [title, channel?.title, channel?.handle, channel?.handle?.replace(/^@/, '')])
      if (name) byName.set(fold(name), (byName.get(fold(name)) ?? new Set()).add(id))
  }
  return (creator) => {
    if (ids.has(creator)) return creator
    const found = byName.get(fold(creator))
    // Two channels with one title: the fee could belong to either.
    return found?.size === 1 ? [...found][0]! : creator
  }
}

const byViews = (a: { readonly stats: Totals }, b: { readonly stats: Totals }) =>
  b.stats.impressions - a.stats.impressions

/** Returns the creators of a campaign, those with the most views first. */
export function toCampaignCreators(
  { groups, unattributed }: CampaignGroups,
  getChannel: (id: string) => CreatorChannel | undefined,
): CampaignCreators {
  const others = sum(unattributed)
  const totals = groups.map(({ numbers }) => sum(numbers))
  const views = totals.reduce((all, { impressions }) => all + impressions, others.impressions)
  const creators = groups.map(({ id, title, fee }, i): CampaignCreator => ({
    id,
    ...(title !== undefined && { title }),
    ...getChannel(id),
    ...toShareAndCosts(totals[i]!, views, fee),
  }))
  return {
    creators: creators.toSorted(byViews),
    ...(unattributed.length > 0 && { unattributed: others }),
  }
}

/** Returns the numbers of a creator in a campaign. @param views of the campaign */
export const toShareAndCosts = (stats: Totals, views: number, fee: number | undefined) => ({
  ...toCreatorNumbers(stats),
  ...(views > 0 && { share: stats.impressions / views }),
  ...(fee !== undefined && { fee, costs: computeCosts(fee, stats) }),
})
