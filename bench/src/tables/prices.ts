import { BLOCK_BYTES, BLOCK_ROWS } from '@influencer-stats/prices/core/answers'
import { variants } from '@influencer-stats/prices/variants'
import { bareContender, type ConstantReply } from '../contenders/bare.ts'
import type { Running } from '../contenders/contender.ts'
import { scriptContender } from '../contenders/script.ts'
import { serviceContender } from '../contenders/service.ts'
import { SAMPLE, sizeOf } from '../prices/catalogs.ts'
import { KnownCatalog } from '../prices/known-catalog.ts'
import { INDEXES, isPriceOf, searchPath, type IndexName, type OperatorName } from '../prices/searches.ts'
import { figureOf } from '../report/columns.ts'
import { tenth, whole } from '../report/numbers.ts'
import { ask, askAndWatch, asking, REQUESTS, shareOf, type Requests } from '../rounds/requests.ts'
import { ratioOf } from '../ratios.ts'
import type { Figures, Row, RowResult } from '../row.ts'
import { labelOf, specOf, type Spec } from '../spec.ts'
import { CONNECTIONS, NODE_HTTP, RAW } from './doors.ts'
import { bulk } from './prices-bulk.ts'
import type { Table, Work } from './table.ts'

const prices = (variant = '', settings: Spec['settings'] = {}) => specOf('prices', variant, settings)
/** The service with one index. */
const withIndex = (index: IndexName) => prices('', { indexes: index })
/** As the source had its tables. */
const MANY = 20

/** The index that a service answers from: the first it was told to build. @throws Error when there is no such variant */
export function indexOf({ variant, settings }: Spec): IndexName {
  const row = variants[(variant || RAW.prices) as keyof typeof variants]
  if (!row) throw new Error(`prices has no variant ${variant}`)
  const [name] = settings.indexes?.split(',') ?? row.indexes
  if (!INDEXES.includes(name as IndexName)) throw new Error(`prices has no index ${name}`)
  return name as IndexName
}

/** The same reply as the service's, header by header, to a request whose body is parsed. */
export const BARE = {
  status: 200,
  headers: { 'x-request-id': 'abcdef-12345', 'content-type': 'application/json', 'content-length': '100' },
  body: '{"id":"99757a95-f758-499f-a170-bea93b2d8bcf","spec":"MRC","value":428692,"currency":"USD","of":"1"}'.padEnd(
    100,
  ),
} as const

let sample: KnownCatalog | undefined

/** Proves that a service finds what it should, and names what it should not find. */
const proveSearches =
  (index: IndexName) =>
  async ({ url }: Running): Promise<void> => {
    const known = (sample ??= new KnownCatalog(SAMPLE))
    const find = async (body: string) => {
      const headers = { 'content-type': 'application/json' }
      const reply = await fetch(url + searchPath(index), { method: 'POST', headers, body })
      return { status: reply.status, body: Buffer.from(await reply.arrayBuffer()) }
    }
    for (const row of [0, 10, 42_799, 428_692, known.size - 1]) {
      const { status, body } = await find(known.bodyOf(row))
      if (status !== 200 || !isPriceOf(row, known.specOf(row))(body)) throw new Error(`row ${row} was answered ${body}`)
    }
    const { status } = await find(known.bodyOf(0).replace('"12"', '"13"'))
    if (status !== 404) throw new Error(`what no price has was answered ${status}`)
  }

/** Searches over some connections, drawn as told. */
export const searching = (drawer: string, connections: number): Requests => ({
  says: `${connections} connections that search for random prices of the sample catalog`,
  requests: { drawer },
  expect: { status: 200 },
  connections,
})

const work =
  (connections: number, operator?: OperatorName): Work =>
  (spec) => {
    const index = indexOf(spec)
    return {
      name: labelOf(spec),
      contender: serviceContender(spec),
      prepare: proveSearches(index),
      ...asking(searching(`prices-${operator ?? index}`, connections)),
    }
  }

/** What any variant can be measured at; the first is what is meant where none is named. */
export const works = {
  search: work(MANY),
  'search-1': work(1),
  not: work(MANY, 'not'),
  in: work(MANY, 'in'),
  between: work(MANY, 'between'),
  bulk: (spec: Spec) => ({ ...bulk(indexOf(spec), 3_000, spec), prepare: proveSearches(indexOf(spec)) }),
} satisfies Record<string, Work>

