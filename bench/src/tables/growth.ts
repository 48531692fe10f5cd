import { createKvTarget } from '../targets/kv.ts'
import { createServiceTarget } from '../targets/service.ts'
import { getOpenFilesLimit } from '../load/fleet/open-files.ts'
import { FULL_BASE_ENTRIES, BASE_SIZES, limitSizes } from '../load/requests/kv-entries.ts'
import type { LoadRequest } from '../load/load-plan.ts'
import { DEFAULT_DIALECT, type Dialect } from '../load/fleet/fleet-plan.ts'
import { GROWTH_OFFERINGS, getCatalogSize } from '../load/requests/catalogs.ts'
import { runImport } from '../prices/catalog-import.ts'
import { PINS } from '../processes.ts'
import type { Columns } from '../report/columns.ts'
import { formatTenth, formatWhole } from '../report/format-numbers.ts'
import { createStreamRound, STREAM_COLUMNS } from '../rounds/fleet-round.ts'
import { createCheckedRound, createRequestRound, REQUEST_COLUMNS } from '../rounds/request-round.ts'
import type { RowMetrics, BenchRow } from '../row.ts'
import { createSpec, type Spec } from '../spec.ts'
import { runKvLoad } from './kv-trials.ts'
import { createBaseRow } from './kv.ts'
import { createSearches } from './prices/prices.ts'
import { makeCollections, createReads, createSampleReads, read } from './stats.ts'
import type { BenchTable } from '../table.ts'

/** Adds the size of a row and the start time of its target to its metrics. */
const createSizeRow = (row: BenchRow, series: string, size: number): BenchRow => ({
  ...row,
  name: `${series}, ${formatWhole(size)}`,
  async round(running, how) {
    const metrics: RowMetrics = await row.round(running, how)
    return { ...metrics, size, ...(running.readyAfterMs !== undefined && { start: running.readyAfterMs }) }
  },
})

const START_COLUMNS: Columns = {
  start: { head: 'ready in ms', format: formatWhole, plot: 'Time from the start of the process until it answers (ms)' },
}

const createGrowthTable = (
  service: string,
  name: string,
  title: string,
  rows: () => BenchRow[],
  columns: Columns = { ...REQUEST_COLUMNS, ...START_COLUMNS },
): BenchTable => ({
  service,
  name: `growth-${name}`,
  title,
  when: 'growth',
  against: 'size',
  columns,
  rows,
})

// stats

const createStatsRow = (settings: Spec['settings'] = {}) => read(createSpec('stats', '', settings))

const createReadsRow = (settings: Spec['settings'], connections: number, size: number) =>
  createSizeRow({ ...createStatsRow(settings), ...createRequestRound(createSampleReads(connections)) }, 'v8', size)

const createCollectionsRow = (count: number): BenchRow =>
  createSizeRow(
    {
      ...createStatsRow(),
      ...createCheckedRound({ ...createReads(count), connections: 64 }, (running) => makeCollections(running, count)),
    },
    'v8',
    count,
  )

// kv

const kv = createSpec('kv')
/** Puts per second during the reads. */
const WRITE_RATES = [0, 1_000, 5_000, 10_000]

const createKeysRow = (method: 'GET' | 'PUT', entries: number) =>
  createSizeRow(createBaseRow({ method, entries, connections: 64 }, createKvTarget(kv, entries)), method, entries)

function createReadWriteRow(rate: number): BenchRow {
  const reads = createBaseRow(
    { method: 'GET', entries: FULL_BASE_ENTRIES, connections: 64 },
    createKvTarget(kv, FULL_BASE_ENTRIES),
  )
  const writes = { method: 'PUT', entries: FULL_BASE_ENTRIES, connections: 16 } as const
  const round: BenchRow['round'] = async (running, how) => {
    const both = { duration: 2 * (how.duration + how.warmUp), warmUp: 0, rate }
    const writeLoad = rate > 0 ? runKvLoad(running, writes, both) : undefined
    const [metrics, put] = await Promise.all([reads.round(running, how), writeLoad])
    if (!put) return metrics
    if (put.errors > 0 && put.perSecond >= rate) throw new Error(`${put.errors} writes got no reply`)
    // The reached rate may be lower: the table states it.
    return { ...metrics, written: put.perSecond }
  }
  return createSizeRow({ ...reads, round }, 'GET during PUT', rate)
}

// sse

const createStreamsRow = (
  series: string,
  size: number,
  count = 1_000,
  dialect: Dialect = DEFAULT_DIALECT,
  settings = {},
): BenchRow => {
  const fleet = { streams: count, spacing: 0, sending: 'saturate', publishers: 8, dialect } as const
  const target = createServiceTarget(createSpec('sse', '', settings))
  return createSizeRow({ name: '', target, ...createStreamRound(fleet, `${formatWhole(count)} streams`) }, series, size)
}

/** Maximum number of streams: the limit of open files of a process, minus the files that the process itself needs. */
const MAX_STREAMS = Math.min(50_000, getOpenFilesLimit() - 200)

