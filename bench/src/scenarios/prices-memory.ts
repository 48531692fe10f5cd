import { SAMPLE, UNIFORM, type CatalogPlan } from '../prices/catalogs.ts'
import { runImport } from '../prices/import.ts'
import { runLookups } from '../prices/lookups.ts'
import { startMemoryProbe, type Held } from '../prices/memory-probe.ts'
import { searchFor } from '../prices/search-for.ts'
import type { IndexName } from '../prices/searches.ts'
import { PINS, residentMegabytes } from '../processes.ts'
import type { Figures, TrialRow } from '../trial-row.ts'
import type { TrialScenario } from './scenario.ts'

const MEGA = 1e6

/** What LevelDB may keep of its own, as the service configures it: blocks read, and a table in the making. */
const LEVEL_CACHES = 1_048_576 + 2_097_152

const sumOf = ({ heap, buffers, roaring }: Held) => heap + buffers + roaring

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

export const memoryTable: TrialScenario = {
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

export const twoMillionTable: TrialScenario = {
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
