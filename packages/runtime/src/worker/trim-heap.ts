import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** V8's own function, as `--expose-gc` exposes it. */
type CollectGarbage = (options: { type: 'major'; execution: 'sync'; flavor: 'last-resort' }) => void

/**
 * Frees memory that this thread needed only while it started: garbage, and the space for young objects, which V8 does
 * not shrink by itself. This frees 50 MB in main of prices, and 15 MB in a serving thread. It blocks the thread for
 * about 30 ms.
 */
export function trimHeap(): void {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as CollectGarbage
  collect({ type: 'major', execution: 'sync', flavor: 'last-resort' })
}
