import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { expect, it, onTestFinished } from 'vitest'
import { logLosses } from '../src/cluster/log-losses.ts'
import { rescueUnderWriters, type RescuedService } from '../src/cluster/rescue.ts'
import { createTestRandom, isLong, seed } from '../src/plan.ts'
import { createKvService } from '../src/services/kv.ts'
import { createPricesService } from '../src/services/prices.ts'
import { createSseService } from '../src/services/sse.ts'
import { createStatsService } from '../src/services/stats.ts'
import { run } from '../src/service-process.ts'

/** Maximum time without a successful read of a node in the long form, which runs on a machine without other load (ms). */
const MAX_READ_GAP_MS = 2_000
/** Seeds of the long form: five of each loss. */
const RUNS = isLong ? 20 : 2

const SETTINGS = { threads: 2, appendTimeout: 5_000, snapshotIntervalEntries: 2_000 }
const READ_ID = '00000000-0000-4000-8000-000000999999'

/** @param youtube URL of the stand-in for YouTube */
const services = (youtube: string): readonly RescuedService[] => [
  {
    subject: createKvService(),
    settings: SETTINGS,
    readKey: 'read',
    readPath: '/v0/entity?id=read',
    readText: '1:',
    contentPath: '/v0/entities?start=%00',
  },
  {
    subject: createStatsService(youtube),
    settings: { ...SETTINGS, youtubeUri: youtube, dailyBudget: 0 },
    readKey: READ_ID,
    readPath: `/collections/${READ_ID}`,
    readText: '00000000001',
    contentPath: '/export',
  },
  {
    subject: createPricesService([40, 2_100]),
    settings: { ...SETTINGS, sample: 'no' },
    readKey: READ_ID,
    readPath: `/prices/${READ_ID}`,
    readText: '"value":1',
    contentPath: '/prices',
  },
  {
    subject: createSseService(),
    settings: SETTINGS,
    readKey: 'read',
    readPath: '/value?topic=read',
    readText: '1',
    contentPath: '/export',
  },
]

// The seed is a number, unless a caller of the tests sets another: consecutive seeds have different losses and services.
const first = Number(seed) || 0

it.each(Array.from({ length: RUNS }, (_, i) => first + i))(
  'after the loss of a log under writers, one command continues it: seed %i',
  async (number) => {
    const youtube = await run('youtube', createTemporaryFolder())
    onTestFinished(async () => void (await youtube.stop()))
    const loss = logLosses[number % 4]!
    const service = services(youtube.url)[(number + Math.floor(number / 4)) % 4]!
    const { violations, command, ...report } = await rescueUnderWriters(
      service,
      loss,
      createTestRandom(`rescue ${number}`),
    )
    process.stdout.write(`${JSON.stringify({ seed: number, ...report, lost: violations.length })}\n`)
    expect([command.status, command.output]).toEqual([0, expect.any(String)])
    expect(violations).toEqual([])
    if (isLong) expect(Math.max(...report.readGaps)).toBeLessThan(MAX_READ_GAP_MS)
  },
)
