import { BLOCK_BYTES, BLOCK_ROWS } from '@influencer-stats/prices/core/answers'
import { serviceContender } from '../contenders/service.ts'
import { createRaw } from '../load/raw.ts'
import { SAMPLE, sizeOf, UNIFORM, type CatalogPlan } from '../prices/catalogs.ts'
import { runImport } from '../prices/import.ts'
import { runLookups, type Storage } from '../prices/lookups.ts'
import { startMemoryProbe, type Held } from '../prices/memory-probe.ts'
import { INDEXES, type IndexName } from '../prices/searches.ts'
import { PINS, processorSeconds, residentMegabytes } from '../processes.ts'
import type { Figures, TrialRow } from '../trial-row.ts'
import type { TrialsAsked, TrialScenario } from './scenario.ts'

const MEGA = 1e6
const raw = createRaw()
const CONNECTIONS = 20

/** What LevelDB may keep of its own, as the service configures it: blocks read, and a table in the making. */
const LEVEL_CACHES = 1_048_576 + 2_097_152

// What lies where.

const megabytes = (bytes: number) => (bytes / MEGA).toFixed(2)

const BITMAP: IndexName = 'roaring-offering'
/** MB. */
const INDEX_AT_SOURCE: Partial<Record<IndexName, Figures>> = { map: { map: '4.69' }, roaring: { bitmap: '2.67' } }

type StorageOf = (index: IndexName) => Promise<Storage>

/** Makes the sample catalog and an index, once for all rows. */
function createStorageOf(): StorageOf {
  const known = new Map<IndexName, Promise<Storage>>()
  return (index) => {
    const plan = { index, catalog: SAMPLE, cases: [], rounds: 0, duration: 0, storage: true, pin: PINS.server }
    if (!known.has(index))
      known.set(
        index,
        runLookups(plan).then(({ storage }) => storage!),
      )
    return known.get(index)!
  }
}

const storageRow = (
  name: string,
  index: IndexName,
  storageOf: StorageOf,
  bytesOf: (storage: Storage) => { shared: number; own: number },
  source?: Figures,
): TrialRow => ({
  name,
  contender: index,
  async run() {
    const { shared, own } = bytesOf(await storageOf(index))
    const bytes = (shared + own) / sizeOf(SAMPLE)
    return { shared: megabytes(shared), own: megabytes(own), each: bytes.toFixed(1) }
  },
  source,
})

const storage: TrialScenario = {
  service: 'prices',
  name: 'storage',
  title: 'What the parts of the sample catalog take (MB)',
  full: true,
  columns: {
    shared: 'shared by all threads',
    own: "a thread's own",
    each: 'bytes a price',
    'source: bitmap': 'source: bitmap',
    'source: map': 'source: map',
  },
  trials: () => {
    const storageOf = createStorageOf()
    const shared = (part: 'answers' | 'ids') => (found: Storage) => ({ shared: found[part], own: 0 })
    const own = ({ idTable }: Storage) => ({ shared: 0, own: idTable })
    return [
      storageRow('price storage', BITMAP, storageOf, shared('answers'), { bitmap: '57', map: '153' }),
      storageRow('ids', BITMAP, storageOf, shared('ids'), { bitmap: '22', map: '22' }),
      storageRow('row of an id (main alone)', BITMAP, storageOf, own, { bitmap: '7.44', map: '0' }),
      ...INDEXES.map((index) =>
        storageRow(`index ${index}`, index, storageOf, (found) => found, INDEX_AT_SOURCE[index]),
      ),
    ]
  },
}

// The whole service.

const sumOf = ({ heap, buffers, roaring }: Held) => heap + buffers + roaring

async function searchFor(seconds: number, url: string, drawer: string) {
  const plan = { url, requests: { drawer }, expect: { status: 200 }, connections: CONNECTIONS }
  const result = await raw.run({ ...plan, duration: seconds, warmUp: 0, pin: PINS.client })
  if (result.wrong + result.errors > 0) throw new Error(`${result.wrong} wrong replies, ${result.errors} missing`)
  return result
}

/** Imports a catalog into an empty service, searches it, and tells what it holds more than before. */
async function memoryOf(
  catalog: CatalogPlan,
  index: IndexName,
  settings: Readonly<Record<string, string>>,
  say: (what: string) => void,
): Promise<{ readonly figures: Figures; readonly seconds: number }> {
  const probe = await startMemoryProbe({ indexes: index, ...settings })
  try {
    const drawer = `prices-${catalog.kind === 'uniform' ? 'uniform-' : ''}${index}`
    const [empty, emptyResident] = [await probe.held(), residentMegabytes(probe.pid)]
    say('import')
    const { seconds, prices } = await runImport({ url: probe.url, catalog, pin: PINS.client })
    say('search')
    await searchFor(1, probe.url, drawer)
    const resident = residentMegabytes(probe.pid)
    const held = await probe.held()
    const bytes = sumOf(held) - sumOf(empty) + LEVEL_CACHES
    return {
      seconds,
      figures: {
        heap: (held.heap - empty.heap) / MEGA,
        buffers: (held.buffers - empty.buffers) / MEGA,
        roaring: (held.roaring - empty.roaring) / MEGA,
        caches: LEVEL_CACHES / MEGA,
        sum: bytes / MEGA,
        each: Math.round(bytes / prices),
        resident: resident - emptyResident,
      },
    }
  } finally {
    await probe.stop()
  }
}

