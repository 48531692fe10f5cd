import { BLOCK_BYTES, BLOCK_ROWS } from '@influencer-stats/prices/core/answers'
import { serviceContender } from '../contenders/service.ts'
import { SAMPLE, sizeOf } from '../prices/catalogs.ts'
import { searchFor } from '../prices/search-for.ts'
import { processorSeconds, residentMegabytes } from '../processes.ts'
import type { Figures } from '../trial-row.ts'
import type { TrialsAsked, TrialScenario } from './scenario.ts'

const MEGA = 1e6

const BLOCKS = Math.ceil(sizeOf(SAMPLE) / BLOCK_ROWS)
const SHARES = [0.1, 0.25, 0.5, 0.75, 1]
/** The old space of each thread's heap (MB); the serving one holds 17 between requests. */
const HEAPS = [64, 32]

interface Limited {
  readonly name: string
  readonly settings: Readonly<Record<string, string>>
  readonly env?: Readonly<Record<string, string>>
  /** What of the answers is in memory (bytes). */
  readonly kept: number
}

const everything: Limited = { name: 'memory', settings: {}, kept: BLOCKS * BLOCK_BYTES }

const limits: readonly Limited[] = [
  everything,
  ...SHARES.map((share) => {
    const kept = Math.ceil(BLOCKS * share) * BLOCK_BYTES
    const settings = { catalog: 'lru-level', cacheBytes: String(kept) }
    return { name: `lru-level, cache of ${Math.round(share * 100)} %`, settings, kept }
  }),
  ...HEAPS.map((heap) => ({
    ...everything,
    name: `memory, heap of at most ${heap} MB`,
    env: { NODE_OPTIONS: `--max-old-space-size=${heap}` },
  })),
]

async function limited(
  { settings, env, kept }: Limited,
  { duration }: TrialsAsked,
): Promise<{ readonly figures: Figures; readonly cpu: number }> {
  const spec = { service: 'prices', variant: '', settings: {} }
  const running = await serviceContender(spec, settings, { env }).start()
  try {
    const drawer = 'prices-roaring-offering'
    await searchFor(duration, running.url, drawer)
    const before = processorSeconds(running.pid)
    const { perSecond, latency, requests } = await searchFor(duration, running.url, drawer)
    const cpu = ((processorSeconds(running.pid) - before) * MEGA) / requests
    return {
      cpu,
      figures: {
        kept: kept / MEGA,
        cpu,
        perSecond,
        p50: latency.p50,
        p99: latency.p99,
        max: latency.max,
        resident: residentMegabytes(running.pid),
      },
    }
  } finally {
    await running.stop()
  }
}

export const limitsTable: TrialScenario = {
  service: 'prices',
  name: 'limits',
  title:
    'Random searches with part of the answers in memory, and with a limited heap: 20 connections, one serving thread, closed loop (us)',
  full: true,
  columns: {
    kept: 'answers in memory MB',
    cpu: 'CPU us/request',
    more: 'more than with all in memory us',
    perSecond: 'requests/s',
    p50: 'p50',
    p99: 'p99',
    max: 'max',
    resident: 'RSS MB',
  },
  trials: (asked) => {
    let all = NaN
    return limits.map((one) => ({
      name: one.name,
      contender: 'prices',
      async run() {
        const { figures, cpu } = await limited(one, asked)
        if (one === everything) all = cpu
        return { ...figures, more: cpu - all }
      },
    }))
  },
}
