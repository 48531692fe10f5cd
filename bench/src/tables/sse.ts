import type { BenchTarget } from '../targets/target.ts'
import { createServiceTarget } from '../targets/service.ts'
import {
  HUB_DIALECT,
  MERCURE_SETTINGS,
  mercureHub,
  ONE_MATCHER,
  createTopicsDialect,
  PRIVATE_DIALECT,
  THREE_MATCHERS,
  TWO_PATTERNS,
  WAIT_DIALECT,
} from '../targets/mercure.ts'
import { broadcastPrograms } from '../targets/broadcast-programs.ts'
import { createScriptTarget } from '../targets/program.ts'
import { runConnecting } from '../load/fleet.ts'
import { DEFAULT_DIALECT, type Dialect } from '../load/fleet/fleet-plan.ts'
import { getProcessorSeconds, PINS } from '../processes.ts'
import { formatWhole } from '../report/format-numbers.ts'
import { selectStreamColumns, createStreamRound, type FleetOptions } from '../rounds/fleet-round.ts'
import type { RowMetrics, BenchRow } from '../row.ts'
import { connectionRows, valueRows } from '../sources/sse.ts'
import { formatLabel, createSpec, type Spec } from '../spec.ts'
import type { ServiceTable, Workload } from '../table.ts'

type FleetShape = Omit<FleetOptions, 'dialect'>

/** Number of publishers for values at a constant rate: more than needed, unless the server is too slow. */
const PACED_PUBLISHERS = 64

/** better-sse sends values as JSON. */
const QUOTED_DIALECT: Dialect = { ...DEFAULT_DIALECT, around: ['"', '"'] }

const describeShape = ({ streams, publishers }: FleetShape) =>
  `${formatWhole(streams)} streams and ${publishers} publishers that send as soon as they have their reply`

export const createRow = (
  name: string,
  target: BenchTarget,
  shape: FleetShape,
  dialect = DEFAULT_DIALECT,
): BenchRow => {
  return { name, target, ...createStreamRound({ ...shape, dialect }, describeShape(shape)) }
}

const createWorkload =
  (shape: FleetShape, settings: Readonly<Record<string, string>> = {}, dialect?: Dialect): Workload =>
  (spec) =>
    createRow(formatLabel(spec), createServiceTarget(spec, settings), shape, dialect)

export const FAN_OUT_SHAPE: FleetShape = { streams: 1000, spacing: 0, sending: 'saturate', publishers: 8 }
const MEMORY_SHAPE: FleetShape = {
  streams: 10_000,
  spacing: 0,
  sending: { values: 20, interval: 100 },
  publishers: PACED_PUBLISHERS,
}
const PACE_SHAPE: FleetShape = { streams: 1000, spacing: 0, sending: 'pace', publishers: PACED_PUBLISHERS }
/** A fixed rate, for profiles. */
const STEADY_SHAPE: FleetShape = {
  streams: 1000,
  spacing: 0,
  sending: { values: 5000, interval: 2 },
  publishers: PACED_PUBLISHERS,
}

/**
 * Duration of the unmeasured load at the start (s). Until then V8 compiles the code, and the service trims its heap (2 s
 * after the start): a stream costs up to twice as much.
 */
const SETTLE_S = 3

/** Repeatedly opens streams as fast as possible and closes all of them. */
const connecting: Workload = (spec) => ({
  name: formatLabel(spec),
  target: createServiceTarget(spec),
  says: '1,000 streams that are opened and closed again and again',
  async round({ url, pid }, { duration: own, warmUp, throughout }) {
    const duration = throughout ? own + warmUp : own
    const plan = { dialect: DEFAULT_DIALECT, streams: 1000, spacing: 0, pin: PINS.client }
    if (!throughout && warmUp > 0) await runConnecting({ ...plan, url, duration: SETTLE_S })
    const before = getProcessorSeconds(pid)
    const { opened, refused } = await runConnecting({ ...plan, url, duration })
    if (opened === 0 || refused > 0) throw new Error(`${opened} streams were opened and ${refused} refused`)
    return { connects: opened / duration, connectCpu: ((getProcessorSeconds(pid) - before) * 1e6) / opened }
  },
})

