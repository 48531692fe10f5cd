import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

setFlagsFromString('--expose-gc')
const gc = runInNewContext('gc') as () => void

/** Heap of this thread that is in use, without garbage (bytes). */
export function measureHeapUsed(): number {
  gc()
  gc()
  return process.memoryUsage().heapUsed
}
