import { createBareTarget, putTarget } from '../targets/bare.ts'
import type { BenchTarget, TargetProcess } from '../targets/target.ts'
import { createNodeTarget, getOtherNodes } from '../targets/cluster.ts'
import { createKvTarget, createLevelTarget } from '../targets/kv.ts'
import { FULL_BASE_ENTRIES, SMALL_BASE_ENTRIES, getValue } from '../load/requests/kv-entries.ts'
import { createRequestRound } from '../rounds/request-round.ts'
import type { BenchRow } from '../row.ts'
import { createSpec, formatSpec, type Spec } from '../spec.ts'
import { BROWSER_HEADERS, CONNECTIONS, NODE_HTTP_VARIANTS, RAW_VARIANTS } from './server-variants.ts'
import type { ServiceTable, Workload } from '../table.ts'

// The same replies as the service sends, header by header.
const BARE_GET = {
  status: 200,
  headers: {
    'x-request-id': 'abcdef-12345',
    'content-type': 'application/octet-stream',
    'x-content-type-options': 'nosniff',
    etag: '"XWzQ3mAB"',
    'content-length': '150',
  },
  body: getValue(0).repeat(2).slice(0, 150),
}
const BARE_PUT = {
  status: 201,
  headers: { 'x-request-id': 'abcdef-12345', etag: '"XWzQ3mAB"', 'content-length': '0' },
  body: '',
}

async function requestEntity(url: string, id: string | number, body?: string): Promise<string> {
  const reply = await fetch(`${url}/v0/entity?id=${id}`, body === undefined ? {} : { method: 'PUT', body })
  if (!reply.ok) throw new Error(`the reply for id ${id} has status ${reply.status}`)
  return reply.text()
}

/** Checks some values of a base. */
export const checkReads =
  (entries: number) =>
  async ({ url }: TargetProcess): Promise<void> => {
    for (const id of [0, entries >> 1, entries - 1]) {
      if ((await requestEntity(url, id)) !== getValue(id)) throw new Error(`the value of ${id} is wrong`)
    }
  }

/** Checks that a put entity can be read. */
export async function checkWrites({ url }: TargetProcess): Promise<void> {
  await requestEntity(url, 'a', 'proof')
  if ((await requestEntity(url, 'a')) !== 'proof') throw new Error('a value that was put cannot be read')
}

export const formatConnections = (count: number) => (count === 1 ? '1 connection' : `${count} connections`)

const METHODS = {
  GET: { expect: { status: 200 }, says: 'get' },
  PUT: { expect: { status: 201 }, says: 'put' },
  // Also 202 if an earlier request deleted the entry.
  DELETE: { expect: { status: 202 }, says: 'delete' },
} as const

/** A load with random ids: it reads, deletes or writes entries of a base with the given number of entries. */
export interface KvLoad {
  readonly method: keyof typeof METHODS
  readonly entries: number
  readonly connections: number
  /** Name of the drawer of the requests, instead of the drawer of the method. */
  readonly drawer?: string
}

const getDrawer = ({ method, entries, drawer }: KvLoad) =>
  drawer ?? (method === 'PUT' ? 'kv-put' : `kv-${method.toLowerCase()}-${entries}`)

/** Creates the requests of a load. */
export const createRequests = (kind: KvLoad, headers?: Readonly<Record<string, string>>) => ({
  says: `${formatConnections(kind.connections)} that ${METHODS[kind.method].says} random entities of ${kind.entries.toLocaleString('en-US')}`,
  requests: { drawer: getDrawer(kind), headers },
  expect: METHODS[kind.method].expect,
  connections: kind.connections,
})

/** Creates a row of kv with its own base. */
export const createBaseRow = (kind: KvLoad, target: BenchTarget): BenchRow => ({
  name: kind.method,
  target,
  prepare: kind.method === 'PUT' ? checkWrites : checkReads(kind.entries),
  ...createRequestRound(createRequests(kind)),
})

const get = { method: 'GET', entries: FULL_BASE_ENTRIES } as const
const put = { method: 'PUT', entries: FULL_BASE_ENTRIES } as const

const createWorkload =
  (kind: KvLoad): Workload =>
  (spec) =>
    createBaseRow(kind, createKvTarget(spec, kind.entries))

/** Sequential puts with `Prefer: respond-async`, whose replies come before the write. */
const early: Workload = (spec) => ({
  ...createWorkload({ ...put, connections: 1 })(spec),
  ...createRequestRound({
    ...createRequests({ ...put, connections: 1 }, { prefer: 'respond-async' }),
    expect: { status: 202 },
  }),
})

