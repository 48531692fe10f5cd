import { noServer, type Contender, type Running } from '../contenders/contender.ts'
import { kvContender } from '../contenders/kv.ts'
import { nchan, nchanAvailable, nginxAvailable, nginxContender } from '../contenders/nginx.ts'
import {
  caddy,
  caddyAvailable,
  etcd,
  etcdAvailable,
  goAvailable,
  goleveldb,
  goParses,
  webdis,
  webdisAvailable,
} from '../contenders/peers.ts'
import { serviceContender } from '../contenders/service.ts'
import { betterSse, fastifySse } from '../contenders/sse-peers.ts'
import { valueOf } from '../load/requests/kv-entries.ts'
import { DIALECT, type Dialect } from '../load/sse-fleet.ts'
import { SAMPLE } from '../prices/catalogs.ts'
import { runLookups } from '../prices/lookups.ts'
import { runSqlite } from '../prices/sqlite.ts'
import { PINS } from '../processes.ts'
import { whole } from '../report/numbers.ts'
import { streamColumns, streaming } from '../rounds/fleet.ts'
import { asking, REQUESTS } from '../rounds/requests.ts'
import type { Row } from '../row.ts'
import { specOf } from '../spec.ts'
import { RAW } from './doors.ts'
import { onBase, requestsOf } from './kv.ts'
import { BARE, bare, searching, works as prices } from './prices.ts'
import { CONSTANT, constant, read } from './stats.ts'
import type { Table } from './table.ts'

/** What is not installed here has no row. */
const where = <T>(isAvailable: () => boolean, rows: () => T[]): T[] => (isAvailable() ? rows() : [])
/** Ours against each that has a row. */
const against = (ours: string, rows: readonly Row[]) =>
  rows.filter(({ name }) => name !== ours).map(({ name }) => [ours, name] as const)

const peersOf = (service: string, title: string, ours: string, rows: () => Row[], columns = REQUESTS): Table => ({
  service,
  name: 'peers',
  title,
  when: 'peers',
  columns,
  get steps() {
    return against(ours, rows())
  },
  rows,
})

// kv

const ENTRIES = 10_000
const AT_ONCE = 64

/** How entries are written and read elsewhere; a read's answer is the value, or has it in it. */
interface Manner {
  readonly name: string
  readonly contender: Contender
  /** Drawers of `kv-entries.ts`: they know a reply. */
  readonly drawers: { readonly get: string; readonly put: string }
  readonly putStatus?: number
  put(url: string, id: number, value: string): Promise<Response>
}

const body = (url: string, method: string, value: string) => fetch(url, { method, body: value })
const base64 = (text: string | number) => Buffer.from(String(text)).toString('base64')

function rowsOf({ name, contender, drawers, putStatus = 200, put }: Manner): Row[] {
  async function prepare({ url }: Running): Promise<void> {
    for (let made = 0; made < ENTRIES; made += AT_ONCE) {
      const ids = Array.from({ length: Math.min(AT_ONCE, ENTRIES - made) }, (_, i) => made + i)
      const replies = await Promise.all(ids.map((id) => put(url, id, valueOf(id))))
      const wrong = replies.find(({ ok }) => !ok)
      if (wrong) throw new Error(`${name} answered ${wrong.status} to what it should keep`)
    }
  }
  const row = (method: 'GET' | 'PUT', drawer: string, status: number): Row => ({
    name: `${method}, ${name}`,
    contender,
    prepare,
    ...asking({ ...requestsOf({ method, entries: ENTRIES, connections: 64, drawer }), expect: { status } }),
  })
  return [row('GET', drawers.get, 200), row('PUT', drawers.put, putStatus)]
}

const manners: Readonly<Record<string, Manner>> = {
  go: {
    name: goleveldb.name,
    contender: goleveldb,
    drawers: { get: `kv-get-${ENTRIES}`, put: 'kv-put' },
    putStatus: 201,
    put: (url, id, value) => body(`${url}/v0/entity?id=${id}`, 'PUT', value),
  },
  webdis: {
    name: webdis.name,
    contender: webdis,
    drawers: { get: 'webdis-get', put: 'webdis-put' },
    put: (url, id, value) => body(`${url}/SET/${id}`, 'PUT', value),
  },
  etcd: {
    name: etcd.name,
    contender: etcd,
    drawers: { get: 'etcd-get', put: 'etcd-put' },
    put: (url, id, value) =>
      body(`${url}/v3/kv/put`, 'POST', JSON.stringify({ key: base64(id), value: base64(value) })),
  },
}

