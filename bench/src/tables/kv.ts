import { bareContender, putContender } from '../contenders/bare.ts'
import type { Contender, Running } from '../contenders/contender.ts'
import { nodeContender, otherNodes } from '../contenders/cluster.ts'
import { kvContender } from '../contenders/kv.ts'
import { FULL, SMALL, valueOf } from '../load/requests/kv-entries.ts'
import { asking } from '../rounds/requests.ts'
import type { Row } from '../row.ts'
import { specOf, type Spec } from '../spec.ts'
import { BROWSER, CONNECTIONS, NODE_HTTP, RAW } from './doors.ts'
import type { OwnTable, Work } from './table.ts'

// The same replies as the service's, header by header.
const BARE_GET = {
  status: 200,
  headers: {
    'x-request-id': 'abcdef-12345',
    'content-type': 'application/octet-stream',
    'x-content-type-options': 'nosniff',
    etag: '"XWzQ3mAB"',
    'content-length': '150',
  },
  body: valueOf(0).repeat(2).slice(0, 150),
}
const BARE_PUT = {
  status: 201,
  headers: { 'x-request-id': 'abcdef-12345', etag: '"XWzQ3mAB"', 'content-length': '0' },
  body: '',
}

async function ask(url: string, id: string | number, body?: string): Promise<string> {
  const reply = await fetch(`${url}/v0/entity?id=${id}`, body === undefined ? {} : { method: 'PUT', body })
  if (!reply.ok) throw new Error(`id ${id} was answered ${reply.status}`)
  return reply.text()
}

/** Proves that a base has what it should. */
export const proveReads =
  (entries: number) =>
  async ({ url }: Running): Promise<void> => {
    for (const id of [0, entries >> 1, entries - 1]) {
      if ((await ask(url, id)) !== valueOf(id)) throw new Error(`the value of ${id} is wrong`)
    }
  }

/** Proves that what was put is there. */
export async function proveWrites({ url }: Running): Promise<void> {
  await ask(url, 'a', 'proof')
  if ((await ask(url, 'a')) !== 'proof') throw new Error('what was put is not there')
}

export const connectionsText = (count: number) => (count === 1 ? '1 connection' : `${count} connections`)

const KINDS = {
  GET: { expect: { status: 200 }, says: 'get' },
  PUT: { expect: { status: 201 }, says: 'put' },
  // 202 also if there is no such entry, because an earlier request deleted it.
  DELETE: { expect: { status: 202 }, says: 'delete' },
} as const

/** Random ids to read, delete, or write with random values, on a base of the given number of entries. */
export interface Kind {
  readonly method: keyof typeof KINDS
  readonly entries: number
  readonly connections: number
  /** In place of the method's own. */
  readonly drawer?: string
}

const drawerOf = ({ method, entries, drawer }: Kind) =>
  drawer ?? (method === 'PUT' ? 'kv-put' : `kv-${method.toLowerCase()}-${entries}`)

/** What is asked of a base. */
export const requestsOf = (kind: Kind, headers?: Readonly<Record<string, string>>) => ({
  says: `${connectionsText(kind.connections)} that ${KINDS[kind.method].says} random entities of ${kind.entries.toLocaleString('en-US')}`,
  requests: { drawer: drawerOf(kind), headers },
  expect: KINDS[kind.method].expect,
  connections: kind.connections,
})

/** A service on a base of its own. */
export const onBase = (kind: Kind, contender: Contender): Row => ({
  name: kind.method,
  contender,
  prepare: kind.method === 'PUT' ? proveWrites : proveReads(kind.entries),
  ...asking(requestsOf(kind)),
})

const [get, put] = [{ method: 'GET', entries: FULL } as const, { method: 'PUT', entries: FULL } as const]

const work =
  (kind: Kind): Work =>
  (spec) =>
    onBase(kind, kvContender(spec, kind.entries))

/** Puts that are answered before they are written, one after the other. */
const early: Work = (spec) => ({
  ...work({ ...put, connections: 1 })(spec),
  ...asking({ ...requestsOf({ ...put, connections: 1 }, { prefer: 'respond-async' }), expect: { status: 202 } }),
})

const ON_NODE: Kind = { method: 'PUT', entries: 0, connections: 64 }

/** A node of three: what it takes in. */
const writing: Work = (spec) => ({
  ...onBase(ON_NODE, nodeContender(spec)),
  says: `${connectionsText(ON_NODE.connections)} that put random entities into the log of three nodes`,
})

/** The same of what the others take in: to apply it is all that is left. */
const applying: Work = (spec) => {
  const { round, ...row } = writing(spec)
  return {
    ...row,
    says: `what ${connectionsText(ON_NODE.connections)} put through the other nodes`,
    async prepare(running) {
      await ask((await otherNodes()).url, 'b', 'proof')
      const read = await ask(running.url, 'b&linearizable=true')
      if (read !== 'proof') throw new Error('what was put through another node is not there')
    },
    async round(running, how) {
      const { url, others } = await otherNodes()
      return round({ ...running, url, others }, how)
    },
  }
}

