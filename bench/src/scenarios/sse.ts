import type { Contender } from '../contenders/contender.ts'
import { serviceContender } from '../contenders/service.ts'
import { betterSse, fastifySse } from '../contenders/sse-peers.ts'
import type { FleetRow, FleetSource } from '../fleet-row.ts'
import { DIALECT, type Dialect, type FleetPlan } from '../load/sse-fleet.ts'
import { nameOf, type Spec } from '../spec.ts'
import type { FleetAsked, FleetScenario } from './scenario.ts'

type Work = Pick<FleetPlan, 'streams' | 'spacing' | 'sending' | 'publishers'>

/** Connections for values at a given pace: more than are ever needed where the server keeps up. */
const ENOUGH = 64

/** better-sse sends values as JSON. */
const QUOTED: Dialect = { ...DIALECT, around: ['"', '"'] }

const row = (name: string, contender: Contender, work: Work, dialect = DIALECT, source?: FleetSource): FleetRow => {
  return { name, contender, plan: { ...work, dialect }, source }
}

/** The service as it was asked for: under its variant's name, or in full where settings differ. */
const serviceRows = (specs: readonly Spec[], work: Work): FleetRow[] =>
  specs.map((spec) => {
    const name = Object.keys(spec.settings).length > 0 ? nameOf(spec) : spec.variant || 'default'
    return row(name, serviceContender(spec), work)
  })

const withPeers = (specs: readonly Spec[], work: Work): FleetRow[] => [
  ...serviceRows(specs, work),
  row('better-sse', betterSse, work, QUOTED),
  row('@fastify/sse', fastifySse, work),
]

const saturation: FleetScenario = {
  service: 'sse',
  name: 'saturation',
  title:
    'Deliveries a second: 1,000 streams, 8 publishers that send as soon as they have their reply, one serving thread',
  full: false,
  once: false,
  columns: [
    'processorPerDelivery',
    'deliveries',
    'values',
    'deliveryP50',
    'deliveryP99',
    'faults',
    'rejected',
    'memory',
    'fleet',
  ],
  fleets: ({ specs, duration, warmUp }) =>
    withPeers(specs, { streams: 1000, spacing: 0, sending: { seconds: duration, warmUp }, publishers: 8 }),
}

const memory: FleetScenario = {
  service: 'sse',
  name: 'memory',
  title: 'What a stream costs: 10,000 streams as fast as they can be opened, 20 values to all',
  full: false,
  once: true,
  columns: ['perStream', 'idle', 'memory', 'connects', 'deliveryP50', 'deliveryP99', 'faults', 'rejected', 'lateness'],
  fleets: ({ specs }) =>
    withPeers(specs, { streams: 10_000, spacing: 0, sending: { values: 20, interval: 100 }, publishers: ENOUGH }),
}

const steady: FleetScenario = {
  service: 'sse',
  name: 'steady',
  title: '500,000 deliveries a second: 1,000 streams, 500 values a second for 10 s',
  full: false,
  once: true,
  columns: [
    'processorPerDelivery',
    'deliveries',
    'deliveryP50',
    'deliveryP99',
    'query',
    'faults',
    'rejected',
    'memory',
    'lateness',
  ],
  fleets: ({ specs }) =>
    serviceRows(specs, { streams: 1000, spacing: 0, sending: { values: 5000, interval: 2 }, publishers: ENOUGH }),
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

const whole = (value: number) => value.toLocaleString('en-US')
const some = (count: number, what: string) => `${whole(count)} ${what}${count === 1 ? '' : 's'}`

/** A row of the source for each spec; a name says which where there are several. */
function sourceRows(specs: readonly Spec[], name: string, work: Work, source: FleetSource): FleetRow[] {
  return serviceRows(specs, work).map((one) => {
    return { ...one, source, name: specs.length > 1 ? `${one.name}: ${name}` : name }
  })
}

const connections: FleetScenario = {
  service: 'sse',
  name: 'connections',
  title: "The source's first table: streams opened at a pace, one value to all",
  full: true,
  once: true,
  columns: [
    'grown',
    'sourceMemory',
    'connecting',
    'sourceConnecting',
    'sending',
    'sourceSending',
    'perStream',
    'received',
    'faults',
    'rejected',
  ],
  fleets: ({ specs }: FleetAsked) =>
    CONNECTIONS.flatMap(([streams, spacing, megabytes, connecting, sending]) => {
      const work = { streams, spacing, sending: { values: 1, interval: 1 }, publishers: 1 }
      const source = { memory: megabytes, connecting, sending }
      return sourceRows(specs, `${some(streams, 'stream')}, one each ${spacing} ms`, work, source)
    }),
}

const values: FleetScenario = {
  service: 'sse',
  name: 'values',
  title: "The source's second table: values at a pace",
  full: true,
  once: true,
  columns: [
    'sending',
    'sourceSending',
    'query',
    'sourceQuery',
    'rejected',
    'sourceRejected',
    'received',
    'deliveryP50',
    'deliveryP99',
    'faults',
  ],
  fleets: ({ specs }: FleetAsked) =>
    VALUES.flatMap(([streams, count, interval, sending, query, rejected]) => {
      const work = { streams, spacing: 0, sending: { values: count, interval }, publishers: ENOUGH }
      const name = `${some(streams, 'stream')}, ${whole(count)} values, one each ${interval} ms`
      return sourceRows(specs, name, work, { sending, query, rejected })
    }),
}

export const fleetScenarios: readonly FleetScenario[] = [saturation, memory, steady, connections, values]
