import { variants } from '@influencer-stats/prices/variants'
import { bareContender } from '../contenders/bare.ts'
import type { Contender, Running } from '../contenders/contender.ts'
import { serviceContender } from '../contenders/service.ts'
import { createRaw } from '../load/raw.ts'
import { runBulk } from '../prices/bulk.ts'
import { SAMPLE } from '../prices/catalogs.ts'
import { KnownCatalog } from '../prices/known-catalog.ts'
import { INDEXES, isPriceOf, searchPath, type IndexName } from '../prices/searches.ts'
import { PINS } from '../processes.ts'
import type { Row } from '../row.ts'
import type { Spec } from '../spec.ts'
import { spread } from '../statistics.ts'
import type { Figures, TrialRow } from '../trial-row.ts'
import type { Scenario, TrialsAsked, TrialScenario } from './scenario.ts'

const DEFAULT_VARIANT = 'v6'

const spec = (variant = '', settings: Spec['settings'] = {}): Spec => ({ service: 'prices', variant, settings })
const withIndex = (index: IndexName) => spec('', { indexes: index })

/** The index that a service answers from: the first it was told to build. @throws Error when there is no such variant */
export function indexOf({ variant, settings }: Spec): IndexName {
  const row = variants[(variant || DEFAULT_VARIANT) as keyof typeof variants]
  if (!row) throw new Error(`prices has no variant ${variant}`)
  const [name] = settings.indexes?.split(',') ?? row.indexes
  if (!INDEXES.includes(name as IndexName)) throw new Error(`prices has no index ${name}`)
  return name as IndexName
}

/** The same reply as the service's, header by header, to a request whose body is parsed. */
const BARE = {
  status: 200,
  headers: { 'x-request-id': 'abcdef-12345', 'content-type': 'application/json', 'content-length': '100' },
  body: '{"id":"99757a95-f758-499f-a170-bea93b2d8bcf","spec":"MRC","value":428692,"currency":"USD","of":"1"}'.padEnd(
    100,
  ),
  parses: true,
}

/** Proves that a service finds what it should, and names what it should not find. */
export const proveSearches =
  (index: IndexName) =>
  async ({ url }: Running): Promise<void> => {
    const known = new KnownCatalog(SAMPLE)
    const ask = async (body: string) => {
      const headers = { 'content-type': 'application/json' }
      const reply = await fetch(url + searchPath(index), { method: 'POST', headers, body })
      return { status: reply.status, body: Buffer.from(await reply.arrayBuffer()) }
    }
    for (const row of [0, 10, 42_799, 428_692, known.size - 1]) {
      const { status, body } = await ask(known.bodyOf(row))
      if (status !== 200 || !isPriceOf(row, known.specOf(row))(body)) throw new Error(`row ${row} was answered ${body}`)
    }
    const { status } = await ask(known.bodyOf(0).replace('"12"', '"13"'))
    if (status !== 404) throw new Error(`what no price has was answered ${status}`)
  }

const searches = (name: string, asked: Spec, connections: number): Row => {
  const index = indexOf(asked)
  return {
    name,
    contender: serviceContender(asked),
    prepare: proveSearches(index),
    load: { requests: { drawer: `prices-${index}` }, expect: { status: 200 }, connections },
  }
}

const bare = (name: string, connections: number): Row => ({
  name,
  contender: bareContender(BARE),
  prepare: async () => {},
  load: { requests: { drawer: 'prices-constant' }, expect: { status: 200, body: BARE.body }, connections },
})

const search: Scenario = {
  service: 'prices',
  name: 'search',
  title:
    'One search a request, random rows of the sample catalog, one serving thread, 20 connections unless told; bare: parses the same body and answers a constant',
  full: false,
  generator: 'raw',
  steps: [
    ['search', 'bare node:http'],
    ['search, 1 connection', 'bare node:http, 1 connection'],
  ],
  row: (asked) => searches(asked.variant || 'default', asked, 20),
  rows: async () => [
    searches('search', spec(), 20),
    bare('bare node:http', 20),
    searches('search, 1 connection', spec(), 1),
    bare('bare node:http, 1 connection', 1),
  ],
}

const servers: Scenario = {
  service: 'prices',
  name: 'servers',
  title: 'The same with other parts, 20 connections',
  full: true,
  generator: 'raw',
  steps: [
    ['bitset', 'roaring-offering'],
    ['roaring', 'roaring-offering'],
    ['Fastify (v4)', 'roaring-offering'],
    ['map', 'roaring-offering'],
  ],
  rows: async () => [
    searches('roaring-offering', spec(), 20),
    searches('bitset', withIndex('bitset'), 20),
    searches('roaring', withIndex('roaring'), 20),
    searches('Fastify (v4)', spec('v4'), 20),
    searches('map', withIndex('map'), 20),
  ],
}

export const scenarios: readonly Scenario[] = [search, servers]

// As the source's tables of percentiles: a closed loop for as long as it takes to see one of 100,000.

const raw = createRaw()
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
    const result = await raw.run({ ...plan, warmUp: asked.warmUp, percentiles: PERCENTILES, pin: PINS.client })
    if (result.wrong + result.errors > 0) throw new Error(`${result.wrong} wrong replies, ${result.errors} missing`)
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

const high: TrialScenario = {
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

// Bulk.

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

const bulk: TrialScenario = {
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

export const requestScenarios: readonly TrialScenario[] = [high, bulk]
