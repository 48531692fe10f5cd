import type { Segments } from '@influencer-stats/prices/index/price-index'
import { prices } from '@influencer-stats/prices/service'
import { embed } from '@influencer-stats/runtime/embed'
import { createProcessRunner } from '../load/common/process-runner.ts'
import { runRaw } from '../load/raw.ts'
import { PINS, getResidentMegabytes } from '../processes.ts'
import { createTemporaryFolder } from '../temporary-folder.ts'
import { collectAll, inspectThreads } from '../thread-inspectors.ts'
import type { CatalogPlan } from '../load/requests/catalogs.ts'
import { runImport } from './catalog-import.ts'

/** A measurement of memory: a catalog is imported into an empty service with one serving thread, and then searched. */
export interface MemoryPlan {
  readonly catalog: CatalogPlan
  /** Name of the drawer of the searches. */
  readonly drawer: string
  readonly settings: Readonly<Record<string, string>>
}

/** Maximum duration of a run (s), with the import of 2 million rows. */
const MAX_RUN_S = 900
const SERVICES_URL = new URL('../../../services.ts', import.meta.url).href
const BYTES_PER_MB = 1e6
/** Memory of LevelDB as the service configures it: block cache and write buffer (bytes). */
const LEVEL_CACHE_BYTES = 1_048_576 + 2_097_152

/** State that main passes to every thread. */
type CatalogState = () => { readonly segments: ReadonlyMap<string, Segments> }

/**
 * Runs the service in this process, and returns the growth of its memory by the catalog, after garbage collections
 * (MB):
 * - `heap`: JavaScript heaps of the main thread and the serving thread
 * - `buffers`: typed arrays and buffers, including shared ones
 * - `roaring`: frozen bitmaps, which are outside of both
 * - `caches`: maximum of the caches of LevelDB
 * - `sum`: all of these; `each`: the sum per price (bytes)
 * - `resident`: growth of resident memory after the searches
 *
 * Also returns `load`: the duration of the import (s).
 */
export async function measureMemory({ catalog, drawer, settings }: MemoryPlan) {
  const threads = inspectThreads()
  let state: CatalogState
  const observedPrices: typeof prices = {
    ...prices,
    async open(context) {
      const opened = await prices.open(context)
      const shared = opened.shared as () => { readonly state: ReturnType<CatalogState> }
      state = () => shared().state
      return opened
    },
  }

  async function readMemory() {
    const found = await collectAll(threads)
    const heap = found.reduce((sum, each) => sum + each.heap, 0)
    const ofThreads = found.slice(1).reduce((sum, each) => sum + each.buffers, 0)
    // The main thread allocates the shared buffers, so only its count includes them.
    return {
      heap,
      buffers: process.memoryUsage().arrayBuffers + ofThreads,
      roaring: countFrozenBytes(state().segments),
    }
  }

  using data = createTemporaryFolder()
  const { url, stop } = await embed(
    observedPrices,
    { data: data.path, sample: 'no', threads: 1, ...settings },
    SERVICES_URL,
  )
  try {
    const [empty, before] = [await readMemory(), getResidentMegabytes(process.pid)]
    const { seconds: load, prices: count } = await runImport({ url, catalog, pin: PINS.client })
    const searches = { requests: { drawer }, expect: { status: 200 }, connections: 20, duration: 1, warmUp: 0 }
    const { requests, wrong, errors } = await runRaw({ url, ...searches, pin: PINS.client })
    if (requests === 0 || wrong + errors > 0) throw new Error(`${wrong} answers were wrong, ${errors} missing`)
    const resident = getResidentMegabytes(process.pid) - before
    const now = await readMemory()
    const [heap, buffers, roaring] = [now.heap - empty.heap, now.buffers - empty.buffers, now.roaring - empty.roaring]
    const bytes = heap + buffers + roaring + LEVEL_CACHE_BYTES
    return {
      heap: heap / BYTES_PER_MB,
      buffers: buffers / BYTES_PER_MB,
      roaring: roaring / BYTES_PER_MB,
      caches: LEVEL_CACHE_BYTES / BYTES_PER_MB,
      sum: bytes / BYTES_PER_MB,
      each: Math.round(bytes / count),
      resident,
      load,
    }
  } finally {
    await stop()
  }
}

/** Measures memory in a new process. @throws Error if an answer was wrong or missing */
export const runMemory = createProcessRunner(import.meta.url, measureMemory, MAX_RUN_S)

/** Returns the size of frozen bitmaps, which are in memory of a library that Node does not count (bytes). */
function countFrozenBytes(segments: ReturnType<CatalogState>['segments']): number {
  const lists = [...segments].filter(([name]) => name.startsWith('roaring')).map(([, parts]) => parts)
  const buffers = new Set(lists.flatMap((parts) => [...parts.values()].map(({ buffer }) => buffer)))
  return [...buffers].reduce((sum, { byteLength }) => sum + byteLength, 0)
}
