import { getEventListeners } from 'node:events'
import { expect, test } from 'vitest'
import { resolveUnlessAborted, resolveWithin } from '../../src/async/resolve-within.ts'

const never = new Promise<number>(() => {})

test('a promise has a time limit', async () => {
  expect(await resolveWithin(Promise.resolve(1), 60_000, () => 2)).toBe(1)
  expect(await resolveWithin(never, 1, () => 2)).toBe(2)
  await expect(resolveWithin(Promise.reject(new Error('failed')), 60_000, () => 2)).rejects.toThrow('failed')
  await expect(resolveWithin(never, 1, () => Promise.reject(new Error('late')))).rejects.toThrow('late')
})

test('a promise ends with a signal, and leaves no listener', async () => {
  const ending = new AbortController()
  const { signal } = ending
  expect(await resolveUnlessAborted(Promise.resolve(1), signal)).toBe(1)
  await expect(resolveUnlessAborted(Promise.reject(new Error('failed')), signal)).rejects.toThrow('failed')
  expect(getEventListeners(signal, 'abort')).toEqual([])
  const aborted = resolveUnlessAborted(never, signal)
  ending.abort()
  expect(await aborted).toBeUndefined()
  expect(await resolveUnlessAborted(never, signal)).toBeUndefined()
})
