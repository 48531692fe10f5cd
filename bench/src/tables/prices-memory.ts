import { noServer } from '../contenders/contender.ts'
import { SAMPLE, sizeOf, UNIFORM, type CatalogPlan } from '../prices/catalogs.ts'
import { runLookups, type Storage } from '../prices/lookups.ts'
import { runMemory } from '../prices/memory.ts'
import { INDEXES, type IndexName } from '../prices/searches.ts'
import { PINS } from '../processes.ts'
import { hundredth, tenth, whole } from '../report/numbers.ts'
import type { Figures, Row } from '../row.ts'
import type { Spec } from '../spec.ts'
import type { OwnTable } from './table.ts'

const MEGA = 1e6

/** What a service with one index holds more with a catalog. */
async function memoryOf(catalog: CatalogPlan, index: IndexName, settings: Spec['settings'] = {}): Promise<Figures> {
  const drawer = `prices-${catalog.kind === 'uniform' ? 'uniform-' : ''}${index}`
  return { ...(await runMemory({ catalog, drawer, settings: { indexes: index, ...settings }, pin: PINS.server })) }
}

const HELD = {
  heap: 'heap',
  buffers: 'typed and shared buffers',
  roaring: 'roaring',
  caches: "LevelDB's caches",
  sum: { head: 'sum', better: 'less', plot: 'What the catalog takes (MB)' },
  each: 'bytes a price',
  resident: 'RSS growth',
} as const

const held = (index: IndexName, catalog: 'memory' | 'lru-level', source?: number): Row => ({
  name: `${catalog}, ${index}`,
  contender: noServer(`prices,indexes=${index},catalog=${catalog}`),
  round: () => memoryOf(SAMPLE, index, { catalog }),
  ...(source && { source: { sum: source } }),
})

const memory: OwnTable = {
  name: 'memory',
  title:
    'What a service holds with the sample catalog and one index, after a collection, more than the same service without prices (MB; main and one serving thread; just imported and searched)',
  mostRounds: 1,
  columns: { ...HELD, 'source: sum': 'source: total' },
  rows: () => [
    held('roaring-offering', 'memory', 90),
    held('roaring', 'memory'),
    held('bitset', 'memory'),
    held('map', 'memory', 180),
    held('map-first-match', 'memory'),
    // With the source's LRU at 10 % of its prices.
    held('roaring-offering', 'lru-level', 12),
    held('bitset', 'lru-level'),
  ],
}

const twoMillion: OwnTable = {
  name: 'two-million',
  title:
    '200 offerings of 10,000 prices with 20 characteristics of 10 values each: imported over HTTP, searched by all 20 (MB as above)',
  mostRounds: 1,
  columns: { load: 'import s', ns: { head: 'search ns', format: whole }, ...HELD },
  rows: () =>
    (['roaring-offering', 'bitset'] as const).map((index) => ({
      name: index,
      contender: noServer(`prices,indexes=${index}`),
      async round(_running, { duration }) {
        const figures = await memoryOf(UNIFORM, index)
        const plan = { index, catalog: UNIFORM, cases: ['random'] as const, duration, storage: false, pin: PINS.server }
        return { ...figures, ns: (await runLookups(plan)).cases.random! }
      },
    })),
}

// Taken apart.

const BITMAP: IndexName = 'roaring-offering'

const stored = (
  name: string,
  index: IndexName,
  bytesOf: (storage: Storage) => { readonly shared: number; readonly own: number },
  source?: Figures,
): Row => ({
  name,
  contender: noServer(index),
  async round() {
    const plan = { index, catalog: SAMPLE, cases: [], duration: 0, storage: true, pin: PINS.server }
    const { shared, own } = bytesOf((await runLookups(plan)).storage!)
    return { shared: shared / MEGA, own: own / MEGA, each: (shared + own) / sizeOf(SAMPLE) }
  },
  source,
})

const shared = (part: 'answers' | 'ids') => (found: Storage) => ({ shared: found[part], own: 0 })
/** MB. */
const INDEX_AT_SOURCE: Partial<Record<IndexName, Figures>> = { map: { map: 4.69 }, roaring: { bitmap: 2.67 } }
const ofSource = (what: string) => ({ head: `source: ${what}`, format: String })

const storage: OwnTable = {
  name: 'storage',
  title: 'What the parts of the sample catalog take (MB)',
  mostRounds: 1,
  columns: {
    shared: { head: 'shared by all threads', format: hundredth },
    own: { head: "a thread's own", format: hundredth },
    each: { head: 'bytes a price', format: tenth },
    'source: bitmap': ofSource('bitmap'),
    'source: map': ofSource('map'),
  },
  rows: () => [
    stored('price storage', BITMAP, shared('answers'), { bitmap: 57, map: 153 }),
    stored('ids', BITMAP, shared('ids'), { bitmap: 22, map: 22 }),
    stored('row of an id (main alone)', BITMAP, ({ idTable }) => ({ shared: 0, own: idTable }), {
      bitmap: 7.44,
      map: 0,
    }),
    ...INDEXES.map((index) => stored(`index ${index}`, index, (found) => found, INDEX_AT_SOURCE[index])),
  ],
}

export const tables: readonly OwnTable[] = [storage, memory, twoMillion]
