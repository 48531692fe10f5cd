import { noServer } from '../contenders/contender.ts'
import { SAMPLE } from '../prices/catalogs.ts'
import type { CaseName } from '../prices/lookup-cases.ts'
import { runLookups } from '../prices/lookups.ts'
import { runRoundTrips } from '../prices/round-trips.ts'
import { INDEXES, type IndexName } from '../prices/searches.ts'
import { PINS } from '../processes.ts'
import { figureOf, type Column } from '../report/columns.ts'
import { whole } from '../report/numbers.ts'
import type { Figures, Row, RowResult } from '../row.ts'
import type { OwnTable } from './table.ts'

/** What is looked up, and the share of a round's seconds that each gets: a look-up of the slowest takes 0.4 ms. */
const CASES = ['random', 'row10', 'row42799', 'row428692', 'several', 'parsed', 'scanned'] as const
const SHARE = 1 / 5
/** Of what HTTP costs alone: it takes a hundred times what a look-up does. */
const SHARE_OF_TRIPS = 1 / 2

async function look(index: IndexName, cases: readonly CaseName[], duration: number) {
  const plan = { index, catalog: SAMPLE, cases, duration: duration * SHARE, storage: false, pin: PINS.server }
  return (await runLookups(plan)).cases
}

const times = (more: number | undefined, less: number | undefined) =>
  more === undefined || less === undefined ? undefined : `${(more / less).toFixed(1)}x`

const nanoseconds = (head: string, more: Partial<Column> = {}): Column => ({
  head,
  format: whole,
  of: 'spread',
  ...more,
})

const lookups: OwnTable = {
  name: 'lookups',
  title:
    'Look-ups in the sample catalog without HTTP (ns), strings fresh from JSON.parse, dictionaries included: the median of rounds, the fastest and the slowest; each in a process of its own',
  when: 'always',
  columns: {
    random: nanoseconds('random, all conditions', { plot: 'A look-up of a random row (ns; less is better)' }),
    faster: {
      head: 'faster than `map`',
      derive: (row, all) =>
        times(
          figureOf(
            all.find(({ name }) => name === 'map')!,
            'random',
          ),
          figureOf(row, 'random'),
        ),
    },
    row10: nanoseconds('row 10'),
    row42799: nanoseconds('row 42,799'),
    row428692: nanoseconds('row 428,692'),
    several: nanoseconds('two conditions left out, several found'),
    parsed: nanoseconds('JSON.parse + search + render'),
    scanned: nanoseconds('scanner + search + render'),
  },
  rows: () =>
    INDEXES.map((index) => ({
      name: index,
      contender: noServer(index),
      round: async (_running, { duration }) => (await look(index, CASES, duration)) as Record<string, number>,
    })),
}

// The source's own rows: nanoseconds of its bitmaps and its maps, on its machine.

interface SourceRow {
  readonly name: string
  readonly index: IndexName
  /** Nanoseconds at the source; none for an index that it has not. */
  readonly ns?: number
  /** And of its map in the same row. */
  readonly ofMap: number
  /** With client and server in one thread. */
  readonly http?: boolean
}

const ROWS: readonly SourceRow[] = [
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

/** As it says in its notes; its table differs from them. */
const adds = (index: IndexName) => (index === 'map' ? 143_759 : 77_020)

/** The row of a map that another is compared with: the third of the source's has none of its own, it is that of the second. */
const mapOf = ({ name }: RowResult, all: readonly RowResult[]) => {
  const kind = name.split(',')[0]!.replace('BitmapAndMapOptimized', 'MapOptimized_3824_of_9700')
  return all.find((other) => other.name.startsWith(`${kind}, map`))
}

const sourceRow = ({ name, index, ns, ofMap, http }: SourceRow): Row => ({
  name: `${name}, ${index}`,
  contender: noServer(index),
  async round(_running, { duration }): Promise<Figures> {
    if (!http) return { ns: (await look(index, ['row3824'], duration)).row3824! }
    const plan = { index, catalog: SAMPLE, duration: duration * SHARE_OF_TRIPS, pin: PINS.server }
    const taken = await runRoundTrips(plan)
    return { ns: taken, adds: taken - (await look(index, ['random'], duration)).random! }
  },
  ...(ns && { source: { ns, faster: times(ofMap, ns)!, ...(http && { adds: adds(index) }) } }),
})

const source: OwnTable = {
  name: 'source',
  title:
    "The source's rows: one search, of row 3,824 of its offering (ns); HTTPClientServer with client and server in one thread, random rows",
  columns: {
    ns: { ...nanoseconds('ns'), better: 'less' },
    'source: ns': 'source: ns',
    faster: {
      head: 'faster than maps',
      derive: (row, all) => times(figureOf(mapOf(row, all) ?? row, 'ns'), figureOf(row, 'ns')),
    },
    'source: faster': 'source: faster than maps',
    adds: { head: 'of it HTTP ns', format: whole, better: 'less' },
    'source: adds': 'source: of it HTTP ns',
  },
  rows: () => ROWS.map(sourceRow),
}

export const tables: readonly OwnTable[] = [lookups, source]
