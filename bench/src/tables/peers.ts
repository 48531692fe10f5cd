import { noServer, type Contender } from '../contenders/contender.ts'
import { kvContender } from '../contenders/kv.ts'
import { nchan, nginxContender } from '../contenders/nginx.ts'
import { caddy, centrifuge, etcd, goleveldb, goParses, webdis } from '../contenders/peers.ts'
import { DIALECT, type Dialect } from '../load/fleet/plan.ts'
import { ELSEWHERE, MANNERS, valueOf } from '../load/requests/kv-entries.ts'
import { SAMPLE } from '../prices/catalogs.ts'
import { runDuckdb } from '../prices/duckdb.ts'
import { runLookups } from '../prices/lookups.ts'
import { runSqlite } from '../prices/sqlite.ts'
import { PINS } from '../processes.ts'
import { whole } from '../report/numbers.ts'
import { streamColumns } from '../rounds/fleet.ts'
import { asking } from '../rounds/requests.ts'
import type { Row } from '../row.ts'
import { specOf } from '../spec.ts'
import { RAW } from './doors.ts'
import { onBase, requestsOf, type Kind } from './kv.ts'
import { BARE, bare, works as prices } from './prices.ts'
import { FAN_OUT, row, withPeers } from './sse.ts'
import { CONSTANT, constant, read } from './stats.ts'
import { belongTo, type OwnTable } from './table.ts'

/** Ours against each other row. */
const against = (ours: string) => (names: readonly string[]) =>
  names.filter((name) => name !== ours).map((name) => [ours, name] as const)

const peers = { name: 'peers', when: 'peers' } as const

const stats: OwnTable = {
  ...peers,
  title:
    'Reads of one collection of three videos beside servers that give the same reply from their configuration or a file, 16 connections, one serving thread',
  steps: against(RAW.stats),
  rows: () => [
    read(specOf('stats', RAW.stats)),
    constant(nginxContender(CONSTANT.body, { keepsOpen: true })),
    constant(caddy(CONSTANT)),
  ],
}

const AT_ONCE = 64

const kindOf = (method: Kind['method'], drawer?: string): Kind => ({
  method,
  entries: ELSEWHERE,
  connections: 64,
  ...(drawer && { drawer }),
})
const ours = (name: string, method: Kind['method'], drawer?: string): Row => ({
  ...onBase(kindOf(method, drawer), kvContender(specOf('kv'), ELSEWHERE)),
  name,
})

/** Reads and writes of another store, filled before in its own manner. */
function elsewhere(contender: Contender, manner: keyof typeof MANNERS, [get, put]: [string, string], putStatus = 200) {
  const ask = async (url: string, id: number): Promise<void> => {
    const [line, body] = MANNERS[manner].put(id, valueOf(id))
    const [method, path] = line.split(' ') as [string, string]
    const { ok, status } = await fetch(url + path, { method, body })
    if (!ok) throw new Error(`${contender.name} answered ${status} to what it should keep`)
  }
  const asked = (method: Kind['method'], drawer: string, status: number): Row => ({
    name: `${method}, ${contender.name}`,
    contender,
    async prepare({ url }) {
      for (let id = 0; id < ELSEWHERE; id += AT_ONCE) {
        const count = Math.min(AT_ONCE, ELSEWHERE - id)
        await Promise.all(Array.from({ length: count }, (_, i) => ask(url, id + i)))
      }
    },
    ...asking({ ...requestsOf(kindOf(method, drawer)), expect: { status } }),
  })
  return [asked('GET', get, 200), asked('PUT', put, putStatus)]
}

const kv: OwnTable = {
  ...peers,
  title: `Random ids of ${whole(ELSEWHERE)}, values of 100-200 bytes, 64 connections, one processor; what is answered survives the process, and with etcd and durable PUT the machine`,
  // Ours of the same method and durability.
  steps: (names) =>
    names
      .filter((name) => name.includes(', '))
      .map((name) => [name.startsWith('GET') ? 'GET' : name.endsWith('etcd') ? 'durable PUT' : 'PUT', name]),
  rows: () => [
    ours('GET', 'GET'),
    ours('PUT', 'PUT'),
    ours('durable PUT', 'PUT', 'kv-put-durable'),
    ...elsewhere(goleveldb, 'goleveldb', [`kv-get-${ELSEWHERE}`, 'kv-put'], 201),
    ...elsewhere(webdis, 'webdis', ['webdis-get', 'webdis-put']),
    ...elsewhere(etcd, 'etcd', ['etcd-get', 'etcd-put']),
  ],
}

const NCHAN: Dialect = {
  ...DIALECT,
  put: { method: 'POST', path: '/put', body: '{value}' },
  closeAll: { method: 'DELETE', path: '/put' },
  echoes: false,
}

const CENTRIFUGE: Dialect = {
  ...DIALECT,
  wait: { method: 'GET', path: `/wait?cf_connect=${encodeURIComponent('{"id":1,"connect":{}}')}` },
  echoes: false,
  around: ['{"push":{"channel":"all","pub":{"data":"', '"}}}'],
  greets: true,
}

const sse: OwnTable = {
  ...peers,
  title: 'Deliveries a second: 1,000 streams, 8 publishers that send as soon as they have their reply, one processor',
  columns: streamColumns('cpu, deliveries, deliveryP50, deliveryP99, faults, memory, generator'),
  steps: against('default'),
  rows: () => [
    ...withPeers([], FAN_OUT),
    row(nchan.name, nchan, FAN_OUT, NCHAN),
    row(centrifuge.name, centrifuge, FAN_OUT, CENTRIFUGE),
  ],
}

const searches: OwnTable = {
  ...peers,
  title: 'One search a request beside servers that parse the same body and answer a constant, 20 connections',
  steps: against('search'),
  rows: () => [
    { ...prices.search(specOf('prices')), name: 'search' },
    bare('bare node:http'),
    { ...bare('Go: net/http, body parsed'), contender: goParses(BARE) },
  ],
}

const look = (name: string, nanoseconds: (duration: number) => Promise<number>, needs: string[] = []): Row => ({
  name,
  contender: { ...noServer(name), needs },
  round: async (_running, { duration }) => ({ ns: await nanoseconds(duration) }),
})
const inSample = { catalog: SAMPLE, pin: PINS.server }

const looks: OwnTable = {
  ...peers,
  name: 'peers-lookups',
  title:
    'Random complete searches of the sample catalog without HTTP, from the parsed request to the row; SQLite and, from Go, DuckDB in memory, one index over all conditions, a prepared statement',
  columns: { ns: { head: 'ns', format: whole, of: 'spread', ratio: true, plot: 'A look-up (ns; less is better)' } },
  steps: against('roaring-offering'),
  rows: () => [
    look('roaring-offering', async (duration) => {
      const plan = { ...inSample, index: 'roaring-offering', cases: ['random'], storage: false, duration } as const
      return (await runLookups(plan)).cases.random!
    }),
    look('SQLite', (duration) => runSqlite({ ...inSample, duration })),
    look('DuckDB', (duration) => runDuckdb({ ...inSample, duration }), ['go', 'g++']),
  ],
}

export const tables = [
  ...belongTo('stats', [stats]),
  ...belongTo('kv', [kv]),
  ...belongTo('sse', [sse]),
  ...belongTo('prices', [searches, looks]),
]
