import { createServerlessTarget } from '../../targets/target.ts'
import { SAMPLE } from '../../load/requests/catalogs.ts'
import type { CaseName } from '../../prices/lookup-cases.ts'
import { runLookups } from '../../prices/lookups.ts'
import { runRoundTrips } from '../../prices/round-trips.ts'
import { INDEXES, type IndexName } from '../../load/requests/searches.ts'
import { PINS } from '../../processes.ts'
import { getMetric, type Column } from '../../report/columns.ts'
import { formatWhole } from '../../report/format-numbers.ts'
import type { RowMetrics, BenchRow, RowResult } from '../../row.ts'
import type { ServiceTable } from '../../table.ts'

/** The measured lookups, and the duration of each as a share of the round. The slowest lookup takes 0.4 ms. */
const CASES = ['random', 'row10', 'row42799', 'row428692', 'several', 'parsed', 'scanned'] as const
const CASE_SHARE = 1 / 5
/** The same share for a search over HTTP, which takes a hundred times as long as a lookup. */
const ROUND_TRIP_SHARE = 1 / 2

async function runCases(index: IndexName, cases: readonly CaseName[], duration: number) {
  const plan = { index, catalog: SAMPLE, cases, duration: duration * CASE_SHARE, storage: false, pin: PINS.server }
  return (await runLookups(plan)).cases
}

const formatTimes = (more: number | undefined, less: number | undefined) =>
  more === undefined || less === undefined ? undefined : `${(more / less).toFixed(1)}x`

const createColumn = (head: string, more: Partial<Column> = {}): Column => ({
  head,
  format: formatWhole,
  of: 'spread',
  ...more,
})

const lookups: ServiceTable = {
  name: 'lookups',
  title:
    'Lookups in the sample catalog without HTTP (ns), with strings fresh from JSON.parse, including dictionaries: median, fastest and slowest round, each in a separate process',
  when: 'always',
  columns: {
    random: createColumn('random, all conditions', { plot: 'A lookup of a random row (ns; less is better)' }),
    faster: {
      head: 'faster than `map`',
      derive(row, all) {
        const mapRow = all.find(({ name }) => name === 'map')!
        return formatTimes(getMetric(mapRow, 'random'), getMetric(row, 'random'))
      },
    },
    row10: createColumn('row 10'),
    row42799: createColumn('row 42,799'),
    row428692: createColumn('row 428,692'),
    several: createColumn('two conditions omitted, several found'),
    parsed: createColumn('JSON.parse + search + render'),
    scanned: createColumn('scanner + search + render'),
  },
  rows: () =>
    INDEXES.map((index) => ({
      name: index,
      target: createServerlessTarget(index),
      round: async (_running, { duration }) => (await runCases(index, CASES, duration)) as Record<string, number>,
    })),
}

// The rows of the source: nanoseconds of its bitmaps and its maps, on its machine.

/** A row of the source, and our index to compare with. */
interface SourceRow {
  readonly name: string
  readonly index: IndexName
  /** Nanoseconds of the source; absent for an index that the source does not have. */
  readonly ns?: number
  /** Nanoseconds of the map of the source in the same row. */
  readonly ofMap: number
  /** True if the search goes over HTTP, with client and server in one thread. */
  readonly http?: boolean
}

const SOURCE_ROWS: readonly SourceRow[] = [
  { name: 'FindPrice', index: 'map', ns: 233_692, ofMap: 233_692 },
  { name: 'FindPrice', index: 'roaring', ns: 8_466, ofMap: 233_692 },
  { name: 'FindPrice_MapOptimized_3824_of_9700', index: 'map-first-match', ns: 75_852, ofMap: 75_852 },
  { name: 'FindPrice_MapOptimized_3824_of_9700', index: 'roaring', ns: 8_466, ofMap: 75_852 },
  { name: 'FindPrice_BitmapAndMapOptimized', index: 'roaring-offering', ns: 3_047, ofMap: 75_852 },
  { name: 'FindPrice_BitmapAndMapOptimized', index: 'bitset', ofMap: 75_852 },
  { name: 'FindPrice_HTTPClientServer', index: 'map', http: true, ns: 417_117, ofMap: 417_117 },
  { name: 'FindPrice_HTTPClientServer', index: 'roaring-offering', http: true, ns: 75_890, ofMap: 417_117 },
  { name: 'FindPrice_HTTPClientServer', index: 'bitset', http: true, ofMap: 417_117 },
]

/** Time that HTTP adds (ns), from the notes of the source; its table has other values. */
const getHttpNanoseconds = (index: IndexName) => (index === 'map' ? 143_759 : 77_020)

/** Finds the map row to compare with. As in the source, it is `MapOptimized` for `BitmapAndMapOptimized`. */
const findMapRow = ({ name }: RowResult, all: readonly RowResult[]) => {
  const kind = name.split(',')[0]!.replace('BitmapAndMapOptimized', 'MapOptimized_3824_of_9700')
  return all.find((other) => other.name.startsWith(`${kind}, map`))
}

const createSourceRow = ({ name, index, ns, ofMap, http }: SourceRow): BenchRow => ({
  name: `${name}, ${index}`,
  target: createServerlessTarget(index),
  async round(_running, { duration }): Promise<RowMetrics> {
    if (!http) return { ns: (await runCases(index, ['row3824'], duration)).row3824! }
    const plan = { index, catalog: SAMPLE, duration: duration * ROUND_TRIP_SHARE, pin: PINS.server }
    const taken = await runRoundTrips(plan)
    return { ns: taken, adds: taken - (await runCases(index, ['random'], duration)).random! }
  },
  ...(ns && { source: { ns, faster: formatTimes(ofMap, ns)!, ...(http && { adds: getHttpNanoseconds(index) }) } }),
})

const source: ServiceTable = {
  name: 'source',
  title:
    "The source's rows: one search, of row 3,824 of its offering (ns). HTTPClientServer: client and server in one thread, random rows",
  columns: {
    ns: { ...createColumn('ns'), better: 'less' },
    'source: ns': 'source: ns',
    faster: {
      head: 'faster than maps',
      derive: (row, all) => formatTimes(getMetric(findMapRow(row, all) ?? row, 'ns'), getMetric(row, 'ns')),
    },
    'source: faster': 'source: faster than maps',
    adds: { head: 'HTTP ns', format: formatWhole, better: 'less' },
    'source: adds': 'source: HTTP ns',
  },
  rows: () => SOURCE_ROWS.map(createSourceRow),
}

export const tables: readonly ServiceTable[] = [lookups, source]