/** Workloads for any variant; the first is the default. */
export const workloads = {
  'fan-out': createWorkload(FAN_OUT_SHAPE),
  connecting,
  memory: createWorkload(MEMORY_SHAPE),
  steady: createWorkload(STEADY_SHAPE),
} satisfies Record<string, Workload>

const DEFAULT_SPECS = [createSpec('sse')]
const withDefault = (specs: readonly Spec[]) => (specs.length > 0 ? specs : DEFAULT_SPECS)

// Alternative libraries for Node, configured as in their READMEs, with all defaults.
const betterSse = createScriptTarget('better-sse', 'better-sse-server.ts')
const fastifySse = createScriptTarget('@fastify/sse', 'fastify-sse-server.ts')

export const withPeers = (specs: readonly Spec[], shape: FleetShape): BenchRow[] => [
  ...withDefault(specs).map(createWorkload(shape)),
  createRow('better-sse', betterSse, shape, QUOTED_DIALECT),
  createRow('@fastify/sse', fastifySse, shape),
]

/** Creates rows of programs that are not for Node. */
export const createProgramRows = (shape: FleetShape): BenchRow[] =>
  broadcastPrograms.map(([target, dialect]) => createRow(target.name, target, shape, dialect))

/** Limits the rounds of a row that is measured at a pace. */
const withPacedRounds = (row: BenchRow): BenchRow => (row.getCapacity ? { ...row, ...PACED_ROUNDS } : row)

const PEER_STEPS = [
  ['default', 'better-sse'],
  ['default', '@fastify/sse'],
] as const

/** Marks a row of the usual deliveries, which a run measures once for all tables that contain it. */
export const shareFanOut = (row: BenchRow): BenchRow => ({ ...row, sharedAs: `fan-out, ${row.target.name}` })

const saturation: ServiceTable = {
  name: 'saturation',
  title:
    'Deliveries per second: 1,000 streams, 8 publishers that send as soon as they have their reply, one serving thread',
  when: 'always',
  group: 'saturation',
  steps: PEER_STEPS,
  columns: selectStreamColumns(
    'cpu, deliveries, values, deliveryP50, deliveryP99, faults, rejected, memory, generator',
  ),
  rows: (specs) => withPeers(specs, FAN_OUT_SHAPE).map(shareFanOut),
}

const memory: ServiceTable = {
  name: 'memory',
  title: 'Memory of a stream: 10,000 streams, opened as fast as possible, 20 values to all',
  when: 'always',
  maxRounds: 1,
  columns: selectStreamColumns(
    'perStream, kernel, idle, memory, connects, deliveryP50, deliveryP99, faults, rejected, lateness',
  ),
  rows: (specs) => withPeers(specs, MEMORY_SHAPE),
}

/** Rounds of the capacity, and rounds at a pace: enough for an interval of a ratio. */
const PACED_ROUNDS = { maxRounds: 2, maxPacedRounds: 6 } as const
const PACED_COLUMNS = selectStreamColumns(
  'cpu, deliveries, rate, capacity, deliveryP50, deliveryP99, query, faults, rejected, memory, lateness',
)

const steady: ServiceTable = {
  name: 'steady',
  title:
    'Deliveries at an equal load: 1,000 streams, the same values per second for all, 60 % of what the slowest start of the slowest program delivers; one serving thread. nchan and Centrifugo if they are installed',
  when: 'always',
  columns: PACED_COLUMNS,
  steps: (names) => names.filter((name) => name !== 'default').map((name) => ['default', name] as const),
  rows: (specs) => [...withPeers(specs, PACE_SHAPE), ...createProgramRows(PACE_SHAPE)].map(withPacedRounds),
}

