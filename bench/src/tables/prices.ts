import { variants } from '@influencer-stats/prices/variants'
import { bareContender, type ConstantReply } from '../contenders/bare.ts'
import type { Running } from '../contenders/contender.ts'
import { serviceContender } from '../contenders/service.ts'
import { SAMPLE } from '../prices/catalogs.ts'
import { KnownCatalog } from '../prices/known-catalog.ts'
import { INDEXES, isPriceOf, searchPath, type IndexName, type OperatorName } from '../prices/searches.ts'
import { asking, type Requests } from '../rounds/requests.ts'
import type { Row } from '../row.ts'
import { labelOf, specOf, type Spec } from '../spec.ts'
import { CONNECTIONS, NODE_HTTP, RAW } from './doors.ts'
import { bulk } from './prices-bulk.ts'
import type { OwnTable, Work } from './table.ts'

export const prices = (variant = '', settings: Spec['settings'] = {}) => specOf('prices', variant, settings)
/** The service with one index. */
export const withIndex = (index: IndexName) => prices('', { indexes: index })
/** As the source had its tables. */
export const MANY = 20

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
export const proveSearches =
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

export const row = (name: string, spec = prices(), connections = MANY): Row => ({ ...work(connections)(spec), name })

export const bare = (name: string, connections = MANY, takes: ConstantReply['takes'] = 'json'): Row => ({
  name,
  contender: bareContender({ ...BARE, takes }),
  ...asking({ ...searching('prices-constant', connections), expect: { status: 200, body: BARE.body } }),
})

/** Theirs: 30 s of wrk, a percentile's table; here as requests a second. */
const [THEIRS_1, THEIRS_20] = [{ perSecond: 785_931 / 30 }, { perSecond: 2_138_513 / 30 }]

const search: OwnTable = {
  name: 'search',
  title:
    "One search a request, random rows of the sample catalog, one serving thread, 20 connections unless told; bare: parses the same body and answers a constant; the source's: Go, two processors each for server and generator",
  when: 'always',
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

const servers: OwnTable = {
  name: 'servers',
  title: 'The same with other parts, 20 connections',
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

const operators: OwnTable = {
  name: 'operators',
  title: 'The same with an operator in place of one of the five conditions, 20 connections',
  steps: OPERATORS.map((name) => [name, 'equals'] as const),
  rows: () => [row('equals'), ...OPERATORS.map((name) => ({ ...works[name](prices()), name }))],
}

const FORMER = `search (${NODE_HTTP.prices})`
const [READS, PARSES] = ['bare node:http, body read', 'bare node:http, body parsed']

const door: OwnTable = {
  name: 'door',
  title: `One search a request, random rows of the sample catalog, by the door that answers, ${CONNECTIONS} connections, one serving thread; bare: reads the same body, or parses it, too, and answers a constant`,
  steps: [READS, PARSES, FORMER].map((against) => ['search', against] as const),
  rows: () => [
    row('search', prices(RAW.prices), CONNECTIONS),
    row(FORMER, prices(NODE_HTTP.prices), CONNECTIONS),
    bare(READS, CONNECTIONS, 'bytes'),
    bare(PARSES, CONNECTIONS, 'json'),
  ],
}

export const tables: readonly OwnTable[] = [search, servers, operators, door]
