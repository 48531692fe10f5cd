import { createServerlessTarget, type BenchTarget } from '../targets/target.ts'
import { createKvTarget } from '../targets/kv.ts'
import { createNginxTarget } from '../targets/nginx.ts'
import { createCaddyTarget, etcd, goleveldb, createGoParserTarget, webdis } from '../targets/peers.ts'
import { PEER_BASE_ENTRIES, PEER_PROTOCOLS, getValue } from '../load/requests/kv-entries.ts'
import { SAMPLE } from '../load/requests/catalogs.ts'
import { runDuckdb } from '../prices/duckdb.ts'
import { runLookups } from '../prices/lookups.ts'
import { runSqlite } from '../prices/sqlite.ts'
import { PINS } from '../processes.ts'
import { formatWhole } from '../report/format-numbers.ts'
import { selectStreamColumns } from '../rounds/fleet-round.ts'
import { createRequestRound } from '../rounds/request-round.ts'
import type { BenchRow } from '../row.ts'
import { createSpec } from '../spec.ts'
import { RAW_VARIANTS } from './server-variants.ts'
import { createBaseRow, createRequests, type KvLoad } from './kv.ts'
import { BARE_REPLY, createBareRow, SHARED_SEARCH, workloads as prices } from './prices/prices.ts'
import { createProgramRows, FAN_OUT_SHAPE, shareFanOut, withPeers } from './sse.ts'
import { CONSTANT_REPLY, createConstantRow, read, shareRead } from './stats.ts'
import { toTables, type ServiceTable } from '../table.ts'

/** Pairs the row `own` with each other row. */
const pairWith = (own: string) => (names: readonly string[]) =>
  names.filter((name) => name !== own).map((name) => [own, name] as const)

const peers = { name: 'peers', when: 'peers' } as const

const stats: ServiceTable = {
  ...peers,
  title:
    'Reads of one collection of three videos, compared with servers that send the same reply from their configuration or a file, 16 connections, one serving thread',
  group: 'reads',
  steps: pairWith(RAW_VARIANTS.stats),
  rows: () =>
    [
      read(createSpec('stats', RAW_VARIANTS.stats)),
      createConstantRow(createNginxTarget(CONSTANT_REPLY.body, { cachesOpenFiles: true })),
      createConstantRow(createCaddyTarget(CONSTANT_REPLY)),
    ].map(shareRead),
}

const MAX_CONCURRENT_PUTS = 64

const toKvLoad = (method: KvLoad['method'], drawer?: string): KvLoad => ({
  method,
  entries: PEER_BASE_ENTRIES,
  connections: 64,
  ...(drawer && { drawer }),
})
const createKvRow = (name: string, method: KvLoad['method'], drawer?: string): BenchRow => ({
  ...createBaseRow(toKvLoad(method, drawer), createKvTarget(createSpec('kv'), PEER_BASE_ENTRIES)),
  name,
})

/** Creates rows of reads and writes of another store, which is filled with its own protocol. */
function createPeerRows(
  target: BenchTarget,
  protocol: keyof typeof PEER_PROTOCOLS,
  [get, put]: [string, string],
  putStatus = 200,
) {
  const putEntry = async (url: string, id: number): Promise<void> => {
    const [line, body] = PEER_PROTOCOLS[protocol].put(id, getValue(id))
    const [method, path] = line.split(' ') as [string, string]
    const { ok, status } = await fetch(url + path, { method, body })
    if (!ok) throw new Error(`${target.name} refused an entry with status ${status}`)
  }
  const createRow = (method: KvLoad['method'], drawer: string, status: number): BenchRow => ({
    name: `${method}, ${target.name}`,
    target,
    async prepare({ url }) {
      for (let id = 0; id < PEER_BASE_ENTRIES; id += MAX_CONCURRENT_PUTS) {
        const count = Math.min(MAX_CONCURRENT_PUTS, PEER_BASE_ENTRIES - id)
        await Promise.all(Array.from({ length: count }, (_, i) => putEntry(url, id + i)))
      }
    },
    ...createRequestRound({ ...createRequests(toKvLoad(method, drawer)), expect: { status } }),
  })
  return [createRow('GET', get, 200), createRow('PUT', put, putStatus)]
}