const appendPath = (request: LoadRequest, more: string): LoadRequest => ({ ...request, path: request.path + more })

/** Creates a dialect in which each stream subscribes to `count` topics. Values go to one of them. */
const createTopicsDialect = (count: number): Dialect => {
  const topics = Array.from({ length: count }, (_, i) => `&topic=t${i}`).join('')
  return {
    ...DEFAULT_DIALECT,
    wait: appendPath(DEFAULT_DIALECT.wait, topics),
    put: appendPath(DEFAULT_DIALECT.put, '&topic=t0'),
  }
}
/** Creates a dialect in which values are larger by `bytes` bytes. */
const createBytesDialect = (bytes: number): Dialect => {
  const more = 'x'.repeat(bytes)
  return { ...DEFAULT_DIALECT, put: appendPath(DEFAULT_DIALECT.put, more), around: ['', more], echoes: false }
}

const FLEET_COLUMNS: Columns = {
  cpu: STREAM_COLUMNS.cpu,
  deliveries: STREAM_COLUMNS.deliveries,
  deliveryP99: STREAM_COLUMNS.deliveryP99,
  perStream: STREAM_COLUMNS.perStream,
  kernel: STREAM_COLUMNS.kernel,
  memory: { ...STREAM_COLUMNS.memory, plot: 'Resident memory (MB)' },
  generator: STREAM_COLUMNS.generator,
}

// prices

const createPricesRow = (offerings: number): BenchRow => {
  const catalog = { kind: 'sample', offerings } as const
  const row: BenchRow = {
    name: '',
    target: createServiceTarget(createSpec('prices'), { sample: 'no' }),
    prepare: async ({ url }) => void (await runImport({ url, catalog, pin: PINS.client })),
    ...createRequestRound(createSearches(`prices-of-${offerings}`, 20)),
  }
  return createSizeRow(row, 'search', getCatalogSize(catalog))
}

export const tables: readonly BenchTable[] = [
  createGrowthTable('stats', 'collections', 'Reads of collections in turn, by their number; 64 connections', () =>
    limitSizes([10, 100, 1_000, 10_000, 100_000]).map(createCollectionsRow),
  ),
  createGrowthTable(
    'stats',
    'connections',
    'Reads of one collection, by the number of connections, each of which sends its next request immediately; no request is refused (`--max-queue-delay 0`)',
    () => [1, 10, 100, 1_000, 10_000].map((count) => createReadsRow({ maxQueueDelay: '0' }, count, count)),
  ),
  createGrowthTable(
    'stats',
    'threads',
    'Reads of one collection, 64 connections, by the number of serving threads on one processor',
    () => [1, 2, 4].map((count) => createReadsRow({ threads: String(count) }, 64, count)),
  ),
  createGrowthTable(
    'kv',
    'keys',
    'Random ids of a base, by its number of entries; 64 connections; ready with the existing base',
    () => (['GET', 'PUT'] as const).flatMap((method) => BASE_SIZES.map((entries) => createKeysRow(method, entries))),
  ),
  createGrowthTable(
    'kv',
    'writes',
    'Reads of a full base during writes, by writes per second; the processor time of reads includes that of writes',
    () => WRITE_RATES.map(createReadWriteRow),
    // The rate is lower than requested if the machine cannot reach it.
    { written: { head: 'PUT/s', format: formatWhole }, ...REQUEST_COLUMNS, ...START_COLUMNS },
  ),
  createGrowthTable(
    'sse',
    'streams',
    'Deliveries by the number of streams, up to the limit of open files of a process; 8 publishers that send as soon as they have their reply',
    () => [...new Set([10, 100, 1_000, 10_000, MAX_STREAMS])].map((count) => createStreamsRow('default', count, count)),
    FLEET_COLUMNS,
  ),
  createGrowthTable(
    'sse',
    'topics',
    'Deliveries of one topic to 1,000 streams, by the number of topics of each stream',
    () => [1, 10, 100].map((count) => createStreamsRow('default', count, 1_000, createTopicsDialect(count))),
    FLEET_COLUMNS,
  ),
  createGrowthTable(
    'sse',
    'history',
    'Deliveries to 1,000 streams, by the number of stored values',
    () =>
      [10, 100, 1_000, 10_000].map((count) =>
        createStreamsRow('ring', count, 1_000, DEFAULT_DIALECT, { historyCount: String(count) }),
      ),
    FLEET_COLUMNS,
  ),
  createGrowthTable(
    'sse',
    'values',
    'Deliveries to 1,000 streams, by the additional bytes of a value',
    () => [10, 100, 1_000, 4_000].map((bytes) => createStreamsRow('default', bytes, 1_000, createBytesDialect(bytes))),
    FLEET_COLUMNS,
  ),
  createGrowthTable(
    'prices',
    'prices',
    'One search per request, by the number of prices that an empty service has imported; 20 connections',
    () => GROWTH_OFFERINGS.map(createPricesRow),
    { ...REQUEST_COLUMNS, memory: { head: 'RSS MB', format: formatTenth, plot: 'Resident memory (MB)' } },
  ),
]
