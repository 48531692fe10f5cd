import { getEventListeners } from 'node:events'
import { expect, test } from 'vitest'
import { createBackOff, pause, retry } from '../../src/async/retry.ts'

test('doubles from 100 ms to 5 s, and starts over after a long quiet time', () => {
  let now = 1_000_000
  const delays = createBackOff(() => now)
  const next = (quiet: number) => {
    now += quiet
    return delays.next()
  }
  expect(Array.from({ length: 8 }, () => next(50))).toEqual([100, 200, 400, 800, 1_600, 3_200, 5_000, 5_000])
  expect(next(34_000)).toBe(5_000)
  expect(next(35_001)).toBe(100)
  expect(next(0)).toBe(200)
})

test('a pause ends after its time or with the signal, and leaves no listener', async () => {
  const ending = new AbortController()
  await pause(1, ending.signal)
  expect(getEventListeners(ending.signal, 'abort')).toEqual([])
  const long = pause(60_000, ending.signal)
  ending.abort()
  await long
  await pause(60_000, ending.signal)
  expect(getEventListeners(ending.signal, 'abort')).toEqual([])
})

test('retries until the task succeeds, the signal is aborted, or a fault is final', async () => {
  const ending = new AbortController()
  const faults: unknown[] = []
  const options = { signal: ending.signal, delays: { next: () => 1 }, onFault: (fault: unknown) => faults.push(fault) }
  let attempts = 0
  const task = async () => {
    if (++attempts < 3) throw attempts
    return 'done'
  }
  expect(await retry(task, options)).toBe('done')
  expect(faults).toEqual([1, 2])
  const fail = () => Promise.reject(new Error('lost'))
  const rethrow = (fault: unknown) => {
    throw fault
  }
  await expect(retry(fail, { ...options, onFault: rethrow })).rejects.toThrow('lost')
  expect(await retry(fail, { ...options, onFault: () => ending.abort() })).toBeUndefined()
})
