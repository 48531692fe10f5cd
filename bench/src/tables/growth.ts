import { kvContender } from '../contenders/kv.ts'
import { serviceContender } from '../contenders/service.ts'
import { openFilesLimit } from '../load/fleet/limits.ts'
import { FULL, SIZES, tried } from '../load/requests/kv-entries.ts'
import type { LoadRequest } from '../load/load.ts'
import { DIALECT, type Dialect } from '../load/fleet/plan.ts'
import { GROWN, sizeOf } from '../prices/catalogs.ts'
import { runImport } from '../prices/import.ts'
import { PINS } from '../processes.ts'
import type { Columns } from '../report/columns.ts'
import { tenth, whole } from '../report/numbers.ts'
import { streaming, STREAMS } from '../rounds/fleet.ts'
import { asked, asking, REQUESTS } from '../rounds/requests.ts'
import type { Figures, Row } from '../row.ts'
import { specOf, type Spec } from '../spec.ts'
import { climbing, keepsUp, load } from './kv-trials.ts'
import { onBase } from './kv.ts'
import { searching } from './prices.ts'
import { makeMany, readsOf, sample, read } from './stats.ts'
import type { Table } from './table.ts'

/** A row of a table that grows: its size is a figure, and how long its contender took to be ready. */
const ofSize = (row: Row, series: string, size: number): Row => ({
  ...row,
  name: `${series}, ${whole(size)}`,
  async round(running, how) {
    const figures: Figures = await row.round(running, how)
    return { ...figures, size, ...(running.readyIn !== undefined && { start: running.readyIn }) }
  },
})

const START: Columns = {
  start: { head: 'ready in ms', format: whole, plot: 'From the start of its process until it answers (ms)' },
}

const growth = (
  service: string,
  name: string,
  title: string,
  rows: () => Row[],
  columns: Columns = { ...REQUESTS, ...START },
): Table => ({
  service,
  name: `growth-${name}`,
  title,
  when: 'growth',
  against: 'size',
  columns,
  rows,
})

// stats

const stats = (settings: Spec['settings'] = {}) => read(specOf('stats', '', settings))

const collections = (count: number): Row =>
  ofSize(
    { ...stats(), ...asked({ ...readsOf(count), connections: 64 }, (running) => makeMany(running, count)) },
    'v8',
    count,
  )

// kv

const kv = specOf('kv')
/** Puts a second that come beside reads. */
const BESIDE = [0, 1_000, 5_000, 10_000]

const onKeys = (method: 'GET' | 'PUT', entries: number) =>
  ofSize(onBase({ method, entries, connections: 64 }, kvContender(kv, entries)), method, entries)

function besideWrites(rate: number): Row {
  const reads = onBase({ method: 'GET', entries: FULL, connections: 64 }, kvContender(kv, FULL))
  const writes = { method: 'PUT', entries: FULL, connections: 16 } as const
  const round: Row['round'] = async (running, how) => {
    const both = { duration: 3 * how.duration + 2 * how.warmUp, warmUp: 0, rate }
    const beside = rate > 0 ? load(running, writes, both) : undefined
    const [figures, put] = await Promise.all([reads.round(running, how), beside])
    if (!put) return figures
    keepsUp(put, rate)
    return { ...figures, written: put.perSecond }
  }
  return ofSize({ ...reads, round }, 'GET beside PUT', rate)
}

// sse

const streams = (series: string, size: number, count = 1_000, dialect: Dialect = DIALECT, settings = {}): Row => {
  const fleet = { streams: count, spacing: 0, sending: 'saturate', publishers: 8, dialect } as const
  const contender = serviceContender(specOf('sse', '', settings))
  return ofSize({ name: '', contender, ...streaming(fleet, `${whole(count)} streams`) }, series, size)
}

/** As many as the open files of this machine's processes allow, beside those that they need themselves. */
const MOST_STREAMS = Math.min(50_000, openFilesLimit() - 200)

const to = (request: LoadRequest, more: string): LoadRequest => ({ ...request, path: request.path + more })

/** Every stream listens to so many topics, one of which is sent to. */
const onTopics = (count: number): Dialect => {
  const topics = Array.from({ length: count }, (_, i) => `&topic=t${i}`).join('')
  return { ...DIALECT, wait: to(DIALECT.wait, topics), put: to(DIALECT.put, '&topic=t0') }
}
/** Values of so many bytes. */
const ofBytes = (bytes: number): Dialect => {
  const more = 'x'.repeat(bytes)
  return { ...DIALECT, put: to(DIALECT.put, more), around: ['', more], echoes: false }
}

