import type { Segments } from '@influencer-stats/prices/index/index'
import { prices } from '@influencer-stats/prices/service'
import { embed } from '@influencer-stats/runtime/embed'
import { collectAll } from '../heap.ts'
import { inOwnProcess } from '../load/common/own-process.ts'
import { runRaw } from '../load/raw.ts'
import { PINS, residentMegabytes } from '../processes.ts'
import { temporaryFolder } from '../temporary.ts'
import { inspectThreads } from '../threads.ts'
import type { CatalogPlan } from './catalogs.ts'
import { runImport } from './import.ts'

/** A catalog that is imported into a service without prices, on one serving thread, and searched. */
export interface MemoryPlan {
  readonly catalog: CatalogPlan
  /** What draws searches of it. */
  readonly drawer: string
  readonly settings: Readonly<Record<string, string>>
}

/** Seconds: 2 million rows are imported. */
const LIMIT = 900
const SERVICES = new URL('../../../services.ts', import.meta.url).href
const MEGA = 1e6
/** As the service configures LevelDB: blocks read, and a table in the making. */
const LEVEL_CACHES = 1_048_576 + 2_097_152

/** What main gives to every thread. */
type State = () => { readonly segments: ReadonlyMap<string, Segments> }

/**
 * This process is the service's. What main and its thread hold more than before, once all garbage has been collected (MB):
 * on the heap; in typed arrays and buffers, those included that the threads share; in frozen bitmaps, which lie outside of
 * both; what LevelDB may keep of its own; all of it, and of it a price's (bytes); and how much more was resident when it had
 * been searched. And how long the import took (s).
 */
export async function memoryHere({ catalog, drawer, settings }: MemoryPlan) {
  const threads = inspectThreads()
  let state: State
  const watched: typeof prices = {
    ...prices,
    async open(context) {
      const opened = await prices.open(context)
      const shared = opened.shared as () => { readonly state: ReturnType<State> }
      state = () => shared().state
      return opened
    },
  }

  async function held() {
    const found = await collectAll(threads)
    const heap = found.reduce((sum, each) => sum + each.heap, 0)
    const ofThreads = found.slice(1).reduce((sum, each) => sum + each.buffers, 0)
    // Main made what is shared, so its own figure has it; those of threads have not.
    return { heap, buffers: process.memoryUsage().arrayBuffers + ofThreads, roaring: frozenBytes(state().segments) }
  }

  using data = temporaryFolder()
  const { url, stop } = await embed(watched, { data: data.path, sample: 'no', threads: 1, ...settings }, SERVICES)
  try {
    const [empty, before] = [await held(), residentMegabytes(process.pid)]
    const { seconds: load, prices: count } = await runImport({ url, catalog, pin: PINS.client })
    const searches = { requests: { drawer }, expect: { status: 200 }, connections: 20, duration: 1, warmUp: 0 }
    const { requests, wrong, errors } = await runRaw({ url, ...searches, pin: PINS.client })
    if (requests === 0 || wrong + errors > 0) throw new Error(`${wrong} answers were wrong, ${errors} missing`)
    const resident = residentMegabytes(process.pid) - before
    const now = await held()
    const [heap, buffers, roaring] = [now.heap - empty.heap, now.buffers - empty.buffers, now.roaring - empty.roaring]
    const bytes = heap + buffers + roaring + LEVEL_CACHES
    return {
      heap: heap / MEGA,
      buffers: buffers / MEGA,
      roaring: roaring / MEGA,
      caches: LEVEL_CACHES / MEGA,
      sum: bytes / MEGA,
      each: Math.round(bytes / count),
      resident,
      load,
    }
  } finally {
    await stop()
  }
}

/** @throws Error when an answer was wrong or missing */
export const runMemory = inOwnProcess(import.meta.url, memoryHere, LIMIT)

/** Frozen bitmaps lie in memory of the library's own, which Node does not count. */
function frozenBytes(segments: ReturnType<State>['segments']): number {
  const lists = [...segments].filter(([name]) => name.startsWith('roaring')).map(([, parts]) => parts)
  const buffers = new Set(lists.flatMap((parts) => [...parts.values()].map(({ buffer }) => buffer)))
  return [...buffers].reduce((sum, { byteLength }) => sum + byteLength, 0)
}
