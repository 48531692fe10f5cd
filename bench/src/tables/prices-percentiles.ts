import type { IndexName } from '../prices/searches.ts'
import { ratioOf } from '../ratios.ts'
import { ask, shareOf } from '../rounds/requests.ts'
import type { Figures, Row, RowResult } from '../row.ts'
import { bare, MANY, row, searching, withIndex } from './prices.ts'
import type { OwnTable } from './table.ts'

// As the source's tables of percentiles: a closed loop for as long as it takes to see one of 100,000.

const PERCENTILES = [50, 90, 95, 97, 98, 99, 99.999] as const
const SHORTEST = 10

type Source = readonly [requests: number, ...percentiles: number[]]

/** The source's wrk ran 30 s on its own machine, server and generator on two processors each (us). */
const SOURCE: Readonly<Record<string, Source>> = {
  'roaring 1': [785_931, 34, 45, 52, 62, 76, 97, 7_170],
  'map 1': [70_829, 395, 541, 647, 747, 848, 1_077, 9_466],
  'roaring 20': [2_138_513, 270, 550, 635, 707, 781, 951, 20_000],
  'map 20': [176_831, 3_299, 6_668, 7_694, 8_354, 8_968, 10_087, 21_471],
}

const percentilesOf = (requests: number, times: readonly number[]): Figures => ({
  requests,
  ...Object.fromEntries(PERCENTILES.map((name, i) => [`p${name}`, times[i]!])),
})

/** How one row's figure is another's, where it can be told. */
const timesOf = (name: string, figure: string) => (result: RowResult, all: readonly RowResult[]) => {
  const other = all.find((one) => one.name === name)
  if (!other || other === result) return undefined
  const { median, limited } = ratioOf(result, other, figure)
  return limited ? 'the generator was the limit' : median.toFixed(2)
}

function percentileRows(connections: number): Row[] {
  const nameOf = (what: string) => `${what}, ${connections === 1 ? '1 connection' : `${connections} connections`}`
  const measured = (of: Row, drawer: string, source?: Source): Row => ({
    ...of,
    async round(running, { duration, warmUp }) {
      const way = { duration: Math.max(duration, SHORTEST), warmUp, percentiles: PERCENTILES }
      const result = await ask(running, searching(drawer, connections), way)
      const times = PERCENTILES.map((name) => result.percentiles![name]!)
      return { ...percentilesOf(result.requests, times), perSecond: result.perSecond, generator: result.cpu }
    },
    ...(source && { source: { ...percentilesOf(source[0], source.slice(1)), perSecond: source[0] / 30 } }),
  })
  const ofIndex = (index: IndexName, source?: Source) =>
    measured(row(nameOf(index), withIndex(index)), `prices-${index}`, source)
  return [
    measured(bare(nameOf('bare node:http')), 'prices-constant'),
    ofIndex('roaring-offering', SOURCE[`roaring ${connections}`]),
    ofIndex('bitset'),
    ofIndex('map', SOURCE[`map ${connections}`]),
  ]
}

const percentiles: OwnTable = {
  name: 'percentiles',
  title:
    'Single searches as in the tables of the source (us; theirs: Go, wrk for 30 s, two processors each for server and generator); random rows of the sample catalog, a closed loop of 10 s, a processor each',
  mostRounds: 1,
  columns: {
    // Ours take 10 s and theirs 30.
    requests: { head: 'requests', better: 'neither' },
    'source: requests': 'source: requests',
    perSecond: { head: 'requests/s', better: 'more' },
    'source: perSecond': 'source: requests/s',
    ratio: {
      head: 'of bare',
      derive: (result, all) => timesOf(result.name.replace(/^[^,]+/, 'bare node:http'), 'perSecond')(result, all),
    },
    generator: { head: 'generator CPU', format: shareOf },
    ...Object.fromEntries(
      PERCENTILES.flatMap((name) => [
        [`p${name}`, { head: `p${name}`, better: 'less' as const }],
        [`source: p${name}`, `source: p${name}`],
      ]),
    ),
  },
  rows: () => [...percentileRows(1), ...percentileRows(MANY)],
}

export const tables: readonly OwnTable[] = [percentiles]
