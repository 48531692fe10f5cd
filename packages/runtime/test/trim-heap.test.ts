import { expect, it } from 'vitest'
import { trimHeap } from '../src/worker/trim-heap.ts'

const MB_BYTES = 1e6

it('returns temporary memory to the system', () => {
  trimHeap()
  const before = process.memoryUsage().heapTotal
  let garbage: object[] | undefined = Array.from({ length: 1_000_000 }, (_, i) => ({ i }))
  expect(garbage.length).toBe(1_000_000)
  const peak = process.memoryUsage().heapTotal
  expect(peak - before).toBeGreaterThan(20 * MB_BYTES)
  garbage = undefined
  trimHeap()
  expect(process.memoryUsage().heapTotal - before).toBeLessThan((peak - before) / 4)
})
