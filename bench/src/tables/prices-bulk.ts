import { serviceContender } from '../contenders/service.ts'
import { runBulk } from '../prices/bulk.ts'
import { SAMPLE } from '../prices/catalogs.ts'
import type { IndexName } from '../prices/searches.ts'
import { PINS } from '../processes.ts'
import { hundredth, whole } from '../report/numbers.ts'
import type { Row } from '../row.ts'
import { specOf, type Spec } from '../spec.ts'
import { median } from '../statistics.ts'
import type { OwnTable } from './table.ts'

const LARGE = 10_000

/** So many random searches in each request. */
export function bulk(
  index: IndexName,
  items: number,
  spec: Spec = specOf('prices', '', { indexes: index }),
  connections = 1,
): Row {
  const plan = { index, items, connections, catalog: SAMPLE, pin: PINS.client }
  const name = `${whole(items)}, ${index}`
  return {
    name: connections > 1 ? `${name}, ${connections} connections` : name,
    contender: serviceContender(spec),
    says: `${connections} connection that asks for ${whole(items)} random prices a request`,
    async round({ url, pid }, how) {
      // What one large request takes must not be hidden by a second one.
      const duration = items > LARGE ? 0 : how.duration
      const result = await runBulk({ ...plan, url, pid, duration, warmUp: how.warmUp })
      const { milliseconds, requests, seconds, serverCpu, before, peak } = result
      const ms = median(milliseconds)
      const prices = connections === 1 ? (items / ms) * 1000 : (requests * items) / seconds
      return { ms, prices, cpu: (serverCpu * 1e6) / (requests * items), before, growth: peak - before }
    },
  }
}

export const tables: readonly OwnTable[] = [
  {
    name: 'bulk',
    title:
      'Searches in one bulk request, random rows of the sample catalog, one serving thread: the median request of a round, from the first byte sent to the last one received; on one connection unless told, and what it does a second while it is asked; with several, what all get a second',
    when: 'always',
    columns: {
      ms: { head: 'ms a request', format: hundredth, of: 'spread' },
      prices: { head: 'prices/s', format: whole, ratio: true },
      cpu: { head: 'CPU us a price', format: hundredth, ratio: true, plot: 'Server processor time a price (us)' },
      before: 'RSS before MB',
      growth: 'RSS growth MB',
    },
    steps: [['3,000, bitset', '3,000, roaring-offering']],
    rows: () => [
      bulk('roaring-offering', 1_000),
      bulk('roaring-offering', 3_000),
      bulk('roaring-offering', 3_000, undefined, 2),
      bulk('bitset', 3_000),
      bulk('roaring-offering', 100_000),
    ],
  },
]
