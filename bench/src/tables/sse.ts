import type { Contender } from '../contenders/contender.ts'
import { serviceContender } from '../contenders/service.ts'
import {
  HUB_DIALECT,
  MERCURE_SETTINGS,
  mercureHub,
  ONE_MATCHER,
  onManyTopics,
  PRIVATE,
  THREE_MATCHERS,
  TWO_PATTERNS,
} from '../contenders/mercure.ts'
import { scriptContender } from '../contenders/program.ts'
import { runConnecting } from '../load/fleet.ts'
import { DIALECT, type Dialect } from '../load/fleet/plan.ts'
import { PINS } from '../processes.ts'
import { whole } from '../report/numbers.ts'
import { streamColumns, streaming, type Fleet } from '../rounds/fleet.ts'
import type { Figures, Row } from '../row.ts'
import { labelOf, specOf, type Spec } from '../spec.ts'
import type { OwnTable, Work } from './table.ts'

type Shape = Omit<Fleet, 'dialect'>

/** Connections for values at a given pace: more than are ever needed where the server keeps up. */
const ENOUGH = 64

/** better-sse sends values as JSON. */
const QUOTED: Dialect = { ...DIALECT, around: ['"', '"'] }

const says = ({ streams, publishers }: Shape) =>
  `${whole(streams)} streams and ${publishers} publishers that send as soon as they have their reply`

export const row = (name: string, contender: Contender, shape: Shape, dialect = DIALECT): Row => {
  return { name, contender, ...streaming({ ...shape, dialect }, says(shape)) }
}

const workOf =
  (shape: Shape, settings: Readonly<Record<string, string>> = {}, dialect?: Dialect): Work =>
  (spec) =>
    row(labelOf(spec), serviceContender(spec, settings), shape, dialect)

export const FAN_OUT: Shape = { streams: 1000, spacing: 0, sending: 'saturate', publishers: 8 }
const MEMORY: Shape = { streams: 10_000, spacing: 0, sending: { values: 20, interval: 100 }, publishers: ENOUGH }
const STEADY: Shape = { streams: 1000, spacing: 0, sending: { values: 5000, interval: 2 }, publishers: ENOUGH }

/** Streams are opened as fast as they can be, all are closed, and so on. */
const connecting: Work = (spec) => ({
  name: labelOf(spec),
  contender: serviceContender(spec),
  says: '1,000 streams that are opened and closed again and again',
  async round({ url }, { duration: own, warmUp, throughout }) {
    const duration = throughout ? own + warmUp : own
    const plan = { dialect: DIALECT, streams: 1000, spacing: 0, pin: PINS.client }
    const { opened, refused } = await runConnecting({ ...plan, url, duration })
    if (opened === 0 || refused > 0) throw new Error(`${opened} streams were opened and ${refused} refused`)
    return { connects: opened / duration }
  },
})

/** What any variant can be measured at; the first is what is meant where none is named. */
export const works = {
  'fan-out': workOf(FAN_OUT),
  connecting,
  memory: workOf(MEMORY),
  steady: workOf(STEADY),
} satisfies Record<string, Work>

const DEFAULT = [specOf('sse')]
const asked = (specs: readonly Spec[]) => (specs.length > 0 ? specs : DEFAULT)

// The libraries that one would take for Node otherwise, each as its README says, with all its defaults.
const betterSse = scriptContender('better-sse', './better-sse-server.ts')
const fastifySse = scriptContender('@fastify/sse', './fastify-sse-server.ts')

export const withPeers = (specs: readonly Spec[], shape: Shape): Row[] => [
  ...asked(specs).map(workOf(shape)),
  row('better-sse', betterSse, shape, QUOTED),
  row('@fastify/sse', fastifySse, shape),
]

const PEERS = [
  ['default', 'better-sse'],
  ['default', '@fastify/sse'],
] as const

const saturation: OwnTable = {
  name: 'saturation',
  title:
    'Deliveries a second: 1,000 streams, 8 publishers that send as soon as they have their reply, one serving thread',
  when: 'always',
  steps: PEERS,
  columns: streamColumns('cpu, deliveries, values, deliveryP50, deliveryP99, faults, rejected, memory, generator'),
  rows: (specs) => withPeers(specs, FAN_OUT),
}

const memory: OwnTable = {
  name: 'memory',
  title: 'What a stream costs: 10,000 streams as fast as they can be opened, 20 values to all',
  when: 'always',
  mostRounds: 1,
  columns: streamColumns(
    'perStream, kernel, idle, memory, connects, deliveryP50, deliveryP99, faults, rejected, lateness',
  ),
  rows: (specs) => withPeers(specs, MEMORY),
}

const steady: OwnTable = {
  name: 'steady',
  title: '500,000 deliveries a second: 1,000 streams, 500 values a second for 10 s',
  when: 'always',
  mostRounds: 1,
  columns: streamColumns('cpu, deliveries, deliveryP50, deliveryP99, query, faults, rejected, memory, lateness'),
  rows: (specs) => asked(specs).map(works.steady),
}

