import { variants } from '@influencer-stats/prices/variants'
import { createBareTarget, type ConstantReply } from '../../targets/bare.ts'
import type { TargetProcess } from '../../targets/target.ts'
import { createServiceTarget } from '../../targets/service.ts'
import { SAMPLE } from '../../load/requests/catalogs.ts'
import { ExpectedCatalog } from '../../load/requests/expected-catalog.ts'
import {
  INDEXES,
  createPriceCheck,
  getSearchPath,
  type IndexName,
  type OperatorName,
} from '../../load/requests/searches.ts'
import { createRequestRound, type RequestLoad } from '../../rounds/request-round.ts'
import type { BenchRow, RowMetrics } from '../../row.ts'
import { pricesSource } from '../../sources/prices.ts'
import { getSourceValues } from '../../sources/source-figures.ts'
import { formatLabel, createSpec, type Spec } from '../../spec.ts'
import { CONNECTIONS, NODE_HTTP_VARIANTS, RAW_VARIANTS } from '../server-variants.ts'
import { createBulkRow } from './bulk.ts'
import type { ServiceTable, Workload } from '../../table.ts'

/** Creates the spec of the service with one index. */
export const createIndexSpec = (index: IndexName) => createSpec('prices', '', { indexes: index })
/** Number of connections, as in the tables of the source. */
export const SOURCE_CONNECTIONS = 20

/**
 * Returns the default index of a variant: the first in its list.
 * @throws Error if the variant or the index does not exist
 */
export function getIndex({ variant, settings }: Spec): IndexName {
  const row = variants[(variant || RAW_VARIANTS.prices) as keyof typeof variants]
  if (!row) throw new Error(`prices has no variant ${variant}`)
  const [name] = settings.indexes?.split(',') ?? row.indexes
  if (!INDEXES.includes(name as IndexName)) throw new Error(`prices has no index ${name}`)
  return name as IndexName
}

/** Reply of bare servers: the same as the reply of the service, header by header. */
export const BARE_REPLY = {
  status: 200,
  headers: { 'x-request-id': 'abcdef-12345', 'content-type': 'application/json', 'content-length': '100' },
  body: '{"id":"99757a95-f758-499f-a170-bea93b2d8bcf","spec":"MRC","value":428692,"currency":"USD","of":"1"}'.padEnd(
    100,
  ),
} as const

let sampleCatalog: ExpectedCatalog | undefined

/** Checks that a service finds the right prices, and returns 404 for a search without a match. */
export const checkSearches =
  (index: IndexName) =>
  async ({ url }: TargetProcess): Promise<void> => {
    const expectedCatalog = (sampleCatalog ??= new ExpectedCatalog(SAMPLE))
    const find = async (body: string) => {
      const headers = { 'content-type': 'application/json' }
      const reply = await fetch(url + getSearchPath(index), { method: 'POST', headers, body })
      return { status: reply.status, body: Buffer.from(await reply.arrayBuffer()) }
    }
    for (const row of [0, 10, 42_799, 428_692, expectedCatalog.size - 1]) {
      const { status, body } = await find(expectedCatalog.buildBody(row))
      if (status !== 200 || !createPriceCheck(row, expectedCatalog.getSpec(row))(body))
        throw new Error(`the reply for row ${row} is ${body}`)
    }
    const { status } = await find(expectedCatalog.buildBody(0).replace('"12"', '"13"'))
    if (status !== 404) throw new Error(`the reply to a search without a match has status ${status}`)
  }

/** Creates a load of random searches. @param drawer name of the drawer of the requests */
export const createSearches = (drawer: string, connections: number): RequestLoad => ({
  says: `${connections} connections that search for random prices of the sample catalog`,
  requests: { drawer },
  expect: { status: 200 },
  connections,
})

const createWorkload =
  (connections: number, operator?: OperatorName): Workload =>
  (spec) => {
    const index = getIndex(spec)
    return {
      name: formatLabel(spec),
      target: createServiceTarget(spec),
      prepare: checkSearches(index),
      ...createRequestRound(createSearches(`prices-${operator ?? index}`, connections)),
    }
  }

/** Workloads for any variant; the first is the default. */
export const workloads = {
  search: createWorkload(SOURCE_CONNECTIONS),
  'search-1': createWorkload(1),
  not: createWorkload(SOURCE_CONNECTIONS, 'not'),
  in: createWorkload(SOURCE_CONNECTIONS, 'in'),
  between: createWorkload(SOURCE_CONNECTIONS, 'between'),
  bulk: (spec: Spec) => ({ ...createBulkRow(getIndex(spec), 3_000, spec), prepare: checkSearches(getIndex(spec)) }),
} satisfies Record<string, Workload>