const HELD = {
  heap: 'heap',
  buffers: 'typed and shared buffers',
  roaring: 'roaring',
  caches: "LevelDB's caches",
  sum: 'sum',
  each: 'bytes a price',
  resident: 'RSS growth',
} as const

const memoryRow = (
  index: IndexName,
  catalog: 'memory' | 'lru-level',
  source?: Figures,
  settings: Readonly<Record<string, string>> = {},
): TrialRow => ({
  name: `${catalog}, ${index}`,
  contender: `prices,indexes=${index},catalog=${catalog}`,
  run: async (say) => (await memoryOf(SAMPLE, index, { catalog, ...settings }, say)).figures,
  source,
})

const memory: TrialScenario = {
  service: 'prices',
  name: 'memory',
  title:
    'What a service holds with the sample catalog and one index, after a collection, more than the same service without prices (MB; main and one serving thread; just imported and searched)',
  full: true,
  columns: { ...HELD, 'source: sum': 'source: total' },
  trials: () => [
    memoryRow('roaring-offering', 'memory', { sum: 90 }),
    memoryRow('roaring', 'memory'),
    memoryRow('bitset', 'memory'),
    memoryRow('map', 'memory', { sum: 180 }),
    memoryRow('map-first-match', 'memory'),
    // With the source's LRU at 10 % of its prices.
    memoryRow('roaring-offering', 'lru-level', { sum: 12 }),
    memoryRow('bitset', 'lru-level'),
  ],
}

// Less than all of it in memory.

const BLOCKS = Math.ceil(sizeOf(SAMPLE) / BLOCK_ROWS)
const SHARES = [0.1, 0.25, 0.5, 0.75, 1]
/** The old space of each thread's heap (MB); the serving one holds 17 between requests. */
const HEAPS = [64, 32]

interface Limited {
  readonly name: string
  readonly settings: Readonly<Record<string, string>>
  readonly env?: Readonly<Record<string, string>>
  /** What of the answers is in memory (bytes). */
  readonly kept: number
}

const everything: Limited = { name: 'memory', settings: {}, kept: BLOCKS * BLOCK_BYTES }

const limits: readonly Limited[] = [
  everything,
  ...SHARES.map((share) => {
    const kept = Math.ceil(BLOCKS * share) * BLOCK_BYTES
    const settings = { catalog: 'lru-level', cacheBytes: String(kept) }
    return { name: `lru-level, cache of ${Math.round(share * 100)} %`, settings, kept }
  }),
  ...HEAPS.map((heap) => ({
    ...everything,
    name: `memory, heap of at most ${heap} MB`,
    env: { NODE_OPTIONS: `--max-old-space-size=${heap}` },
  })),
]

async function limited(
  { settings, env, kept }: Limited,
  { duration }: TrialsAsked,
): Promise<{ readonly figures: Figures; readonly cpu: number }> {
  const spec = { service: 'prices', variant: '', settings: {} }
  const running = await serviceContender(spec, settings, { env }).start()
  try {
    const drawer = 'prices-roaring-offering'
    await searchFor(duration, running.url, drawer)
    const before = processorSeconds(running.pid)
    const { perSecond, latency, requests } = await searchFor(duration, running.url, drawer)
    const cpu = ((processorSeconds(running.pid) - before) * MEGA) / requests
    return {
      cpu,
      figures: {
        kept: kept / MEGA,
        cpu,
        perSecond,
        p50: latency.p50,
        p99: latency.p99,
        max: latency.max,
        resident: residentMegabytes(running.pid),
      },
    }
  } finally {
    await running.stop()
  }
}

const pressure: TrialScenario = {
  service: 'prices',
  name: 'limits',
  title:
    'Random searches with part of the answers in memory, and with a limited heap: 20 connections, one serving thread, closed loop (us)',
  full: true,
  columns: {
    kept: 'answers in memory MB',
    cpu: 'CPU us/request',
    more: 'more than with all in memory us',
    perSecond: 'requests/s',
    p50: 'p50',
    p99: 'p99',
    max: 'max',
    resident: 'RSS MB',
  },
  trials: (asked) => {
    let all = NaN
    return limits.map((one) => ({
      name: one.name,
      contender: 'prices',
      async run() {
        const { figures, cpu } = await limited(one, asked)
        if (one === everything) all = cpu
        return { ...figures, more: cpu - all }
      },
    }))
  },
}

// 2 million.

const large: TrialScenario = {
  service: 'prices',
  name: 'two-million',
  title:
    '200 offerings of 10,000 prices with 20 characteristics of 10 values each: imported over HTTP, searched by all 20 (MB as above)',
  full: true,
  columns: { load: 'import s', ns: 'search ns (fastest-slowest)', ...HELD },
  trials: ({ rounds, duration }) =>
    (['roaring-offering', 'bitset'] as const).map((index) => ({
      name: index,
      contender: `prices,indexes=${index}`,
      async run(say) {
        const { figures, seconds } = await memoryOf(UNIFORM, index, {}, say)
        say('look-ups')
        const plan = { index, catalog: UNIFORM, cases: ['random'] as const, rounds, duration, storage: false }
        const { median, min, max } = (await runLookups({ ...plan, pin: PINS.server })).cases.random!
        const ns = `${Math.round(median)} (${Math.round(min)}-${Math.round(max)})`
        return { load: seconds, ns, ...figures }
      },
    })),
}

export const memoryScenarios: readonly TrialScenario[] = [storage, memory, pressure, large]
