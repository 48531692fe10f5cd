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

interface BulkShape {
  readonly index: IndexName
  readonly items: number
  readonly connections?: number
}

async function bulkFigures({ index, items, connections = 1 }: BulkShape, asked: TrialsAsked): Promise<Figures> {
  const running = await serviceContender(withIndex(index)).start()
  try {
    const { url, pid } = running
    // What one large request takes must not be hidden by a second one.
    const duration = items > LARGE ? 0 : asked.duration
    const { warmUp } = asked
    const pin = PINS.client
    const result = await runBulk({ url, pid, index, items, connections, catalog: SAMPLE, duration, warmUp, pin })
    const { milliseconds, requests, seconds, serverCpu, before, peak } = result
    const { median, min, max } = spread(milliseconds)
    return {
      ms: `${median.toFixed(2)} (${min.toFixed(2)}-${max.toFixed(2)})`,
      prices: connections === 1 ? (items / median) * 1000 : (requests * items) / seconds,
      cpu: ((serverCpu * MEGA) / (requests * items)).toFixed(2),
      before,
      growth: peak - before,
    }
  } finally {
    await running.stop()
  }
}

const LARGE = 10_000
function bulkRow(shape: BulkShape, asked: TrialsAsked): TrialRow {
  const { index, items, connections } = shape
  const name = `${items.toLocaleString('en-US')}, ${index}`
  return {
    name: connections ? `${name}, ${connections} connections` : name,
    contender: `prices,indexes=${index}`,
    run: () => bulkFigures(shape, asked),
  }
}

export const bulkTable: TrialScenario = {
  service: 'prices',
  name: 'bulk',
  title:
    'Searches in one bulk request, random rows of the sample catalog, one serving thread: the median of requests, the fastest and the slowest, from the first byte sent to the last one received; on one connection unless told, and what it does a second while it is asked; with several, what all get a second',
  full: false,
  columns: {
    ms: 'ms a request',
    prices: 'prices/s',
    cpu: 'CPU us a price',
    before: 'RSS before MB',
    growth: 'RSS growth MB',
  },
  trials: (asked) => [
    bulkRow({ index: 'roaring-offering', items: 1_000 }, asked),
    bulkRow({ index: 'roaring-offering', items: 3_000 }, asked),
    bulkRow({ index: 'roaring-offering', items: 3_000, connections: 2 }, asked),
    bulkRow({ index: 'bitset', items: 3_000 }, asked),
    bulkRow({ index: 'roaring-offering', items: 100_000 }, asked),
  ],
}
