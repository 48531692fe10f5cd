import { ServiceError } from '@influencer-stats/runtime/service-error'
import type { CampaignSource, NewSource } from '@influencer-stats/stats/client'
import { stats } from '../../api.ts'

/** Maximum attempts. An attempt fails if the campaign was changed since its read, for example by one of its sources. */
const MAX_ATTEMPTS = 5

/**
 * Changes the sources of a campaign.
 * @param change returns the new sources from the current ones
 */
export async function changeSources(
  id: string,
  change: (sources: readonly CampaignSource[]) => readonly NewSource[],
): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const campaign = await stats.get(id)
    if (!campaign) throw new ServiceError(404, 'COLLECTION_NOT_FOUND')
    const sources = change(campaign.sources ?? [])
    try {
      await stats.patch(id, { sources }, { ifVersion: campaign.version })
      return
    } catch (error) {
      const isOutdated = error instanceof ServiceError && error.code === 'CONDITION_FAILED'
      if (!isOutdated || attempt === MAX_ATTEMPTS) throw error
    }
  }
}

/** Follows one more channel or playlist. */
export const follow = (id: string, source: NewSource): Promise<void> =>
  changeSources(id, (sources) => [...sources, source])