const kvRows = (): Row[] => {
  const kv = specOf('kv')
  const ours = (['GET', 'PUT'] as const).map((method) => {
    return onBase({ method, entries: ENTRIES, connections: 64 }, kvContender(kv, ENTRIES))
  })
  const durable = onBase(
    { method: 'PUT', entries: ENTRIES, connections: 64, drawer: 'kv-put-durable' },
    kvContender(kv, ENTRIES),
  )
  return [
    ...ours,
    { ...durable, name: 'durable PUT' },
    ...where(goAvailable, () => rowsOf(manners.go!)),
    ...where(webdisAvailable, () => rowsOf(manners.webdis!)),
    ...where(etcdAvailable, () => rowsOf(manners.etcd!)),
  ]
}

/** Ours of the same method and durability. */
const kvSteps = (rows: readonly Row[]) =>
  rows
    .filter(({ name }) => name.includes(', '))
    .map(({ name }) => {
      const ours = name.startsWith('GET') ? 'GET' : name.endsWith('etcd') ? 'durable PUT' : 'PUT'
      return [ours, name] as const
    })

// sse

const NCHAN: Dialect = {
  ...DIALECT,
  put: '/put',
  method: 'POST',
  body: '{value}',
  echoes: false,
  closeAll: '/put',
  closeMethod: 'DELETE',
}

const sseRows = (): Row[] => {
  const fleet = { streams: 1000, spacing: 0, sending: 'saturate', publishers: 8 } as const
  const row = (contender: Contender, dialect = DIALECT, name = contender.name): Row => {
    return { name, contender, ...streaming({ ...fleet, dialect }, '1,000 streams') }
  }
  return [
    row(serviceContender(specOf('sse')), DIALECT, 'default'),
    row(betterSse, { ...DIALECT, around: ['"', '"'] }),
    row(fastifySse),
    ...where(nchanAvailable, () => [row(nchan, NCHAN)]),
  ]
}

// prices

const looks: readonly Row[] = [
  {
    name: 'roaring-offering',
    contender: noServer('roaring-offering'),
    async round(_running, { duration }) {
      const plan = { index: 'roaring-offering', catalog: SAMPLE, cases: ['random'], storage: false } as const
      return { ns: (await runLookups({ ...plan, duration, pin: PINS.server })).cases.random! }
    },
  },
  {
    name: 'SQLite',
    contender: noServer('node:sqlite'),
    round: async (_running, { duration }) => ({
      ns: await runSqlite({ catalog: SAMPLE, duration, pin: PINS.server }),
    }),
  },
]

export const tables: readonly Table[] = [
  peersOf(
    'stats',
    'Reads of one collection of three videos beside servers that give the same reply from their configuration or a file, 16 connections, one serving thread',
    RAW.stats,
    () => [
      read(specOf('stats', RAW.stats)),
      ...where(nginxAvailable, () => [constant(nginxContender(CONSTANT.body, { keepsOpen: true }))]),
      ...where(caddyAvailable, () => [constant(caddy(CONSTANT))]),
    ],
  ),
  {
    ...peersOf(
      'kv',
      `Random ids of ${whole(ENTRIES)}, values of 100-200 bytes, 64 connections, one processor; what is answered survives the process, and with etcd and durable PUT the machine`,
      'GET',
      kvRows,
    ),
    get steps() {
      return kvSteps(kvRows())
    },
  },
  peersOf(
    'sse',
    'Deliveries a second: 1,000 streams, 8 publishers that send as soon as they have their reply, one processor',
    'default',
    sseRows,
    streamColumns('cpu, deliveries, deliveryP50, deliveryP99, faults, memory, generator'),
  ),
  peersOf(
    'prices',
    'One search a request beside servers that parse the same body and answer a constant, 20 connections',
    'search',
    () => [
      { ...prices.search(specOf('prices')), name: 'search' },
      bare('bare node:http'),
      ...where(goAvailable, () => [
        {
          name: 'Go: net/http, body parsed',
          contender: goParses(BARE),
          ...asking({ ...searching('prices-constant', 20), expect: { status: 200, body: BARE.body } }),
        },
      ]),
    ],
  ),
  {
    ...peersOf(
      'prices',
      'Random complete searches of the sample catalog without HTTP, from the parsed request to the row; SQLite in memory, one index over all conditions, a prepared statement',
      'roaring-offering',
      () => [...looks],
      {
        ns: { head: 'ns', format: whole, of: 'spread', ratio: true, plot: 'A look-up (ns; less is better)' },
      },
    ),
    name: 'peers-lookups',
  },
]
