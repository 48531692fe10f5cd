import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

let gc: (() => void) | undefined

/** Collects all garbage of this thread, and says what is left (bytes): on its heap, and in buffers, shared ones included. */
export function collect(): { heap: number; buffers: number } {
  if (!gc) {
    setFlagsFromString('--expose-gc')
    gc = runInNewContext('gc') as () => void
  }
  // Twice: what the first one finalises, the second one frees.
  gc()
  gc()
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return { heap: heapUsed, buffers: arrayBuffers }
}
