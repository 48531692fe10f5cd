import type { IndexName } from '../../load/requests/searches.ts'
import { getSourceValues } from '../../sources/source-figures.ts'
import { pricesSource } from '../../sources/prices.ts'
import { computeRatio } from '../../ratios.ts'
import { runLoad, formatShare } from '../../rounds/request-round.ts'
import type { RowMetrics, BenchRow, RowResult } from '../../row.ts'
import { formatConnections } from '../kv.ts'
import { createBareRow, SOURCE_CONNECTIONS, createRow, createSearches, createIndexSpec } from './prices.ts'
import type { ServiceTable } from '../../table.ts'

// Percentiles as in the tables of the source: of a closed loop that is long enough for the slowest of 100,000 requests.

const PERCENTILES = [50, 90, 95, 97, 98, 99, 99.999] as const
const MIN_DURATION_S = 10

const toPercentiles = (requests: number, times: readonly number[]): RowMetrics => ({
  requests,
  ...Object.fromEntries(PERCENTILES.map((name, i) => [`p${name}`, times[i]!])),
})

/** Creates a function that returns the ratio of a row's metric to the metric of the row `name`, if both have it. */
const createRatio = (name: string, metric: string) => (result: RowResult, all: readonly RowResult[]) => {
  const other = all.find((one) => one.name === name)
  if (!other || other === result) return undefined
  const { median, limited } = computeRatio(result, other, metric)
  return limited ? 'the generator was the limit' : median.toFixed(2)
}

function createPercentileRows(connections: number): BenchRow[] {
  const nameOf = (what: string) => `${what}, ${formatConnections(connections)}`
  const createMeasuredRow = (of: BenchRow, drawer: string): BenchRow => ({
    ...of,
    getCapacity: undefined,
    async round(running, { duration, warmUp }) {
      const timing = { duration: Math.max(duration, MIN_DURATION_S), warmUp, percentiles: PERCENTILES }
      const result = await runLoad(running, createSearches(drawer, connections), timing)
      const times = PERCENTILES.map((name) => result.percentiles![name]!)
      return { ...toPercentiles(result.requests, times), perSecond: result.perSecond, generator: result.cpu }
    },
    source: getSourceValues(pricesSource, 'prices/percentiles', of.name),
  })
  const createIndexRow = (index: IndexName) =>
    createMeasuredRow(createRow(nameOf(index), createIndexSpec(index)), `prices-${index}`)
  return [
    createMeasuredRow(createBareRow(nameOf('bare node:http')), 'prices-constant'),
    createIndexRow('roaring-offering'),
    createIndexRow('bitset'),
    createIndexRow('map'),
  ]
}

const percentiles: ServiceTable = {
  name: 'percentiles',
  title:
    'Single searches as in the tables of the source (us; source: Go, wrk for 30 s, two processors each for server and generator). Random rows of the sample catalog, a closed loop of 10 s, one processor each',
  maxRounds: 1,
  columns: {
    // The numbers are not comparable: this project's are of at least 10 s, the source's of 30 s.
    requests: { head: 'requests', better: 'neither' },
    'source: requests': 'source: requests',
    perSecond: { head: 'requests/s', better: 'more' },
    'source: perSecond': 'source: requests/s',
    ratio: {
      head: 'share of bare',
      derive: (result, all) => createRatio(result.name.replace(/^[^,]+/, 'bare node:http'), 'perSecond')(result, all),
    },
    generator: { head: 'generator CPU', format: formatShare },
    ...Object.fromEntries(
      PERCENTILES.flatMap((name) => [
        [`p${name}`, { head: `p${name}`, better: 'less' as const }],
        [`source: p${name}`, `source: p${name}`],
      ]),
    ),
  },
  rows: () => [...createPercentileRows(1), ...createPercentileRows(SOURCE_CONNECTIONS)],
}

export const tables: readonly ServiceTable[] = [percentiles]
