import type { Segments } from '@influencer-stats/prices/index/index'
import { prices } from '@influencer-stats/prices/service'
import { embed } from '@influencer-stats/runtime/embed'
import { createIsolates } from '../isolates.ts'
import type { FromProbe, Held } from './memory-probe.ts'

// A process of its own: the service with the settings of its argument, until its parent lets go of it.

const SERVICES = new URL('../../../services.ts', import.meta.url).href

/** What main gives to every thread. */
let state: () => { readonly segments: ReadonlyMap<string, Segments> }
const watched: typeof prices = {
  ...prices,
  async open(context) {
    const opened = await prices.open(context)
    const shared = opened.shared as () => { readonly state: ReturnType<typeof state> }
    state = () => shared().state
    return opened
  },
}

/** Frozen bitmaps lie in memory of the library's own, which Node does not count. */
function frozenBytes(): number {
  const lists = [...state().segments].filter(([name]) => name.startsWith('roaring')).map(([, segments]) => segments)
  const buffers = new Set(lists.flatMap((segments) => [...segments.values()].map(({ buffer }) => buffer)))
  return [...buffers].reduce((sum, { byteLength }) => sum + byteLength, 0)
}

const isolates = createIsolates()
const running = await embed(watched, JSON.parse(process.argv[2]!), SERVICES)

async function measure(): Promise<Held> {
  const found = await isolates.collect()
  const heap = found.reduce((sum, each) => sum + each.heap, 0)
  const ofThreads = found.slice(1).reduce((sum, each) => sum + each.buffers, 0)
  // Main made what is shared, so its own figure has it; those of threads have not.
  const buffers = process.memoryUsage().arrayBuffers + ofThreads
  return { heap, buffers, roaring: frozenBytes() }
}

const tell = (message: FromProbe) => void process.send!(message)
process.on('message', async () => tell({ held: await measure() }))
process.once('disconnect', async () => {
  await running.stop()
  process.exit()
})
tell({ url: running.url })
