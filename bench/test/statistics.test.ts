import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { computeMedian, computeMedianInterval, computeSpread, judgeRatio } from '../src/statistics.ts'

const numbers = fc.array(fc.double({ min: 0.001, max: 1_000, noNaN: true }), { minLength: 1, maxLength: 50 })

describe('statistics', () => {
  it('compute the median, the minimum and the maximum', () => {
    expect(computeMedian([3, 1, 2])).toBe(2)
    expect(computeMedian([4, 1, 2, 3])).toBe(2.5)
    expect(computeSpread([5, 1, 3])).toEqual({ median: 3, min: 1, max: 5 })
  })

  it('have equally many values below and above the median', () => {
    fc.assert(
      fc.property(numbers, (values) => {
        const middle = computeMedian(values)
        const below = values.filter((value) => value < middle).length
        const above = values.filter((value) => value > middle).length
        expect(below).toBeLessThanOrEqual(values.length / 2)
        expect(above).toBeLessThanOrEqual(values.length / 2)
      }),
    )
  })

  it('give the same interval as tables of the sign test', () => {
    const ten = Array.from({ length: 10 }, (_, i) => i + 1)
    // Second smallest to second largest of ten: 1 - 2 * 11/1024.
    expect(computeMedianInterval(ten)).toEqual({ median: 5.5, low: 2, high: 9, confidence: 1 - 22 / 1024 })
    const twenty = Array.from({ length: 20 }, (_, i) => i + 1)
    expect(computeMedianInterval(twenty)).toMatchObject({ low: 6, high: 15 })
    expect(computeMedianInterval([7])).toMatchObject({ low: 7, high: 7, confidence: 0 })
  })

  it('contain the true median with the stated confidence', () => {
    // A local generator: the same numbers in every run.
    let state = 1
    const draw = () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647
    let held = 0
    for (let i = 0; i < 2_000; i++) {
      const { low, high } = computeMedianInterval(Array.from({ length: 12 }, draw))
      if (low <= 0.5 && high >= 0.5) held++
    }
    expect(held / 2_000).toBeGreaterThan(0.94)
  })

  it('report a difference only if it is certain and over 2 %, and none only if it is certain', () => {
    const around = (middle: number, width: number) =>
      Array.from({ length: 12 }, (_, i) => middle + ((i - 5.5) / 5.5) * width)
    const find = (middle: number, width: number) => judgeRatio(computeMedianInterval(around(middle, width)))
    expect(find(1.1, 0.02)).toBe('difference')
    expect(find(0.9, 0.02)).toBe('difference')
    // Equal within 5 %, with certainty.
    expect(find(1, 0.04)).toBe('no difference')
    expect(find(1.015, 0.001)).toBe('no difference')
    // The true ratio may be 1 or far from it.
    expect(find(1, 0.2)).toBe('cannot tell')
    expect(find(1.05, 0.2)).toBe('cannot tell')
    expect(judgeRatio(computeMedianInterval([1, 1, 1]))).toBe('cannot tell')
  })
})
