import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { interpolateAt, toRangeGrowth } from '../src/page/core/series.ts'
import { parsePeriod, toStep } from '../src/page/core/time-ranges.ts'

const toTime = (at: number) => new Date(at).toISOString()

describe('the line of a range', () => {
  it('goes from 0 to the growth of the range, without the edits of any point', () => {
    // Growth and edit of each point of a history, one second apart.
    const steps = fc.array(fc.record({ growth: fc.nat(99), edit: fc.integer({ min: -500, max: 500 }) }), {
      minLength: 3,
    })
    fc.assert(
      fc.property(steps, fc.nat(), fc.nat(), (all, one, other) => {
        const [first, last] = [one % all.length, other % all.length].sort((a, b) => a - b) as [number, number]
        let [sum, grown] = [1_000, 0]
        const points = all.map(({ growth, edit }, i) => {
          sum += growth + edit
          grown += growth
          const change = { impressions: Math.abs(edit), engagements: 0 }
          const edits = edit > 0 ? { added: change } : edit < 0 ? { removed: change } : {}
          return { at: i * 1_000, impressions: sum, engagements: 0, ...edits, grown }
        })
        const within = points.slice(first, last + 1)
        const [start, end] = [within[0]!, within.at(-1)!]
        const edited = all.slice(first + 1, last + 1).map(({ edit }) => edit)
        const sumOf = (sign: 1 | -1) => edited.reduce((total, edit) => total + Math.max(0, sign * edit), 0)
        const range = {
          growth: {
            impressions: end.grown - start.grown,
            engagements: 0,
            added: { impressions: sumOf(1), engagements: 0 },
            removed: { impressions: sumOf(-1), engagements: 0 },
          },
          start: { ...start, at: toTime(start.at) },
          end: { ...end, at: toTime(end.at) },
        }
        const line = toRangeGrowth(within, range, 'impressions')
        const expected = within.map(({ at, grown: value }) => ({ at, value: value - start.grown }))
        expect(line).toEqual(first === last ? [expected[0], expected[0]] : expected)
      }),
    )
  })

  it('is interpolated between its points only', () => {
    const line = [
      { at: 10, value: 0 },
      { at: 20, value: 50 },
      { at: 20, value: 60 },
    ]
    expect([9, 10, 15, 20, 21].map((at) => interpolateAt(line, at))).toEqual([undefined, 0, 25, 50, undefined])
    expect(interpolateAt([], 1)).toBeUndefined()
  })
})

describe('the period of an address', () => {
  const parse = (query: string, hasDates: boolean) => parsePeriod(new URLSearchParams(query), hasDates)

  it('is by default that of the campaign, or a week', () => {
    expect(parse('', true)).toEqual({ kind: 'dates' })
    expect(parse('', false)).toEqual({ kind: 'window', range: '7d' })
    expect(parse('range=dates', false)).toEqual({ kind: 'window', range: '7d' })
    expect(parse('range=30d', true)).toEqual({ kind: 'window', range: '30d' })
    expect(parse('range=days&from=2026-03-01&to=2026-03-02', true)).toEqual({
      kind: 'days',
      from: '2026-03-01',
      to: '2026-03-02',
    })
    expect(parse('range=days&from=x&to=2026-03-02', false)).toEqual({ kind: 'window', range: '7d' })
  })

  it('has at most some hundred points in a chart', () => {
    for (const days of [1, 2, 3, 14, 15, 60, 61, 760]) {
      const step = toStep(days * 86_400_000)
      expect((days * 86_400) / (step === 'day' ? 86_400 : step)).toBeLessThanOrEqual(760)
    }
  })
})