const NODE_LOAD: KvLoad = { method: 'PUT', entries: 0, connections: 64 }

/** Write load on one node of three. */
const writing: Workload = (spec) => ({
  ...createBaseRow(NODE_LOAD, createNodeTarget(spec)),
  says: `${formatConnections(NODE_LOAD.connections)} that put random entities into the log of three nodes`,
})

/** The same load on the other two nodes. The measured node only applies the writes. */
const applying: Workload = (spec) => {
  const { round, ...row } = writing(spec)
  return {
    ...row,
    says: `${formatConnections(NODE_LOAD.connections)} that put entities through the other nodes`,
    async prepare(running) {
      await requestEntity((await getOtherNodes()).url, 'b', 'proof')
      const read = await requestEntity(running.url, 'b&linearizable=true')
      if (read !== 'proof') throw new Error('an entity that was put through another node is missing')
    },
    async round(running, how) {
      const { url, others } = await getOtherNodes()
      return round({ ...running, url, others }, how)
    },
  }
}

/** Workloads for any variant; the first is the default. */
export const workloads = {
  'put-full': createWorkload({ ...put, connections: 64 }),
  'get-full': createWorkload({ ...get, connections: 64 }),
  'put-durable': createWorkload({ ...put, connections: 64, drawer: 'kv-put-durable' }),
  'put-bytes': createWorkload({ ...put, connections: 64, drawer: 'kv-put-bytes' }),
  'put-empty': createWorkload({ ...put, entries: 0, connections: 64 }),
  'get-small': createWorkload({ ...get, entries: SMALL_BASE_ENTRIES, connections: 64 }),
  'get-full-1': createWorkload({ ...get, connections: 1 }),
  'put-full-1': createWorkload({ ...put, connections: 1 }),
  'put-early-1': early,
  'put-node': writing,
  'apply-node': applying,
} satisfies Record<string, Workload>

const createRow = (name: string, work: keyof typeof workloads, spec: Spec = createSpec('kv')): BenchRow => ({
  ...workloads[work](spec),
  name,
  sharedAs: `${formatSpec(spec)}/${work}`,
})

/** Creates a row of a bare server with a constant reply. */
const createBareRow = (
  method: 'GET' | 'PUT',
  connections: number,
  headers?: Readonly<Record<string, string>>,
): BenchRow => {
  const drawer = method === 'GET' ? 'kv-get-constant' : 'kv-put'
  const requests = createRequests({ method, entries: FULL_BASE_ENTRIES, connections, drawer }, headers)
  const reply = method === 'GET' ? BARE_GET : BARE_PUT
  return {
    name: connections === 1 ? `bare ${method}, 1 connection` : `bare ${method}`,
    target: createBareTarget(reply),
    sharedAs:
      connections === 1 ? undefined : `bare ${method}, ${connections}, ${Object.keys(headers ?? {}).length} headers`,
    ...createRequestRound({ ...requests, expect: { status: reply.status, body: reply.body } }),
  }
}

/** A bare server that puts into its own database, which is empty at the start. */
const barePutRow: BenchRow = { ...createBareRow('PUT', 1), name: 'bare db.put, 1 connection', target: putTarget }

const entity: ServiceTable = {
  name: 'entity',
  group: 'bases',
  title: 'A base of 1.5 million entries of 100-200 bytes, random ids, 64 connections, one serving thread',
  when: 'always',
  steps: [
    ['GET', 'bare GET'],
    ['PUT', 'bare PUT'],
    ['durable PUT', 'bare PUT'],
    ['PUT of random bytes', 'PUT'],
    ['PUT', 'PUT one by one (v2)'],
    ['GET, 1 connection', 'bare GET, 1 connection'],
    ['PUT, 1 connection', 'bare db.put, 1 connection'],
    ['PUT answered early, 1 connection', 'PUT, 1 connection'],
  ],
  rows(specs) {
    const bareRows = [createBareRow('GET', 64), createBareRow('PUT', 64)]
    const ofVariants = specs.flatMap((spec) => [
      createRow(`GET (${spec.variant})`, 'get-full', spec),
      createRow(`PUT (${spec.variant})`, 'put-full', spec),
    ])
    if (specs.length > 0) return [...ofVariants, ...bareRows]
    return [
      createRow('GET', 'get-full'),
      createRow('PUT', 'put-full'),
      createRow('durable PUT', 'put-durable'),
      createRow('PUT of random bytes', 'put-bytes'),
      createRow('PUT one by one (v2)', 'put-full', createSpec('kv', 'v2')),
      ...bareRows,
      createRow('GET, 1 connection', 'get-full-1'),
      createRow('PUT, 1 connection', 'put-full-1'),
      createRow('PUT answered early, 1 connection', 'put-early-1'),
      createBareRow('GET', 1),
      barePutRow,
    ]
  },
}