const FLEETS: Columns = {
  cpu: STREAMS.cpu,
  deliveries: STREAMS.deliveries,
  deliveryP99: STREAMS.deliveryP99,
  perStream: STREAMS.perStream,
  kernel: STREAMS.kernel,
  memory: { ...STREAMS.memory, plot: 'Resident memory (MB)' },
  generator: STREAMS.generator,
}

// prices

const prices = (offerings: number): Row => {
  const catalog = { kind: 'sample', offerings } as const
  const row: Row = {
    name: '',
    contender: serviceContender(specOf('prices'), { sample: 'no' }),
    prepare: async ({ url }) => void (await runImport({ url, catalog, pin: PINS.client })),
    ...asking(searching(`prices-of-${offerings}`, 20)),
  }
  return ofSize(row, 'search', sizeOf(catalog))
}

export const tables: readonly Table[] = [
  growth('stats', 'collections', 'Reads of as many collections in turn, 64 connections', () =>
    tried([10, 100, 1_000, 10_000, 100_000]).map(collections),
  ),
  growth(
    'stats',
    'connections',
    'Reads of one collection over as many connections, each of which asks again at once; none is refused (`--max-queue-delay 0`)',
    () =>
      [1, 10, 100, 1_000, 10_000].map((count) =>
        ofSize({ ...stats({ maxQueueDelay: '0' }), ...asking(sample(count)) }, 'v8', count),
      ),
  ),
  growth(
    'stats',
    'threads',
    'Reads of one collection, 64 connections, by as many serving threads on one processor',
    () =>
      [1, 2, 4].map((count) => ofSize({ ...stats({ threads: String(count) }), ...asking(sample(64)) }, 'v8', count)),
  ),
  growth(
    'kv',
    'keys',
    'Random ids of a base of as many entries, 64 connections; ready on the base as it lies there',
    () => (['GET', 'PUT'] as const).flatMap((method) => SIZES.map((entries) => onKeys(method, entries))),
  ),
  growth(
    'kv',
    'rates',
    'The highest rate with p99 under 100 ms as the base grows, 64 connections',
    () =>
      (['GET', 'PUT'] as const).flatMap((method) =>
        SIZES.map((entries) => ofSize(climbing({ method, entries, connections: 64 }), method, entries)),
      ),
    { rate: { head: 'stable/s', format: whole, plot: 'Stable requests a second' }, p50: 'p50 ms', p99: 'p99 ms' },
  ),
  growth(
    'kv',
    'writes',
    'Reads of a full base beside as many writes a second, whose processor time is in that of reads',
    () => BESIDE.map(besideWrites),
    // Fewer than are asked for where a machine cannot do as many.
    { written: { head: 'PUT/s', format: whole }, ...REQUESTS, ...START },
  ),
  growth(
    'sse',
    'streams',
    'Deliveries to as many streams, at most what the open files of a process allow; 8 publishers that send as soon as they have their reply',
    () => [...new Set([10, 100, 1_000, 10_000, MOST_STREAMS])].map((count) => streams('default', count, count)),
    FLEETS,
  ),
  growth(
    'sse',
    'topics',
    'Deliveries of one topic to 1,000 streams that listen to as many',
    () => [1, 10, 100].map((count) => streams('default', count, 1_000, onTopics(count))),
    FLEETS,
  ),
  growth(
    'sse',
    'history',
    'Deliveries to 1,000 streams with as many values remembered',
    () =>
      [10, 100, 1_000, 10_000].map((count) => streams('ring', count, 1_000, DIALECT, { historyCount: String(count) })),
    FLEETS,
  ),
  growth(
    'sse',
    'values',
    'Deliveries of values with as many more bytes to 1,000 streams',
    () => [10, 100, 1_000, 4_000].map((bytes) => streams('default', bytes, 1_000, ofBytes(bytes))),
    FLEETS,
  ),
  growth(
    'prices',
    'prices',
    'One search a request among as many prices, imported into an empty service, 20 connections',
    () => GROWN.map(prices),
    { ...REQUESTS, memory: { head: 'RSS MB', format: tenth, plot: 'Resident memory (MB)' } },
  ),
]
