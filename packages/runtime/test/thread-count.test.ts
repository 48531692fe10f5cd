import { describe, expect, test } from 'vitest'
import type { ServiceConfig } from '../src/settings/settings.ts'
import { countThreads } from '../src/supervisor/thread-count.ts'

const GIB = 1_073_741_824
const NO_LIMITS = { processors: Infinity, memory: Infinity }

const count = (threads: string, limits = NO_LIMITS, getSingleThreadReason?: () => string) =>
  countThreads(
    { name: 'test', ...(getSingleThreadReason && { getSingleThreadReason }) },
    { threads, maxSemiSpaceSize: 16, clientMemoryLimit: 268_435_456, services: 1 } as ServiceConfig,
    limits,
  )

describe('the number of threads', () => {
  test('is the requested one', () => {
    expect(count('64')).toEqual({ threads: 64 })
    expect(count('0', { processors: 1, memory: 1 })).toEqual({ threads: 0 })
  })

  test('is the one that fits into the memory, with a note', () => {
    const limits = { processors: Infinity, memory: GIB }
    expect(count('64', limits)).toEqual({
      threads: 6,
      note: expect.stringMatching(/^6 threads instead of 64: .* 1024 MB/),
    })
    expect(count('6', limits)).toEqual({ threads: 6 })
    expect(count('2', { ...limits, memory: 1 })).toMatchObject({ threads: 1 })
  })

  test('has no note if it is computed', () => {
    expect(count('auto', { processors: 1, memory: 1 })).toEqual({ threads: 1 })
  })

  test('is 1 for a service that cannot have more', () => {
    const getReason = () => 'its state is in one thread'
    expect(count('auto', NO_LIMITS, getReason)).toEqual({ threads: 1 })
    expect(() => count('2', NO_LIMITS, getReason)).toThrow(expect.objectContaining({ code: 'SINGLE_THREAD' }))
  })
})