export const createRow = (name: string, spec = createSpec('prices'), connections = SOURCE_CONNECTIONS): BenchRow => ({
  ...createWorkload(connections)(spec),
  name,
})

export const createBareRow = (
  name: string,
  connections = SOURCE_CONNECTIONS,
  bodyMode: ConstantReply['bodyMode'] = 'json',
): BenchRow => ({
  name,
  target: createBareTarget({ ...BARE_REPLY, bodyMode }),
  ...createRequestRound({
    ...createSearches('prices-constant', connections),
    expect: { status: 200, body: BARE_REPLY.body },
  }),
})

/** Requests per second of the source, from its percentile tables. */
const getSourceRate = (connections: string): RowMetrics => {
  const values = getSourceValues(pricesSource, 'prices/percentiles', `roaring-offering, ${connections}`)
  return { perSecond: values!.perSecond! }
}

/** Name of the usual searches, which a run measures once for all tables that contain them. */
export const SHARED_SEARCH = 'search, 20 connections'

const search: ServiceTable = {
  name: 'search',
  group: 'searches',
  title:
    "One search per request, random rows of the sample catalog, one serving thread, 20 connections unless stated. Bare: parses the same body and answers a constant. The source's: Go, two processors each for server and generator",
  when: 'always',
  steps: [
    ['search', 'bare node:http'],
    ['search, 1 connection', 'bare node:http, 1 connection'],
  ],
  rows: (specs) => [
    ...(specs.length > 0
      ? specs.map(workloads.search)
      : [{ ...createRow('search'), sharedAs: SHARED_SEARCH, source: getSourceRate('20 connections') }]),
    { ...createBareRow('bare node:http'), sharedAs: 'bare search' },
    ...(specs.length > 0
      ? []
      : [{ ...createRow('search, 1 connection', createSpec('prices'), 1), source: getSourceRate('1 connection') }]),
    createBareRow('bare node:http, 1 connection', 1),
  ],
}

const servers: ServiceTable = {
  name: 'servers',
  group: 'searches',
  title: 'The same with other parts, 20 connections',
  steps: ['bitset', 'roaring', 'Fastify (v4)', 'map'].map((name) => [name, 'roaring-offering'] as const),
  rows: () => [
    { ...createRow('roaring-offering'), sharedAs: SHARED_SEARCH },
    createRow('bitset', createIndexSpec('bitset')),
    createRow('roaring', createIndexSpec('roaring')),
    createRow('Fastify (v4)', createSpec('prices', 'v4')),
    createRow('map', createIndexSpec('map')),
  ],
}

const OPERATORS = ['not', 'in', 'between'] as const

const operators: ServiceTable = {
  name: 'operators',
  group: 'searches',
  title: 'The same with an operator instead of one of the five conditions, 20 connections',
  steps: OPERATORS.map((name) => [name, 'equals'] as const),
  rows: () => [
    { ...createRow('equals'), sharedAs: SHARED_SEARCH },
    ...OPERATORS.map((name) => ({ ...workloads[name](createSpec('prices')), name })),
  ],
}

const NODE_HTTP_SEARCH = `search (${NODE_HTTP_VARIANTS.prices})`
const [BODY_READ_ROW, BODY_PARSED_ROW] = ['bare node:http, body read', 'bare node:http, body parsed']

const serverTable: ServiceTable = {
  name: 'server-adapters',
  title: `One search per request, random rows of the sample catalog, by server adapter, ${CONNECTIONS} connections, one serving thread. Bare: reads the same body, or also parses it, and answers a constant`,
  steps: [BODY_READ_ROW, BODY_PARSED_ROW, NODE_HTTP_SEARCH].map((against) => ['search', against] as const),
  rows: () => [
    createRow('search', createSpec('prices', RAW_VARIANTS.prices), CONNECTIONS),
    createRow(NODE_HTTP_SEARCH, createSpec('prices', NODE_HTTP_VARIANTS.prices), CONNECTIONS),
    createBareRow(BODY_READ_ROW, CONNECTIONS, 'bytes'),
    createBareRow(BODY_PARSED_ROW, CONNECTIONS, 'json'),
  ],
}

export const tables: readonly ServiceTable[] = [search, servers, operators, serverTable]
