import { setImmediate as turn } from 'node:timers/promises'
import type { Post } from './threads.ts'

/** What a thread holds after a collection (bytes): on its heap, and in buffers. */
export interface Held {
  readonly heap: number
  readonly buffers: number
}

/** Collections, each with a turn of the loop, in which finalisers run: what they let go of goes with the next. */
const COLLECTIONS = 3

/** Collects the garbage of all threads, in their order. Buffers that they share count nowhere. */
export async function collectAll(threads: ReadonlyMap<string, Post>): Promise<Held[]> {
  const posts = [...threads.values()]
  for (let i = 0; i < COLLECTIONS; i++) {
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
