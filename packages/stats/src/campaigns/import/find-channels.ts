import { Problem } from '@influencer-stats/runtime/problems'
import type { ImportedCampaign } from '../../core/campaign-file/campaign-draft.ts'
import type { CampaignSource } from '../../core/campaign.ts'
import { parseSourceName, type SourceName } from '../../core/follow/source-name.ts'

/** Maximum number of look-ups of an import: a unit of quota each. */
const MAX_LOOKUPS = 50

/** A channel that a file only names: the source, or the reason why it is unknown. */
export type NamedChannel = CampaignSource | 'CHANNEL_NOT_FOUND' | 'CHANNEL_WITHOUT_ID'

/** Looks up the channels that a file names by a handle or a user name. Returns them by their links. */
export async function findChannels(
  campaigns: readonly ImportedCampaign[],
  findSource: (source: SourceName) => Promise<CampaignSource | undefined>,
): Promise<Map<string, NamedChannel>> {
  const links = new Set(campaigns.flatMap(({ channels = [] }) => channels.map(({ url }) => url)))
  const found = new Map<string, NamedChannel>()
  let isPaused = false
  for (const link of links) {
    const name = parseSourceName(link)
    if (!name || isPaused || found.size >= MAX_LOOKUPS) {
      found.set(link, 'CHANNEL_WITHOUT_ID')
      continue
    }
    try {
      found.set(link, (await findSource(name)) ?? 'CHANNEL_NOT_FOUND')
    } catch (fault) {
      if (!(fault instanceof Problem)) throw fault
      // An outage, or the budget: the next call would fail, too.
      isPaused = true
      found.set(link, 'CHANNEL_WITHOUT_ID')
    }
  }
  return found
}
