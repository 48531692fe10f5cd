import { serviceContender } from '../contenders/service.ts'
import { runBulk } from '../prices/bulk.ts'
import { SAMPLE } from '../prices/catalogs.ts'
import type { IndexName } from '../prices/searches.ts'
import { PINS } from '../processes.ts'
import { spread } from '../statistics.ts'
import type { Figures, TrialRow } from '../trial-row.ts'
import { withIndex } from './prices.ts'
import type { TrialsAsked, TrialScenario } from './scenario.ts'

const MEGA = 1e6

async function bulkFigures(index: IndexName, items: number, asked: TrialsAsked): Promise<Figures> {
  const running = await serviceContender(withIndex(index)).start()
  try {
    const { url, pid } = running
    // What one large request takes must not be hidden by a second one.
    const duration = items > LARGE ? 0 : asked.duration
    const plan = { url, pid, index, items, catalog: SAMPLE, duration, warmUp: asked.warmUp, pin: PINS.client }
    const { milliseconds, requests, serverCpu, before, peak } = await runBulk(plan)
    const { median, min, max } = spread(milliseconds)
    return {
      ms: `${median.toFixed(2)} (${min.toFixed(2)}-${max.toFixed(2)})`,
      prices: (items / median) * 1000,
      cpu: ((serverCpu * MEGA) / (requests * items)).toFixed(2),
      before,
      growth: peak - before,
    }
  } finally {
    await running.stop()
  }
}

const LARGE = 10_000
const bulkRow = (index: IndexName, items: number, asked: TrialsAsked): TrialRow => ({
  name: `${items.toLocaleString('en-US')}, ${index}`,
  contender: `prices,indexes=${index}`,
  run: () => bulkFigures(index, items, asked),
})

export const bulkTable: TrialScenario = {
  service: 'prices',
  name: 'bulk',
  title:
    'Searches in one bulk request, random rows of the sample catalog, one serving thread, one connection: the median of requests, the fastest and the slowest, from the first byte sent to the last one received',
  full: false,
  columns: {
    ms: 'ms a request',
    prices: 'prices/s',
    cpu: 'CPU us a price',
    before: 'RSS before MB',
    growth: 'RSS growth MB',
  },
  trials: (asked) => [
    bulkRow('roaring-offering', 1_000, asked),
    bulkRow('roaring-offering', 3_000, asked),
    bulkRow('bitset', 3_000, asked),
    bulkRow('roaring-offering', 100_000, asked),
  ],
}
