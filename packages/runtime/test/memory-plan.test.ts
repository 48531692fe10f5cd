import { describe, expect, test } from 'vitest'
import { computeHeapLimits, countFittingThreads } from '../src/supervisor/memory-plan.ts'

const GIB = 1_073_741_824
const SETTINGS = { maxSemiSpaceSize: 16, clientMemoryLimit: 268_435_456, services: 1 }

describe('the number of threads that fit', () => {
  test.each([
    [Infinity, Infinity],
    [64 * GIB, 678],
    [8 * GIB, 80],
    [GIB, 6],
    [GIB / 2, 2],
    [GIB / 4, 1],
    [1, 1],
  ])('into %d bytes is %d', (memory, threads) => expect(countFittingThreads(memory, SETTINGS)).toBe(threads))

  test('is smaller with several services, and larger with a small young generation', () => {
    expect(countFittingThreads(2 * GIB, { ...SETTINGS, services: 2 })).toBe(6)
    expect(countFittingThreads(GIB, { ...SETTINGS, maxSemiSpaceSize: 1 })).toBe(11)
  })
})

describe('heap limits', () => {
  test.each([
    [Infinity, 4, { main: undefined, thread: undefined }],
    [64 * GIB, 4, { main: undefined, thread: undefined }],
    [GIB, 6, { main: 409, thread: 68 }],
    [GIB, 64, { main: 409, thread: 64 }],
    [GIB, 0, { main: 819, thread: undefined }],
  ])('of %d bytes with %d threads', (memory, threads, limits) =>
    expect(computeHeapLimits(memory, {}, threads, 4_096)).toEqual(limits),
  )
})
