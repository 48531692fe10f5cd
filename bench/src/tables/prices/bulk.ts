import { createServiceTarget } from '../../targets/service.ts'
import { runBulk } from '../../prices/bulk.ts'
import { SAMPLE } from '../../load/requests/catalogs.ts'
import type { IndexName } from '../../load/requests/searches.ts'
import { PINS } from '../../processes.ts'
import { formatHundredth, formatWhole } from '../../report/format-numbers.ts'
import type { BenchRow } from '../../row.ts'
import { createSpec, type Spec } from '../../spec.ts'
import { computeMedian } from '../../statistics.ts'
import type { ServiceTable } from '../../table.ts'

const MAX_REPEATED_ITEMS = 10_000

/** Creates a row of bulk requests with `items` random searches each. */
export function createBulkRow(
  index: IndexName,
  items: number,
  spec: Spec = createSpec('prices', '', { indexes: index }),
  connections = 1,
): BenchRow {
  const plan = { index, items, connections, catalog: SAMPLE, pin: PINS.client }
  const name = `${formatWhole(items)}, ${index}`
  return {
    name: connections > 1 ? `${name}, ${connections} connections` : name,
    target: createServiceTarget(spec),
    says: `${connections} connection that searches for ${formatWhole(items)} random prices per request`,
    async round({ url, pid }, how) {
      // A round has only one large request, because the cost of the first one would not be visible among several.
      const duration = items > MAX_REPEATED_ITEMS ? 0 : how.duration
      const result = await runBulk({ ...plan, url, pid, duration, warmUp: how.warmUp })
      const { milliseconds, requests, seconds, serverCpu, before, peak } = result
      const ms = computeMedian(milliseconds)
      const prices = connections === 1 ? (items / ms) * 1000 : (requests * items) / seconds
      return { ms, prices, cpu: (serverCpu * 1e6) / (requests * items), before, growth: peak - before }
    },
  }
}

export const tables: readonly ServiceTable[] = [
  {
    name: 'bulk',
    title:
      'Searches in one bulk request, random rows of the sample catalog, one serving thread. The time is that of the median request of a round, from the first byte sent to the last byte received, on one connection unless stated. The rate is that of the connection during its requests, or the total of several connections',
    when: 'always',
    columns: {
      ms: { head: 'ms/request', format: formatHundredth, of: 'spread' },
      prices: { head: 'prices/s', format: formatWhole, ratio: true },
      cpu: { head: 'CPU us/price', format: formatHundredth, ratio: true, plot: 'Server processor time per price (us)' },
      before: 'RSS before MB',
      growth: 'RSS growth MB',
    },
    steps: [['3,000, bitset', '3,000, roaring-offering']],
    rows: () => [
      createBulkRow('roaring-offering', 1_000),
      createBulkRow('roaring-offering', 3_000),
      createBulkRow('roaring-offering', 3_000, undefined, 2),
      createBulkRow('bitset', 3_000),
      createBulkRow('roaring-offering', 100_000),
    ],
  },
]
