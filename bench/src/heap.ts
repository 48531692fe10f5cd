import { setImmediate as turn } from 'node:timers/promises'
import type { InspectorPost } from './thread-inspectors.ts'

/** Memory that a thread holds after a collection (bytes): its heap and its buffers. */
export interface ThreadMemory {
  readonly heap: number
  readonly buffers: number
}

/** Number of garbage collections. Finalizers run between two of them and release memory for the next one. */
const GC_RUNS = 3

/**
 * Collects the garbage of all threads and returns the memory of each, in the order of the threads. Buffers that threads
 * share are not counted.
 */
export async function collectAll(threads: ReadonlyMap<string, InspectorPost>): Promise<ThreadMemory[]> {
  const posts = [...threads.values()]
  for (let i = 0; i < GC_RUNS; i++) {
    for (const post of posts) await post('HeapProfiler.collectGarbage')
    await turn()
  }
  return Promise.all(
    posts.map(async (post) => {
      const { usedSize, backingStorageSize } = await post('Runtime.getHeapUsage')
      return { heap: usedSize, buffers: backingStorageSize }
    }),
  )
}
