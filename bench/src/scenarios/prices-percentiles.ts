import { bareContender } from '../contenders/bare.ts'
import type { Contender } from '../contenders/contender.ts'
import { serviceContender } from '../contenders/service.ts'
import { runRight } from '../load/common/run-right.ts'
import type { IndexName } from '../prices/searches.ts'
import { PINS } from '../processes.ts'
import type { Figures, TrialRow } from '../trial-row.ts'
import { BARE, withIndex } from './prices.ts'
import type { TrialsAsked, TrialScenario } from './scenario.ts'

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

const figuresOf = (requests: number, percentiles: readonly number[]): Figures => ({
  requests,
  ...Object.fromEntries(PERCENTILES.map((name, i) => [`p${name}`, percentiles[i]!])),
})

async function percentiles(
  contender: Contender,
  drawer: string,
  connections: number,
  asked: TrialsAsked,
): Promise<{ readonly figures: Figures; readonly perSecond: number }> {
  const running = await contender.start()
  try {
    const duration = Math.max(asked.duration, SHORTEST)
    const plan = { url: running.url, requests: { drawer }, expect: { status: 200 }, connections, duration }
    const result = await runRight({ ...plan, warmUp: asked.warmUp, percentiles: PERCENTILES, pin: PINS.client })
    const times = PERCENTILES.map((name) => result.percentiles![name]!)
    const figures = { ...figuresOf(result.requests, times), perSecond: result.perSecond }
    return { figures, perSecond: result.perSecond }
  } finally {
    await running.stop()
  }
}

function percentileRows(connections: number, asked: TrialsAsked): TrialRow[] {
  let bareRate = NaN
  const nameOf = (what: string) => `${what}, ${connections === 1 ? '1 connection' : `${connections} connections`}`
  const ofBare: TrialRow = {
    name: nameOf('bare node:http'),
    contender: 'bare node:http',
    async run() {
      const { figures, perSecond } = await percentiles(bareContender(BARE), 'prices-constant', connections, asked)
      bareRate = perSecond
      return figures
    },
  }
  const ofIndex = (index: IndexName, source?: Source): TrialRow => ({
    name: nameOf(index),
    contender: `prices,indexes=${index}`,
    async run() {
      const contender = serviceContender(withIndex(index))
      const { figures, perSecond } = await percentiles(contender, `prices-${index}`, connections, asked)
      return { ...figures, ratio: (perSecond / bareRate).toFixed(2) }
    },
    source: source && figuresOf(source[0], source.slice(1)),
  })
  return [
    ofBare,
    ofIndex('roaring-offering', SOURCE[`roaring ${connections}`]),
    ofIndex('bitset'),
    ofIndex('map', SOURCE[`map ${connections}`]),
  ]
}

export const percentileTable: TrialScenario = {
  service: 'prices',
  name: 'percentiles',
  title:
    'Single searches as in the tables of the source (us; theirs: Go, wrk for 30 s, two processors each for server and generator); random rows of the sample catalog, a closed loop of 10 s, a processor each',
  full: true,
  columns: {
    requests: 'requests',
    'source: requests': 'source: requests',
    perSecond: 'requests/s',
    ratio: 'of bare',
    ...Object.fromEntries(
      PERCENTILES.flatMap((name) => [
        [`p${name}`, `p${name}`],
        [`source: p${name}`, `source: p${name}`],
      ]),
    ),
  },
  trials: (asked) => [...percentileRows(1, asked), ...percentileRows(20, asked)],
}