const row = (name: string, spec = prices(), connections = MANY): Row => ({ ...work(connections)(spec), name })

export const bare = (name: string, connections = MANY, takes: ConstantReply['takes'] = 'json'): Row => ({
  name,
  contender: bareContender({ ...BARE, takes }),
  ...asking({ ...searching('prices-constant', connections), expect: { status: 200, body: BARE.body } }),
})

/** Theirs: 30 s of wrk, a percentile's table; here as requests a second. */
const [THEIRS_1, THEIRS_20] = [{ perSecond: 785_931 / 30 }, { perSecond: 2_138_513 / 30 }]

const search: Table = {
  service: 'prices',
  name: 'search',
  title:
    "One search a request, random rows of the sample catalog, one serving thread, 20 connections unless told; bare: parses the same body and answers a constant; the source's: Go, two processors each for server and generator",
  when: 'always',
  columns: REQUESTS,
  steps: [
    ['search', 'bare node:http'],
    ['search, 1 connection', 'bare node:http, 1 connection'],
  ],
  rows: (specs) => [
    ...(specs.length > 0 ? specs.map(works.search) : [{ ...row('search'), source: THEIRS_20 }]),
    bare('bare node:http'),
    ...(specs.length > 0 ? [] : [{ ...row('search, 1 connection', prices(), 1), source: THEIRS_1 }]),
    bare('bare node:http, 1 connection', 1),
  ],
}

const servers: Table = {
  service: 'prices',
  name: 'servers',
  title: 'The same with other parts, 20 connections',
  when: 'full',
  columns: REQUESTS,
  steps: ['bitset', 'roaring', 'Fastify (v4)', 'map'].map((name) => [name, 'roaring-offering'] as const),
  rows: () => [
    row('roaring-offering'),
    row('bitset', withIndex('bitset')),
    row('roaring', withIndex('roaring')),
    row('Fastify (v4)', prices('v4')),
    row('map', withIndex('map')),
  ],
}

const OPERATORS = ['not', 'in', 'between'] as const

const operators: Table = {
  service: 'prices',
  name: 'operators',
  title: 'The same with an operator in place of one of the five conditions, 20 connections',
  when: 'full',
  columns: REQUESTS,
  steps: OPERATORS.map((name) => [name, 'equals'] as const),
  rows: () => [row('equals'), ...OPERATORS.map((name) => ({ ...works[name](prices()), name }))],
}

const FORMER = `search (${NODE_HTTP.prices})`
const [READS, PARSES] = ['bare node:http, body read', 'bare node:http, body parsed']

const door: Table = {
  service: 'prices',
  name: 'door',
  title: `One search a request, random rows of the sample catalog, by the door that answers, ${CONNECTIONS} connections, one serving thread; bare: reads the same body, or parses it, too, and answers a constant`,
  when: 'full',
  columns: REQUESTS,
  steps: [READS, PARSES, FORMER].map((against) => ['search', against] as const),
  rows: () => [
    row('search', prices(RAW.prices), CONNECTIONS),
    row(FORMER, prices(NODE_HTTP.prices), CONNECTIONS),
    bare(READS, CONNECTIONS, 'bytes'),
    bare(PARSES, CONNECTIONS, 'json'),
  ],
}

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

const percentiles: Table = {
  service: 'prices',
  name: 'percentiles',
  title:
    'Single searches as in the tables of the source (us; theirs: Go, wrk for 30 s, two processors each for server and generator); random rows of the sample catalog, a closed loop of 10 s, a processor each',
  when: 'full',
  mostRounds: 1,
  columns: {
    requests: 'requests',
    'source: requests': 'source: requests',
    perSecond: 'requests/s',
    'source: perSecond': 'source: requests/s',
    ratio: {
      head: 'of bare',
      derive: (result, all) => timesOf(result.name.replace(/^[^,]+/, 'bare node:http'), 'perSecond')(result, all),
    },
    generator: { head: 'generator CPU', format: shareOf },
    ...Object.fromEntries(
      PERCENTILES.flatMap((name) => [
        [`p${name}`, `p${name}`],
        [`source: p${name}`, `source: p${name}`],
      ]),
    ),
  },
  rows: () => [...percentileRows(1), ...percentileRows(MANY)],
}

