import { variants } from '@influencer-stats/prices/variants'
import { bareContender, type ConstantReply } from '../contenders/bare.ts'
import type { Running } from '../contenders/contender.ts'
import { serviceContender } from '../contenders/service.ts'
import { SAMPLE } from '../prices/catalogs.ts'
import { KnownCatalog } from '../prices/known-catalog.ts'
import { INDEXES, isPriceOf, searchPath, type IndexName, type OperatorName } from '../prices/searches.ts'
import type { Row } from '../row.ts'
import type { Spec } from '../spec.ts'
import { RAW } from './doors.ts'
import type { Scenario } from './scenario.ts'

export const pricesSpec = (variant = '', settings: Spec['settings'] = {}): Spec => ({
  service: 'prices',
  variant,
  settings,
})
/** The service with one index. */
export const withIndex = (index: IndexName) => pricesSpec('', { indexes: index })

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
  takes: 'json',
} as const

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

export const searches = (name: string, asked: Spec, connections: number): Row => {
  const index = indexOf(asked)
  return {
    name,
    contender: serviceContender(asked),
    prepare: proveSearches(index),
    load: { requests: { drawer: `prices-${index}` }, expect: { status: 200 }, connections },
  }
}

export const bare = (name: string, connections: number, takes: ConstantReply['takes'] = 'json'): Row => ({
  name,
  contender: bareContender({ ...BARE, takes }),
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
    searches('search', pricesSpec(), 20),
    bare('bare node:http', 20),
    searches('search, 1 connection', pricesSpec(), 1),
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
    searches('roaring-offering', pricesSpec(), 20),
    searches('bitset', withIndex('bitset'), 20),
    searches('roaring', withIndex('roaring'), 20),
    searches('Fastify (v4)', pricesSpec('v4'), 20),
    searches('map', withIndex('map'), 20),
  ],
}

const withOperator = (name: OperatorName): Row => {
  const row = searches(name, pricesSpec(), 20)
  return { ...row, load: { ...row.load, requests: { drawer: `prices-${name}` } } }
}

const operators: Scenario = {
  service: 'prices',
  name: 'operators',
  title: 'The same with an operator in place of one of the five conditions, 20 connections',
  full: true,
  generator: 'raw',
  steps: [
    ['not', 'equals'],
    ['in', 'equals'],
    ['between', 'equals'],
  ],
  rows: async () => [
    searches('equals', pricesSpec(), 20),
    withOperator('not'),
    withOperator('in'),
    withOperator('between'),
  ],
}

export const scenarios: readonly Scenario[] = [search, servers, operators]
