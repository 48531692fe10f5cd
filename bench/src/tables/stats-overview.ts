import { createCheckedRound, checkReplies } from '../rounds/request-round.ts'
import type { BenchRow } from '../row.ts'
import { createSpec } from '../spec.ts'
import { createGets, makeCollection, makeCollections, createStatsTarget, getStatsPath } from './stats.ts'
import type { ServiceTable } from '../table.ts'

/** A campaign (collection) with the maximum number of videos, in addition to the small ones. */
const LARGE_CAMPAIGN = {
  id: 'large',
  videos: Array.from({ length: 1_000 }, (_, i) => `${String(i).padStart(10, '0')}A`),
}

const createCampaignsRow = (name: string, path: string, includes: string): BenchRow => ({
  name,
  target: createStatsTarget(createSpec('stats')),
  ...createCheckedRound(createGets(path, includes, 4, `request ${name}`), async (running) => {
    await makeCollections(running, CAMPAIGN_COUNT)
    await makeCollection(running, LARGE_CAMPAIGN.id, LARGE_CAMPAIGN.videos)
    await checkReplies(running, createGets(getStatsPath(LARGE_CAMPAIGN.id), '"videos":1000,"missing":[]', 1, ''))
  }),
})

const CAMPAIGN_COUNT = 10_000
const OVERVIEW_PATH = '/collections?include=stats,change'

export const tables: readonly ServiceTable[] = [
  {
    name: 'overview',
    title:
      'Pages of 50 campaigns of 10,000, and one campaign of 1,000 videos as a file; 4 connections, one serving thread',
    rows: () => [
      createCampaignsRow('a page by id', OVERVIEW_PATH, '"impressions":'),
      createCampaignsRow('a page by views', `${OVERVIEW_PATH}&sort=-impressions`, '"impressions":'),
      createCampaignsRow('a page of those with a word', `${OVERVIEW_PATH}&sort=-impressions&q=c99`, '"impressions":'),
      createCampaignsRow(
        '1,000 videos as CSV',
        `/collections/${LARGE_CAMPAIGN.id}/export?format=csv`,
        LARGE_CAMPAIGN.videos.at(-1)!,
      ),
      createCampaignsRow(
        '1,000 videos as JSON',
        `/collections/${LARGE_CAMPAIGN.id}/export`,
        LARGE_CAMPAIGN.videos.at(-1)!,
      ),
    ],
  },
]
