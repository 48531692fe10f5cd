import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

setFlagsFromString('--expose-gc')
const gc = runInNewContext('gc') as () => void

/** What is in use of this thread's heap, without garbage (bytes). */
export function measureHeapUsed(): number {
  gc()
  gc()
  return process.memoryUsage().heapUsed
}