/** Streams, milliseconds between them; MB, CPU while connecting and while sending (%). */
const CONNECTIONS = [
  [500, 50, 36, 15, 15],
  [1000, 40, 56, 17.5, 15],
  [3000, 20, 145, 25, 62],
  [3000, 10, 142, 40.6, 61],
  [3000, 5, 140, 59.9, 70.8],
  [3000, 3, 138, 98, 69],
  [6000, 4, 262, 80.5, 93.4],
  [8000, 4, 394, 73.7, 80.9],
  [10_000, 4, 485, 77.1, 100],
] as const

/** Streams, values, milliseconds between them; CPU while sending (%), average query (ms), rejected. */
const VALUES = [
  [1000, 10, 100, 85.7, 163, 7],
  [1000, 10, 500, 76.5, 45, 0],
  [1000, 10, 200, 100, 374, 2],
  [500, 10, 200, 77, 39, 0],
  [100, 10, 100, 25, 19, 0],
  [100, 100, 50, 68.9, 35, 0],
  [100, 100, 30, 100, 250, 0],
  [10, 100, 20, 31, 12, 0],
  [10, 1000, 10, 61.7, 18, 0],
  [10, 1000, 5, 98.7, 47, 0],
  [1, 1000, 4, 58.2, 27, 0],
  [1, 1000, 2, 92.3, 33, 0],
  [1, 10_000, 2, 100, 400, 4636],
  [1, 8000, 4, 100, 415, 3217],
  [1, 5000, 5, 100, 399, 292],
  [1, 3000, 7, 100, 129, 0],
  [1, 2000, 7, 98, 58, 0],
] as const

const some = (count: number, what: string) => `${whole(count)} ${what}${count === 1 ? '' : 's'}`

/** A row of the source for each spec; a name says which where there are several. */
const sourceRows = (specs: readonly Spec[], name: string, shape: Shape, source: Figures): Row[] =>
  asked(specs)
    .map(workOf(shape))
    .map((one) => ({ ...one, source, name: specs.length > 1 ? `${one.name}: ${name}` : name }))

/** The same streams by the ways in which they may be opened, and by what they carry. */
const WAYS = {
  '/wait': DIALECT,
  Mercure: ONE_MATCHER,
  'Mercure, 3 matchers': THREE_MATCHERS,
  'Mercure, a matcher and 2 patterns': TWO_PATTERNS,
  'Mercure, 100 topics': onManyTopics(100),
  'Mercure, private': PRIVATE,
} as const

/** What each of them costs beside `/wait`. @param isPeer whether Mercure's own hub stands beside: at a given pace it cuts streams */
const mercure = (name: string, title: string, shape: Shape, columns: string, isPeer = false): OwnTable => ({
  name: `mercure-${name}`,
  title: `${title}; by /wait and by Mercure's protocol, one serving thread, one processor`,
  columns: streamColumns(columns),
  steps: [
    ...Object.keys(WAYS)
      .slice(1)
      .map((way) => [way, '/wait'] as const),
    ...(isPeer ? [['Mercure', mercureHub.name] as const] : []),
  ],
  rows: () => [
    ...Object.entries(WAYS).map(([way, dialect]) =>
      row(way, serviceContender(specOf('sse'), MERCURE_SETTINGS), shape, dialect),
    ),
    ...(isPeer ? [row(mercureHub.name, mercureHub, shape, HUB_DIALECT)] : []),
  ],
})

const ways = [
  mercure(
    'saturation',
    'Deliveries a second: 1,000 streams, 8 publishers that send as soon as they have their reply',
    FAN_OUT,
    'cpu, deliveries, deliveryP50, deliveryP99, faults, memory, generator',
    true,
  ),
  mercure(
    'memory',
    'What a stream costs: 10,000 streams, 20 values to all',
    MEMORY,
    'perStream, kernel, memory, connects, deliveryP99, faults, rejected',
  ),
  mercure(
    'steady',
    '500 values a second to 1,000 streams for 10 s',
    STEADY,
    'cpu, deliveries, deliveryP50, deliveryP99, query, faults, rejected, memory, lateness',
  ),
]

const connections: OwnTable = {
  name: 'connections',
  title: "The source's first table: streams opened at a pace, one value to all",
  mostRounds: 1,
  columns: streamColumns(
    'grown, source: grown, connecting, source: connecting, sending, source: sending, perStream, received, faults, rejected',
  ),
  rows: (specs) =>
    CONNECTIONS.flatMap(([streams, spacing, grown, busy, sending]) => {
      const shape = { streams, spacing, sending: { values: 1, interval: 1 }, publishers: 1 }
      const source = { grown, connecting: busy, sending }
      return sourceRows(specs, `${some(streams, 'stream')}, one each ${spacing} ms`, shape, source)
    }),
}

const values: OwnTable = {
  name: 'values',
  title: "The source's second table: values at a pace",
  mostRounds: 1,
  columns: streamColumns(
    'sending, source: sending, query, source: query, rejected, source: rejected, received, deliveryP50, deliveryP99, faults',
  ),
  rows: (specs) =>
    VALUES.flatMap(([streams, count, interval, sending, query, rejected]) => {
      const shape = { streams, spacing: 0, sending: { values: count, interval }, publishers: ENOUGH }
      const name = `${some(streams, 'stream')}, ${whole(count)} values, one each ${interval} ms`
      return sourceRows(specs, name, shape, { sending, query, rejected })
    }),
}

export const tables: readonly OwnTable[] = [saturation, memory, steady, ...ways, connections, values]
