import { BLOCK_BYTES, BLOCK_ROWS } from '@influencer-stats/prices/core/answer-block'
import { createServerlessTarget } from '../../targets/target.ts'
import { SAMPLE, getCatalogSize, UNIFORM, type CatalogPlan } from '../../load/requests/catalogs.ts'
import { runLookups, type CatalogStorage } from '../../prices/lookups.ts'
import { runMemory } from '../../prices/memory.ts'
import { INDEXES, type IndexName } from '../../load/requests/searches.ts'
import { PINS } from '../../processes.ts'
import { formatHundredth, formatTenth, formatWhole } from '../../report/format-numbers.ts'
import type { RowMetrics, BenchRow } from '../../row.ts'
import type { Spec } from '../../spec.ts'
import type { ServiceTable } from '../../table.ts'

const BYTES_PER_MB = 1e6

/** Measures the memory that a catalog adds to a service with one index. */
async function readMemory(
  catalog: CatalogPlan,
  index: IndexName,
  settings: Spec['settings'] = {},
): Promise<RowMetrics> {
  const drawer = `prices-${catalog.kind === 'uniform' ? 'uniform-' : ''}${index}`
  return { ...(await runMemory({ catalog, drawer, settings: { indexes: index, ...settings }, pin: PINS.server })) }
}

const MEMORY_COLUMNS = {
  heap: 'heap',
  buffers: 'typed and shared buffers',
  roaring: 'roaring',
  caches: "LevelDB's caches",
  sum: { head: 'sum', better: 'less', plot: 'Memory of the catalog (MB)' },
  each: 'bytes/price',
  resident: 'RSS growth',
} as const

/** Size of a cache that holds 10 % of the answers of the sample catalog (bytes), as in a row of the source. */
const CACHE_BYTES = Math.ceil(Math.ceil(getCatalogSize(SAMPLE) / BLOCK_ROWS) / 10) * BLOCK_BYTES

/** A catalog that holds 10 % of its answers in memory. */
const createCachedRow = (index: IndexName, source: number): BenchRow => ({
  ...createMemoryRow(index, 'lru-level', source),
  name: `lru-level, ${index}, cache of 10 %`,
  round: () => readMemory(SAMPLE, index, { catalog: 'lru-level', cacheBytes: String(CACHE_BYTES) }),
})

const createMemoryRow = (index: IndexName, catalog: 'memory' | 'lru-level', source?: number): BenchRow => ({
  name: `${catalog}, ${index}`,
  target: createServerlessTarget(`prices,indexes=${index},catalog=${catalog}`),
  round: () => readMemory(SAMPLE, index, { catalog }),
  ...(source && { source: { sum: source } }),
})

const memory: ServiceTable = {
  name: 'memory',
  title:
    'Memory of a service with the sample catalog and one index, after a garbage collection, minus that of the same service without prices (MB; main and one serving thread; after an import and searches)',
  maxRounds: 1,
  columns: { ...MEMORY_COLUMNS, 'source: sum': 'source: total' },
  rows: () => [
    createMemoryRow('roaring-offering', 'memory'),
    createMemoryRow('roaring', 'memory', 90),
    createMemoryRow('bitset', 'memory'),
    createMemoryRow('map', 'memory', 180),
    createMemoryRow('map-first-match', 'memory'),
    createMemoryRow('roaring-offering', 'lru-level'),
    createMemoryRow('bitset', 'lru-level'),
    createCachedRow('roaring', 12),
  ],
}

const twoMillion: ServiceTable = {
  name: 'two-million',
  title:
    '200 offerings of 10,000 prices with 20 characteristics of 10 values each: imported over HTTP, searched by all 20 (MB as above)',
  maxRounds: 1,
  columns: { load: 'import s', ns: { head: 'search ns', format: formatWhole }, ...MEMORY_COLUMNS },
  rows: () =>
    (['roaring-offering', 'bitset'] as const).map((index) => ({
      name: index,
      target: createServerlessTarget(`prices,indexes=${index}`),
      async round(_running, { duration }) {
        const metrics = await readMemory(UNIFORM, index)
        const plan = { index, catalog: UNIFORM, cases: ['random'] as const, duration, storage: false, pin: PINS.server }
        return { ...metrics, ns: (await runLookups(plan)).cases.random! }
      },
    })),
}

// Memory by part.

const BITMAP_INDEX: IndexName = 'roaring-offering'

const createStorageRow = (
  name: string,
  index: IndexName,
  bytesOf: (storage: CatalogStorage) => { readonly shared: number; readonly own: number },
  source?: RowMetrics,
): BenchRow => ({
  name,
  target: createServerlessTarget(index),
  async round() {
    const plan = { index, catalog: SAMPLE, cases: [], duration: 0, storage: true, pin: PINS.server }
    const { shared, own } = bytesOf((await runLookups(plan)).storage!)
    return { shared: shared / BYTES_PER_MB, own: own / BYTES_PER_MB, each: (shared + own) / getCatalogSize(SAMPLE) }
  },
  source,
})

const toSharedPart = (part: 'answers' | 'ids') => (found: CatalogStorage) => ({ shared: found[part], own: 0 })
/** Memory of the indexes of the source (MB). */
const SOURCE_INDEX_MB: Partial<Record<IndexName, RowMetrics>> = { map: { map: 4.69 }, roaring: { bitmap: 2.67 } }
const createSourceColumn = (what: string) => ({ head: `source: ${what}`, format: String })

const storage: ServiceTable = {
  name: 'storage',
  title: 'Memory of the parts of the sample catalog (MB)',
  maxRounds: 1,
  columns: {
    shared: { head: 'shared by all threads', format: formatHundredth },
    own: { head: 'per thread', format: formatHundredth },
    each: { head: 'bytes/price', format: formatTenth },
    'source: bitmap': createSourceColumn('bitmap'),
    'source: map': createSourceColumn('map'),
  },
  rows: () => [
    createStorageRow('price storage', BITMAP_INDEX, toSharedPart('answers'), { bitmap: 57, map: 153 }),
    createStorageRow('ids', BITMAP_INDEX, toSharedPart('ids'), { bitmap: 22, map: 22 }),
    createStorageRow('row of an id (main alone)', BITMAP_INDEX, ({ idTable }) => ({ shared: 0, own: idTable }), {
      bitmap: 7.44,
      map: 0,
    }),
    ...INDEXES.map((index) => createStorageRow(`index ${index}`, index, (found) => found, SOURCE_INDEX_MB[index])),
  ],
}

export const tables: readonly ServiceTable[] = [storage, memory, twoMillion]