/** Creates rows for one row of the source: one for each spec, whose name contains the spec if there are several. */
const createSourceRows = (specs: readonly Spec[], name: string, shape: FleetShape, source: RowMetrics): BenchRow[] =>
  withDefault(specs)
    .map(createWorkload(shape))
    .map((one) => ({ ...one, source, name: specs.length > 1 ? `${one.name}: ${name}` : name }))

/** Dialects of the tables about the Mercure protocol, by the names of rows. */
const DIALECTS = {
  '/wait': WAIT_DIALECT,
  Mercure: ONE_MATCHER,
  'Mercure, 3 matchers': THREE_MATCHERS,
  'Mercure, a matcher and 2 patterns': TWO_PATTERNS,
  'Mercure, 100 topics': createTopicsDialect(100),
  'Mercure, private': PRIVATE_DIALECT,
} as const

/**
 * Creates a table of the dialects of the Mercure protocol, compared with `/wait`.
 * @param isPeer true to add Mercure's own hub. At a constant rate it cuts streams, so only one table has it
 */
const createMercureTable = (
  name: string,
  title: string,
  shape: FleetShape,
  columns: string,
  isPeer = false,
): ServiceTable => ({
  name: `mercure-${name}`,
  title: `${title}; with /wait and with Mercure's protocol, one serving thread, one processor`,
  columns: selectStreamColumns(columns),
  // The memory of a stream varies little, and has no ratio.
  ...(shape === MEMORY_SHAPE && { maxRounds: 3 }),
  steps: [
    ...Object.keys(DIALECTS)
      .slice(1)
      .map((way) => [way, '/wait'] as const),
    ...(isPeer ? [['Mercure', mercureHub.name] as const] : []),
  ],
  rows: () => [
    ...Object.entries(DIALECTS).map(([way, dialect]) =>
      withPacedRounds(createRow(way, createServiceTarget(createSpec('sse'), MERCURE_SETTINGS), shape, dialect)),
    ),
    ...(isPeer ? [createRow(mercureHub.name, mercureHub, shape, HUB_DIALECT)] : []),
  ],
})

const mercureTables = [
  createMercureTable(
    'saturation',
    'Deliveries per second: 1,000 streams, 8 publishers that send as soon as they have their reply',
    FAN_OUT_SHAPE,
    'cpu, deliveries, deliveryP50, deliveryP99, faults, memory, generator',
    true,
  ),
  createMercureTable(
    'memory',
    'Memory of a stream: 10,000 streams, 20 values to all',
    MEMORY_SHAPE,
    'perStream, kernel, memory, connects, deliveryP99, faults, rejected',
  ),
  createMercureTable(
    'steady',
    'Values to 1,000 streams at an equal load: 60 % of what the slowest start delivers',
    PACE_SHAPE,
    'cpu, deliveries, rate, capacity, deliveryP50, deliveryP99, query, faults, rejected, memory, lateness',
  ),
]

const connections: ServiceTable = {
  name: 'connections',
  title: "The source's first table: streams opened at a constant rate, one value to all",
  maxRounds: 1,
  columns: selectStreamColumns(
    'grown, source: grown, connecting, source: connecting, sending, source: sending, perStream, received, faults, rejected',
  ),
  rows: (specs) =>
    connectionRows.flatMap(({ name, streams, spacing, values: source }) => {
      const shape = { streams, spacing, sending: { values: 1, interval: 1 }, publishers: 1 }
      return createSourceRows(specs, name, shape, source)
    }),
}

const values: ServiceTable = {
  name: 'values',
  title: "The source's second table: values at a constant rate",
  maxRounds: 1,
  columns: selectStreamColumns(
    'sending, source: sending, query, source: query, rejected, source: rejected, received, deliveryP50, deliveryP99, faults',
  ),
  rows: (specs) =>
    valueRows.flatMap(({ name, streams, count, interval, values: source }) => {
      const shape = { streams, spacing: 0, sending: { values: count, interval }, publishers: PACED_PUBLISHERS }
      return createSourceRows(specs, name, shape, source)
    }),
}

export const tables: readonly ServiceTable[] = [saturation, memory, steady, ...mercureTables, connections, values]