// What HTTP costs beside work that reads memory.

/** Of memory before each reply; an offering's rows take the map 3.5, all of them 175. */
const MEGABYTES = [0, 1, 4, 16]

const reading = (megabytes: number): Row => ({
  name: `${megabytes} MB`,
  contender: scriptContender(`reading ${megabytes} MB`, './reading-server.ts', String(megabytes)),
  async round(running, { duration, warmUp }) {
    const requests = { requests: [{ method: 'GET', path: '/' }], expect: { status: 200, body: '0' }, connections: MANY }
    const readSoFar = async () => Number(await (await fetch(`${running.url}/read`)).text())
    await ask(running, requests, { duration: warmUp, warmUp: 0 })
    const before = await readSoFar()
    const { costs: cpu, perSecond, requests: done } = await askAndWatch(running, requests, { duration, warmUp: 0 })
    const took = (((await readSoFar()) - before) * 1e6) / done
    return { cpu, reading: took, rest: cpu - took, perSecond }
  },
})

const caches: Table = {
  service: 'prices',
  name: 'caches',
  title:
    'What HTTP costs beside work that reads memory: a bare node:http server that reads so much before each reply, 20 connections',
  when: 'full',
  columns: {
    cpu: { head: 'CPU us/request', of: 'spread', format: tenth },
    reading: 'of it reading',
    rest: { head: 'HTTP', plot: 'HTTP (us a request)', of: 'spread', format: tenth },
    perSecond: 'requests/s',
  },
  rows: () => MEGABYTES.map(reading),
}

// With part of the answers in memory, and with a limited heap.

const BLOCKS = Math.ceil(sizeOf(SAMPLE) / BLOCK_ROWS)
const SHARES = [0.1, 0.25, 0.5, 0.75, 1]
/** The old space of each thread's heap (MB); the serving one holds 17 between requests. */
const HEAPS = [64, 32]
const EVERYTHING = 'memory'

/** @param kept of the answers in memory (bytes) */
function limited(name: string, settings: Spec['settings'], kept = BLOCKS * BLOCK_BYTES, env = {}): Row {
  const requests = asking(searching('prices-roaring-offering', MANY))
  return {
    name,
    contender: { ...serviceContender(prices(), settings, { env }), name: `prices, ${name}` },
    async round(running, how) {
      return { kept: kept / 1e6, ...(await requests.round(running, { ...how, warmUp: how.duration })) }
    },
  }
}

const limits: Table = {
  service: 'prices',
  name: 'limits',
  title:
    'Random searches with part of the answers in memory, and with a limited heap: 20 connections, one serving thread (us)',
  when: 'full',
  columns: {
    kept: 'answers in memory MB',
    cpu: { head: 'CPU us/request', of: 'spread', format: tenth, plot: 'Server processor time a request (us)' },
    more: {
      head: 'more than with all in memory us',
      derive: (result, all) => {
        const whole_ = all.find(({ name }) => name === EVERYTHING)
        return whole_ && figureOf(result, 'cpu')! - figureOf(whole_, 'cpu')!
      },
    },
    perSecond: { head: 'requests/s', format: whole },
    p50: 'p50',
    p99: 'p99',
    max: 'max',
    memory: 'RSS MB',
  },
  rows: () => [
    limited(EVERYTHING, {}),
    ...SHARES.map((share) => {
      const kept = Math.ceil(BLOCKS * share) * BLOCK_BYTES
      const settings = { catalog: 'lru-level', cacheBytes: String(kept) }
      return limited(`lru-level, cache of ${Math.round(share * 100)} %`, settings, kept)
    }),
    ...HEAPS.map((heap) =>
      limited(`memory, heap of at most ${heap} MB`, {}, undefined, { NODE_OPTIONS: `--max-old-space-size=${heap}` }),
    ),
  ],
}

export const tables: readonly Table[] = [search, servers, operators, door, percentiles, caches, limits]
