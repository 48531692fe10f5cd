import { PINS } from '../processes.ts'
import { SAMPLE } from '../prices/catalogs.ts'
import { runLookups, type CaseName, type LookupsResult, type Nanoseconds } from '../prices/lookups.ts'
import { runRoundTrips } from '../prices/round-trips.ts'
import { INDEXES, type IndexName } from '../prices/searches.ts'
import type { Figures, TrialRow } from '../trial-row.ts'
import type { TrialsAsked, TrialScenario } from './scenario.ts'

const CASES: readonly CaseName[] = [
  'random',
  'row10',
  'row42799',
  'row428692',
  'row3824',
  'several',
  'parsed',
  'scanned',
]
/** Of a round's seconds: there are many cases, and a look-up of the slowest takes 0.4 ms. */
const SHARE = 1 / 15
const FEWEST_ROUNDS = 3

/** What was measured of each index in one run: two tables show it. */
const lookups = new WeakMap<TrialsAsked, Map<IndexName, Promise<LookupsResult>>>()

function lookupsOf(index: IndexName, asked: TrialsAsked): Promise<LookupsResult> {
  let ofRun = lookups.get(asked)
  if (!ofRun) lookups.set(asked, (ofRun = new Map()))
  let result = ofRun.get(index)
  if (!result) {
    const rounds = Math.max(asked.rounds, FEWEST_ROUNDS)
    const plan = { index, catalog: SAMPLE, cases: CASES, rounds, duration: asked.duration * SHARE, storage: false }
    ofRun.set(index, (result = runLookups({ ...plan, pin: PINS.server })))
  }
  return result
}

const whole = (value: number) => Math.round(value).toLocaleString('en-US')
const range = ({ median, min, max }: Nanoseconds) => `${whole(median)} (${whole(min)}-${whole(max)})`
const times = (more: number, less: number) => `${(more / less).toFixed(1)}x`

async function row(index: IndexName, asked: TrialsAsked): Promise<Figures> {
  const { cases } = await lookupsOf(index, asked)
  const map = (await lookupsOf('map', asked)).cases
  const figures = CASES.map((name) => [name, range(cases[name]!)])
  return { ...Object.fromEntries(figures), faster: times(map.random!.median, cases.random!.median) }
}

const table: TrialScenario = {
  service: 'prices',
  name: 'lookups',
  title:
    'Look-ups in the sample catalog without HTTP (ns), strings fresh from JSON.parse, dictionaries included: the median of rounds, the fastest and the slowest; each index in a process of its own',
  full: false,
  columns: {
    random: 'random, all conditions',
    faster: 'faster than `map`',
    row10: 'row 10',
    row42799: 'row 42,799',
    row428692: 'row 428,692',
    several: 'two conditions left out, several found',
    parsed: 'JSON.parse + search + render',
    scanned: 'scanner + search + render',
  },
  trials: (asked) => INDEXES.map((index) => ({ name: index, contender: index, run: () => row(index, asked) })),
}

// The source's own rows: nanoseconds of its bitmaps and its maps, on its machine.

interface SourceRow {
  readonly name: string
  readonly index: IndexName
  readonly http?: boolean
  /** Nanoseconds at the source; none for an index that it has not. */
  readonly source?: number
  /** And of its map in the same row. */
  readonly sourceMap: number
}

const ROWS: readonly SourceRow[] = [
  { name: 'FindPrice', index: 'map', source: 233_692, sourceMap: 233_692 },
  { name: 'FindPrice', index: 'roaring', source: 8_466, sourceMap: 233_692 },
  { name: 'FindPrice_MapOptimized_3824_of_9700', index: 'map-first-match', source: 75_852, sourceMap: 75_852 },
  { name: 'FindPrice_MapOptimized_3824_of_9700', index: 'roaring', source: 8_466, sourceMap: 75_852 },
  { name: 'FindPrice_BitmapAndMapOptimized', index: 'roaring-offering', source: 3_047, sourceMap: 75_852 },
  { name: 'FindPrice_BitmapAndMapOptimized', index: 'bitset', sourceMap: 75_852 },
  { name: 'FindPrice_HTTPClientServer', index: 'map', http: true, source: 417_117, sourceMap: 417_117 },
  { name: 'FindPrice_HTTPClientServer', index: 'roaring-offering', http: true, source: 75_890, sourceMap: 417_117 },
  { name: 'FindPrice_HTTPClientServer', index: 'bitset', http: true, sourceMap: 417_117 },
]

/** The first row of a name is that of a map: what the others are compared with. */
const mapOf = ({ name }: SourceRow) => ROWS.find((row) => row.name === name && row.index.startsWith('map'))

async function nanoseconds({ index, http }: SourceRow, asked: TrialsAsked, ofHttp: RoundTrips): Promise<Nanoseconds> {
  return http ? ofHttp(index) : (await lookupsOf(index, asked)).cases.row3824!
}

type RoundTrips = (index: IndexName) => Promise<Nanoseconds>

async function sourceFigures(row: SourceRow, asked: TrialsAsked, ofHttp: RoundTrips): Promise<Figures> {
  const own = await nanoseconds(row, asked, ofHttp)
  // The third of the source's rows has no map of its own: it is that of the second.
  const map = await nanoseconds(mapOf(row) ?? ROWS[2]!, asked, ofHttp)
  const search = (await lookupsOf(row.index, asked)).cases.random!.median
  return {
    ns: range(own),
    faster: times(map.median, own.median),
    ...(row.http && { adds: whole(own.median - search) }),
  }
}

function sourceTrial(row: SourceRow, asked: TrialsAsked, ofHttp: RoundTrips): TrialRow {
  const { name, index, source, sourceMap, http } = row
  const theirs = source && { ns: source, faster: times(sourceMap, source) }
  // As it says in its notes; its table differs from them.
  const adds = http && source && { adds: index === 'map' ? 143_759 : 77_020 }
  return {
    name: `${name}, ${index}`,
    contender: index,
    source: theirs ? { ...theirs, ...adds } : undefined,
    run: () => sourceFigures(row, asked, ofHttp),
  }
}

const source: TrialScenario = {
  service: 'prices',
  name: 'source',
  title:
    "The source's rows: one search, of row 3,824 of its offering (ns); HTTPClientServer with client and server in one thread, random rows",
  full: true,
  columns: {
    ns: 'ns',
    'source: ns': 'source: ns',
    faster: 'faster than maps',
    'source: faster': 'source: faster than maps',
    adds: 'of it HTTP ns',
    'source: adds': 'source: of it HTTP ns',
  },
  trials: (asked) => {
    const measured = new Map<IndexName, Promise<Nanoseconds>>()
    const ofHttp: RoundTrips = (index) => {
      let result = measured.get(index)
      if (!result) {
        const rounds = Math.max(asked.rounds, FEWEST_ROUNDS)
        const plan = { index, catalog: SAMPLE, rounds, duration: asked.duration / FEWEST_ROUNDS, pin: PINS.server }
        measured.set(index, (result = runRoundTrips(plan).then(({ roundTrip }) => roundTrip)))
      }
      return result
    }
    return ROWS.map((one) => sourceTrial(one, asked, ofHttp))
  },
}

export const lookupScenarios: readonly TrialScenario[] = [table, source]
