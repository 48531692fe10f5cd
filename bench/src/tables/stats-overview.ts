import { asked, prove } from '../rounds/requests.ts'
import type { Row } from '../row.ts'
import { specOf } from '../spec.ts'
import { gets, makeCollection, makeMany, statsContender, statsPath } from './stats.ts'
import type { OwnTable } from './table.ts'

/** A campaign of as many videos as there may be, beside the others. */
const LARGE = { id: 'large', videos: Array.from({ length: 1_000 }, (_, i) => `${String(i).padStart(10, '0')}A`) }

const campaigns = (name: string, path: string, includes: string): Row => ({
  name,
  contender: statsContender(specOf('stats')),
  ...asked(gets(path, includes, 4, `ask for ${name}`), async (running) => {
    await makeMany(running, CAMPAIGNS)
    await makeCollection(running, LARGE.id, LARGE.videos)
    await prove(running, gets(statsPath(LARGE.id), '"videos":1000,"missing":[]', 1, ''))
  }),
})

const CAMPAIGNS = 10_000
const OVERVIEW = '/collections?include=stats,change'

export const tables: readonly OwnTable[] = [
  {
    name: 'overview',
    title: 'Pages of 50 of 10,000 campaigns, and one of 1,000 videos as a file; 4 connections, one serving thread',
    rows: () => [
      campaigns('a page by id', OVERVIEW, '"impressions":'),
      campaigns('a page by views', `${OVERVIEW}&sort=-impressions`, '"impressions":'),
      campaigns('a page of those with a word', `${OVERVIEW}&sort=-impressions&q=c99`, '"impressions":'),
      campaigns('1,000 videos as CSV', `/collections/${LARGE.id}/export?format=csv`, LARGE.videos.at(-1)!),
      campaigns('1,000 videos as JSON', `/collections/${LARGE.id}/export`, LARGE.videos.at(-1)!),
    ],
  },
]
