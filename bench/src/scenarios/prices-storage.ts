import { SAMPLE, sizeOf } from '../prices/catalogs.ts'
import { runLookups, type Storage } from '../prices/lookups.ts'
import { INDEXES, type IndexName } from '../prices/searches.ts'
import { PINS } from '../processes.ts'
import type { Figures, TrialRow } from '../trial-row.ts'
import type { TrialScenario } from './scenario.ts'

const MEGA = 1e6

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

export const storageTable: TrialScenario = {
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
