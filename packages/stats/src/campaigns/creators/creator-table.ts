import { computeCosts } from '../../core/campaign.ts'
import { sum, type Totals, type VideoNumbers } from '../../core/video-numbers.ts'
import type { CollectionRow } from '../overview/overview-source.ts'
import { toShareAndCosts, type CampaignGroups, type CreatorGroup } from './creator-groups.ts'
import {
  toCreatorNumbers,
  type CreatorCampaign,
  type CreatorChannel,
  type CreatorDetails,
  type CreatorFees,
  type CreatorSummary,
  type CreatorVideo,
} from './creator.ts'

/** Maximum number of videos in the details of a creator. */
export const MAX_CREATOR_VIDEOS = 1_000

interface CreatorVideoEntry {
  numbers: VideoNumbers
  /** Request time of the numbers (ms since the epoch). */
  asOf: number
  readonly campaigns: string[]
}

interface CreatorEntry {
  readonly id: string
  title: string | undefined
  readonly videos: Map<string, CreatorVideoEntry>
  readonly campaigns: CreatorCampaign[]
  asOf: number
  at: number
}

/** Sums and fees of all creators at one time. */
export class CreatorTable {
  readonly #entries = new Map<string, CreatorEntry>()
  readonly #getChannel: (id: string) => CreatorChannel | undefined

  /** @param getChannel returns the data of a channel */
  constructor(getChannel: (id: string) => CreatorChannel | undefined) {
    this.#getChannel = getChannel
  }

  /** Adds a campaign, with its fees. */
  add({ known }: CollectionRow, { collection, groups, unattributed }: CampaignGroups): void {
    const totals = groups.map(({ numbers }) => sum(numbers))
    const views = totals.reduce((all, { impressions }) => all + impressions, sum(unattributed).impressions)
    const { id, name, currency } = collection
    for (const [i, group] of groups.entries()) {
      const entry = this.#getEntry(group)
      entry.campaigns.push({
        id,
        ...(name !== undefined && { name }),
        ...(currency !== undefined && { currency }),
        ...toShareAndCosts(totals[i]!, views, group.fee),
      })
      for (const numbers of group.numbers) addVideo(entry, numbers, id, known?.asOf ?? 0)
      if (!known || group.numbers.length === 0) continue
      entry.asOf = Math.min(entry.asOf, known.asOf)
      entry.at = Math.min(entry.at, known.at)
    }
  }

  #getEntry({ id, title }: CreatorGroup): CreatorEntry {
    let entry = this.#entries.get(id)
    if (!entry) {
      entry = { id, title, videos: new Map(), campaigns: [], asOf: Infinity, at: Infinity }
      this.#entries.set(id, entry)
    }
    entry.title ??= title
    return entry
  }

  /** Returns all creators. */
  listSummaries(): CreatorSummary[] {
    return Array.from(this.#entries.values(), (entry) => this.#toSummary(entry))
  }

  /** Returns a creator; undefined if no campaign has it. */
  getDetails(id: string): CreatorDetails | undefined {
    const entry = this.#entries.get(id)
    return (
      entry && {
        summary: this.#toSummary(entry),
        campaigns: entry.campaigns.toSorted((a, b) => b.stats.impressions - a.stats.impressions),
        videos: listVideos(entry),
      }
    )
  }

  #toSummary({ id, title, videos, campaigns, asOf, at }: CreatorEntry): CreatorSummary {
    const stats = sum(Array.from(videos.values(), ({ numbers }) => numbers))
    return {
      id,
      ...(title !== undefined && { title }),
      ...this.#getChannel(id),
      ...toCreatorNumbers(stats),
      campaignCount: campaigns.length,
      ...toFees(campaigns, videos),
      ...(asOf < Infinity && { asOf, at }),
    }
  }
}

function addVideo({ videos }: CreatorEntry, numbers: VideoNumbers, campaign: string, asOf: number): void {
  const video = videos.get(numbers.id)
  if (!video) {
    videos.set(numbers.id, { numbers, asOf, campaigns: [campaign] })
    return
  }
  video.campaigns.push(campaign)
  // Stored numbers of two campaigns may be of different times.
  if (asOf > video.asOf) Object.assign(video, { numbers, asOf })
}

const listVideos = ({ videos }: CreatorEntry): CreatorVideo[] =>
  Array.from(videos, ([id, { numbers, campaigns }]) => ({ id, numbers, campaigns }))
    .sort((a, b) => (b.numbers.views ?? -1) - (a.numbers.views ?? -1))
    .slice(0, MAX_CREATOR_VIDEOS)

/**
 * Returns the fees by currency, and the costs if there is one currency: the fees divided by the counts of the distinct
 * videos in the campaigns with a fee.
 */
function toFees(
  campaigns: readonly CreatorCampaign[],
  videos: CreatorEntry['videos'],
): Pick<CreatorSummary, 'fees' | 'costs'> {
  const paid = campaigns.filter(({ fee }) => fee !== undefined)
  if (paid.length === 0) return {}
  const amounts = new Map<string | undefined, number>()
  for (const { currency, fee } of paid) amounts.set(currency, (amounts.get(currency) ?? 0) + fee!)
  const fees = Array.from(amounts, ([currency, amount]): CreatorFees => ({ ...(currency && { currency }), amount }))
  if (fees.length > 1) return { fees }
  return { fees, costs: computeCosts(fees[0]!.amount, sumOf(paid, videos)) }
}

function sumOf(paid: readonly CreatorCampaign[], videos: CreatorEntry['videos']): Totals {
  const ids = new Set(paid.map(({ id }) => id))
  const counted = Array.from(videos.values()).filter(({ campaigns }) => campaigns.some((id) => ids.has(id)))
  return sum(counted.map(({ numbers }) => numbers))
}