const bases: ServiceTable = {
  name: 'bases',
  group: 'bases',
  title: 'A full base of 1.5 million entries against an empty one (reads: one of 1,000), 64 connections',
  steps: [
    ['GET, full base', 'GET, base of 1,000'],
    ['PUT, full base', 'PUT, empty base'],
  ],
  rows: () => [
    createRow('GET, full base', 'get-full'),
    createRow('GET, base of 1,000', 'get-small'),
    createRow('PUT, full base', 'put-full'),
    createRow('PUT, empty base', 'put-empty'),
  ],
}

/** Creates a row of a variant, which determines the server adapter, optionally with the headers of a browser. */
const createServerRow = (
  name: string,
  kind: Omit<KvLoad, 'connections'>,
  variant: string,
  headers?: typeof BROWSER_HEADERS,
): BenchRow => {
  const load = { ...kind, connections: CONNECTIONS }
  return {
    ...createBaseRow(load, createKvTarget(createSpec('kv', variant), kind.entries)),
    name,
    sharedAs: `${variant} ${name}`,
    ...createRequestRound(createRequests(load, headers)),
  }
}

const NODE_HTTP_VARIANT = NODE_HTTP_VARIANTS.kv

const serverTable: ServiceTable = {
  name: 'server-adapters',
  group: 'servers',
  title: `A base of 1.5 million entries of 100-200 bytes by server adapter, ${CONNECTIONS} connections, one serving thread; browser: with the ${Object.keys(BROWSER_HEADERS).length} headers that a browser sends`,
  steps: [
    ['GET', 'bare GET'],
    ['GET', `GET (${NODE_HTTP_VARIANT})`],
    ['GET, base of 1,000', 'bare GET'],
    ['GET, browser', 'bare GET, browser'],
    ['PUT', 'bare PUT'],
    ['PUT', `PUT (${NODE_HTTP_VARIANT})`],
  ],
  rows: () => [
    createServerRow('GET', get, RAW_VARIANTS.kv),
    createServerRow(`GET (${NODE_HTTP_VARIANT})`, get, NODE_HTTP_VARIANT),
    createServerRow('GET, base of 1,000', { ...get, entries: SMALL_BASE_ENTRIES }, RAW_VARIANTS.kv),
    createBareRow('GET', CONNECTIONS),
    createServerRow('GET, browser', get, RAW_VARIANTS.kv, BROWSER_HEADERS),
    { ...createBareRow('GET', CONNECTIONS, BROWSER_HEADERS), name: 'bare GET, browser' },
    createServerRow('PUT', put, RAW_VARIANTS.kv),
    createServerRow(`PUT (${NODE_HTTP_VARIANT})`, put, NODE_HTTP_VARIANT),
    createBareRow('PUT', CONNECTIONS),
  ],
}

/** Creates the row of a bare server that reads or writes a full base before its constant reply. */
const createLevelRow = (method: 'GET' | 'PUT'): BenchRow => ({
  ...createBareRow(method, CONNECTIONS),
  name: method === 'GET' ? 'bare GET with getSync' : 'bare PUT with batches',
  sharedAs: undefined,
  target: createLevelTarget(method === 'GET' ? BARE_GET : BARE_PUT, FULL_BASE_ENTRIES),
})

const limits: ServiceTable = {
  name: 'limits',
  group: 'servers',
  title: `Lower bounds of a GET and a PUT: a base of 1.5 million entries of 100-200 bytes, ${CONNECTIONS} connections, one serving thread; bare: node:http with a constant reply`,
  steps: [
    ['GET', 'bare GET with getSync'],
    ['GET', 'bare GET'],
    ['PUT', 'bare PUT with batches'],
    ['PUT', 'bare PUT'],
  ],
  rows: () => [
    createServerRow('GET', get, RAW_VARIANTS.kv),
    createLevelRow('GET'),
    createBareRow('GET', CONNECTIONS),
    createServerRow('PUT', put, RAW_VARIANTS.kv),
    createLevelRow('PUT'),
    createBareRow('PUT', CONNECTIONS),
  ],
}

export const tables: readonly ServiceTable[] = [entity, bases, serverTable, limits]
