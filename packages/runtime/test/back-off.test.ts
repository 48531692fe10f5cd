import { expect, test } from 'vitest'
import { createBackOff } from '../src/async/back-off.ts'

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
