import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { toPacificDay, toPacificTime } from '../src/pacific-time.ts'

describe('Pacific Time', () => {
  const clock = new Intl.DateTimeFormat('sv-SE', {
    timeZone: 'America/Los_Angeles',
    dateStyle: 'short',
    timeStyle: 'medium',
  })
  function expectClock(now: number): void {
    expect(new Date(toPacificTime(now)).toISOString().slice(0, 19).replace('T', ' ')).toBe(clock.format(now))
  }

  it('matches the time zone tables', () => {
    const seconds = fc.integer({ min: Date.UTC(2007, 0, 1) / 1000, max: Date.UTC(2036, 0, 1) / 1000 })
    fc.assert(fc.property(seconds, (second) => expectClock(second * 1000)))
  })

  it('changes at the same second as the tables', () => {
    for (let year = 2007; year < 2036; year++) {
      for (const month of [2, 10]) {
        for (let hour = 0; hour < 15 * 24; hour++) {
          const whole = Date.UTC(year, month, 1, hour)
          expectClock(whole)
          expectClock(whole - 1000)
        }
      }
    }
  })
})

describe('pacificDay', () => {
  it('begins at midnight in California', () => {
    expect(toPacificDay(Date.UTC(2026, 0, 2, 7, 59))).toBe(toPacificDay(Date.UTC(2026, 0, 1, 8, 0)))
    expect(toPacificDay(Date.UTC(2026, 0, 2, 8, 0))).not.toBe(toPacificDay(Date.UTC(2026, 0, 2, 7, 59)))
    // In summer, clocks are an hour ahead.
    expect(toPacificDay(Date.UTC(2026, 6, 2, 7, 0))).not.toBe(toPacificDay(Date.UTC(2026, 6, 2, 6, 59)))
  })

  it('is a date', () => {
    expect(toPacificDay(Date.parse('2026-11-20T07:59:59Z'))).toBe('2026-11-19')
    expect(toPacificDay(Date.parse('2026-11-20T08:00:00Z'))).toBe('2026-11-20')
  })
})