/** What any variant can be measured at; the first is what is meant where none is named. */
export const works = {
  'put-full': work({ ...put, connections: 64 }),
  'get-full': work({ ...get, connections: 64 }),
  'put-durable': work({ ...put, connections: 64, drawer: 'kv-put-durable' }),
  'put-bytes': work({ ...put, connections: 64, drawer: 'kv-put-bytes' }),
  'put-empty': work({ ...put, entries: 0, connections: 64 }),
  'get-small': work({ ...get, entries: SMALL, connections: 64 }),
  'get-full-1': work({ ...get, connections: 1 }),
  'put-full-1': work({ ...put, connections: 1 }),
  'put-early-1': early,
  'put-node': writing,
  'apply-node': applying,
} satisfies Record<string, Work>

const kv = (variant = '') => specOf('kv', variant)
const row = (name: string, what: keyof typeof works, spec: Spec = kv()): Row => ({ ...works[what](spec), name })

/** The same on a bare server, whose reply is constant. */
const bare = (method: 'GET' | 'PUT', connections: number, headers?: Readonly<Record<string, string>>): Row => {
  const drawer = method === 'GET' ? 'kv-get-constant' : 'kv-put'
  const requests = requestsOf({ method, entries: FULL, connections, drawer }, headers)
  const reply = method === 'GET' ? BARE_GET : BARE_PUT
  return {
    name: connections === 1 ? `bare ${method}, 1 connection` : `bare ${method}`,
    contender: bareContender(reply),
    ...asking({ ...requests, expect: { status: reply.status, body: reply.body } }),
  }
}

/** The same around a database of its own, which begins empty. */
const barePut: Row = { ...bare('PUT', 1), name: 'bare db.put, 1 connection', contender: putContender }

const entity: OwnTable = {
  name: 'entity',
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
  rows: (specs) => [
    ...(specs.length > 0
      ? specs.flatMap((spec) => [
          row(`GET (${spec.variant})`, 'get-full', spec),
          row(`PUT (${spec.variant})`, 'put-full', spec),
        ])
      : [
          row('GET', 'get-full'),
          row('PUT', 'put-full'),
          row('durable PUT', 'put-durable'),
          row('PUT of random bytes', 'put-bytes'),
          row('PUT one by one (v2)', 'put-full', kv('v2')),
        ]),
    bare('GET', 64),
    bare('PUT', 64),
    ...(specs.length > 0
      ? []
      : [
          { ...row('GET, 1 connection', 'get-full-1'), source: { perSecond: 200 } },
          { ...row('PUT, 1 connection', 'put-full-1'), source: { perSecond: 4_000 } },
          row('PUT answered early, 1 connection', 'put-early-1'),
          bare('GET', 1),
          barePut,
        ]),
  ],
}

const bases: OwnTable = {
  name: 'bases',
  title: 'A full base of 1.5 million entries against an empty one (reads: one of 1,000), 64 connections',
  steps: [
    ['GET, full base', 'GET, base of 1,000'],
    ['PUT, full base', 'PUT, empty base'],
  ],
  rows: () => [
    row('GET, full base', 'get-full'),
    row('GET, base of 1,000', 'get-small'),
    row('PUT, full base', 'put-full'),
    row('PUT, empty base', 'put-empty'),
  ],
}

/** By way of a door; with a browser's headers where they are given. */
const atDoor = (name: string, kind: Omit<Kind, 'connections'>, variant: string, headers?: typeof BROWSER): Row => {
  const whole = { ...kind, connections: CONNECTIONS }
  return { ...onBase(whole, kvContender(kv(variant), kind.entries)), name, ...asking(requestsOf(whole, headers)) }
}

const FORMER = NODE_HTTP.kv

const door: OwnTable = {
  name: 'door',
  title: `A base of 1.5 million entries of 100-200 bytes by the door that answers, ${CONNECTIONS} connections, one serving thread; browser: with the ${Object.keys(BROWSER).length} headers that a browser sends`,
  steps: [
    ['GET', 'bare GET'],
    ['GET', `GET (${FORMER})`],
    ['GET, base of 1,000', 'bare GET'],
    ['GET, browser', 'bare GET, browser'],
    ['PUT', 'bare PUT'],
    ['PUT', `PUT (${FORMER})`],
  ],
  rows: () => [
    atDoor('GET', get, RAW.kv),
    atDoor(`GET (${FORMER})`, get, FORMER),
    atDoor('GET, base of 1,000', { ...get, entries: SMALL }, RAW.kv),
    bare('GET', CONNECTIONS),
    atDoor('GET, browser', get, RAW.kv, BROWSER),
    { ...bare('GET', CONNECTIONS, BROWSER), name: 'bare GET, browser' },
    atDoor('PUT', put, RAW.kv),
    atDoor(`PUT (${FORMER})`, put, FORMER),
    bare('PUT', CONNECTIONS),
  ],
}

export const tables: readonly OwnTable[] = [entity, bases, door]