const kv: ServiceTable = {
  ...peers,
  title: `Random ids of ${formatWhole(PEER_BASE_ENTRIES)}, values of 100-200 bytes, 64 connections, one processor; answered writes survive the process, and with etcd and durable PUT also the machine`,
  // Pairs with our row of the same method and durability.
  steps: (names) =>
    names
      .filter((name) => name.includes(', '))
      .map((name) => [name.startsWith('GET') ? 'GET' : name.endsWith('etcd') ? 'durable PUT' : 'PUT', name]),
  rows: () => [
    createKvRow('GET', 'GET'),
    createKvRow('PUT', 'PUT'),
    createKvRow('durable PUT', 'PUT', 'kv-put-durable'),
    ...createPeerRows(goleveldb, 'goleveldb', [`kv-get-${PEER_BASE_ENTRIES}`, 'kv-put'], 201),
    ...createPeerRows(webdis, 'webdis', ['webdis-get', 'webdis-put']),
    ...createPeerRows(etcd, 'etcd', ['etcd-get', 'etcd-put']),
  ],
}

const sse: ServiceTable = {
  ...peers,
  title: 'Deliveries per second: 1,000 streams, 8 publishers that send as soon as they have their reply, one processor',
  columns: selectStreamColumns('cpu, deliveries, deliveryP50, deliveryP99, faults, memory, generator'),
  group: 'saturation',
  steps: pairWith('default'),
  rows: () => [...withPeers([], FAN_OUT_SHAPE).map(shareFanOut), ...createProgramRows(FAN_OUT_SHAPE)],
}

const searches: ServiceTable = {
  ...peers,
  title: 'One search per request, compared with servers that parse the same body and answer a constant, 20 connections',
  group: 'searches',
  steps: pairWith('search'),
  rows: () => [
    { ...prices.search(createSpec('prices')), name: 'search', sharedAs: SHARED_SEARCH },
    { ...createBareRow('bare node:http'), sharedAs: 'bare search' },
    { ...createBareRow('Go: net/http, body parsed'), target: createGoParserTarget(BARE_REPLY) },
  ],
}

const createLookupRow = (
  name: string,
  nanoseconds: (duration: number) => Promise<number>,
  needs: string[] = [],
): BenchRow => ({
  name,
  target: { ...createServerlessTarget(name), needs },
  round: async (_running, { duration }) => ({ ns: await nanoseconds(duration) }),
})
const SAMPLE_PLAN = { catalog: SAMPLE, pin: PINS.server }

const lookups: ServiceTable = {
  ...peers,
  name: 'peers-lookups',
  title:
    'Random complete searches of the sample catalog without HTTP, from the parsed request to the row; SQLite and, from Go, DuckDB in memory, one index over all conditions, a prepared statement',
  columns: {
    ns: { head: 'ns', format: formatWhole, of: 'spread', ratio: true, plot: 'A lookup (ns; less is better)' },
  },
  steps: pairWith('roaring-offering'),
  rows: () => [
    createLookupRow('roaring-offering', async (duration) => {
      const plan = { ...SAMPLE_PLAN, index: 'roaring-offering', cases: ['random'], storage: false, duration } as const
      return (await runLookups(plan)).cases.random!
    }),
    createLookupRow('SQLite', (duration) => runSqlite({ ...SAMPLE_PLAN, duration })),
    createLookupRow('DuckDB', (duration) => runDuckdb({ ...SAMPLE_PLAN, duration }), ['go', 'g++']),
  ],
}

export const tables = [
  ...toTables('stats', [stats]),
  ...toTables('kv', [kv]),
  ...toTables('sse', [sse]),
  ...toTables('prices', [searches, lookups]),
]
