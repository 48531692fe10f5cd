import { embed } from '@influencer-stats/runtime/embed'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { youtube } from '@influencer-stats/youtube/service'
import { afterAll, expect, it } from 'vitest'
import { killUnderWriters } from '../src/kills.ts'
import { createTestRandom, isLong } from '../src/plan.ts'
import { createKvService } from '../src/services/kv.ts'
import { createPricesService } from '../src/services/prices.ts'
import { createSseService } from '../src/services/sse.ts'
import { createStatsService } from '../src/services/stats.ts'
import type { TestedService } from '../src/services/tested-service.ts'

// `pnpm test:chaos --long` kills them more often.
const KILLS = isLong ? 200 : 5

const standIn = await embed(youtube)
afterAll(() => standIn.stop())

const cases: { name: string; subject: TestedService; writes: number; durable: number }[] = [
  { name: 'kv', subject: createKvService({ writers: 32 }), writes: 1_500, durable: 50 },
  { name: 'stats', subject: createStatsService(standIn.url), writes: 300, durable: 100 },
  { name: 'prices', subject: createPricesService(), writes: 150, durable: 100 },
  { name: 'sse, with its history on disk', subject: createSseService(), writes: 600, durable: 0 },
]

it.concurrent.each(cases)(
  `$name: nothing that was acknowledged is lost in ${KILLS} kills under writers`,
  async ({ name, subject, ...rest }) => {
    const options = { ...rest, random: createTestRandom(`kills ${name}`), kills: KILLS }
    expect(await killUnderWriters(subject, createTemporaryFolder(), options)).toEqual([])
  },
  60_000 + KILLS * 60_000,
)
