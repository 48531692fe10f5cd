import { embed } from '@influencer-stats/runtime/embed'
import { youtube } from '@influencer-stats/youtube/service'
import { expect, it } from 'vitest'
import { createTestRandom, isLong } from '../src/plan.ts'
import { cutPower } from '../src/power.ts'
import { createKvService } from '../src/services/kv.ts'
import { createPricesService } from '../src/services/prices.ts'
import { createSseService } from '../src/services/sse.ts'
import { createStatsService } from '../src/services/stats.ts'
import type { TestedService } from '../src/services/tested-service.ts'

// The crash images are derived from the service's system calls: see disk/disk-model.ts.

const [RECORDINGS, CUTS] = isLong ? [10, 5] : [1, 3]
const standIn = await embed(youtube)

const cases: { name: string; subject: TestedService; writes: number; durable: number }[] = [
  { name: 'kv, half of the writes durable', subject: createKvService(), writes: 800, durable: 50 },
  { name: 'stats', subject: createStatsService(standIn.url), writes: 300, durable: 100 },
  { name: 'prices', subject: createPricesService([40, 2_100, 30_000]), writes: 150, durable: 100 },
]

it.each(cases)(
  '$name: what was acknowledged as durable outlives a power cut',
  async ({ name, subject, writes, durable }) => {
    const random = createTestRandom(`power ${name}`)
    expect(await cutPower(subject, { random, recordings: RECORDINGS, cuts: CUTS, writes, durable })).toEqual([])
  },
)

it('sse with its history on disk: lost values are reported, no id is reused, and the newest are lost first', async () => {
  const options = { random: createTestRandom('power sse'), recordings: RECORDINGS, cuts: CUTS, writes: 600, durable: 0 }
  expect(await cutPower(createSseService(), { ...options, losesOnlyNewest: true })).toEqual([])
})

it('kv: a durable write makes earlier acknowledged writes of the same log durable', async () => {
  const options = {
    random: createTestRandom('power order'),
    recordings: RECORDINGS,
    cuts: CUTS,
    writes: 800,
    durable: 5,
  }
  expect(await cutPower(createKvService(), { ...options, coversEarlier: true })).toEqual([])
})

it.runIf(isLong)(
  'kv: what was acknowledged as durable outlives a power cut where LevelDB begins a next log',
  async () => {
    const options = { random: createTestRandom('power logs'), recordings: 1, cuts: 50, writes: 400, durable: 50 }
    expect(await cutPower(createKvService({ size: 1_000_000, writers: 4 }), options)).toEqual([])
  },
)
