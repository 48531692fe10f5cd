import { setImmediate as turn } from 'node:timers/promises'
import type { InspectorPost } from './thread-inspectors.ts'

/** What a thread holds after a collection (bytes): on its heap, and in buffers. */
export interface ThreadMemory {
  readonly heap: number
  readonly buffers: number
}

/** Collections, each with a turn of the loop, in which finalisers run: what they let go of goes with the next. */
const GC_RUNS = 3

/** Collects the garbage of all threads, in their order. Buffers that they share count nowhere. */
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
