import { scaleRuns } from '@influencer-stats/runtime/testing/scale-runs'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { FIRST_MOMENT, formatEnd, formatStart, LAST_MOMENT, parseEnd, parseMoment } from '../src/core/values/moment.ts'
import { decodeRow, RowTable, type PriceRow } from '../src/core/row-table.ts'

// The oracle uses `Date.UTC` only.
const LEAP_YEAR = (year: number) => (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0
const getMonthDays = (year: number, month: number) =>
  month === 2 ? (LEAP_YEAR(year) ? 29 : 28) : [4, 6, 9, 11].includes(month) ? 30 : 31
/** Returns minutes since 1970. `Date.UTC` takes years below 100 as those of the 20th century. */
function toMinutes(year: number, month: number, day: number, hour = 0, minute = 0): number {
  const date = new Date(0)
  date.setUTCFullYear(year, month - 1, day)
  date.setUTCHours(hour, minute)
  return date.getTime() / 60_000
}
const pad = (number: number, digits = 2) => String(number).padStart(digits, '0')
const toDateText = ({ year, month, day }: { year: number; month: number; day: number }) =>
  `${pad(year, 4)}-${pad(month)}-${pad(day)}`

const day = fc.record({
  year: fc.oneof(fc.integer({ min: 1, max: 9998 }), fc.integer({ min: 1960, max: 2040 })),
  month: fc.integer({ min: 1, max: 12 }),
  day: fc.integer({ min: 1, max: 31 }),
})
const clock = fc.record({ hour: fc.integer({ min: 0, max: 23 }), minute: fc.integer({ min: 0, max: 59 }) })
const zone = fc.option(
  clock.chain((one) => fc.boolean().map((isEast) => ({ ...one, isEast }))),
  { nil: undefined },
)

it('a date is its whole day in UTC', () => {
  fc.assert(
    fc.property(day, (one) => {
      const text = toDateText(one)
      if (one.day > getMonthDays(one.year, one.month)) {
        expect(parseMoment(text)).toBeUndefined()
        expect(parseMoment(`${text}T10:00Z`)).toBeUndefined()
        return
      }
      const first = toMinutes(one.year, one.month, one.day)
      expect([parseMoment(text), parseEnd(text)]).toEqual([first, first + 1_440])
      expect([formatStart(first), formatEnd(first + 1_440)]).toEqual([text, text])
    }),
    { numRuns: scaleRuns(2_000) },
  )
})

it('a time is the minute of its zone, and returns in UTC', () => {
  fc.assert(
    fc.property(day, clock, zone, fc.boolean(), (one, { hour, minute }, offset, hasSeconds) => {
      fc.pre(one.day <= getMonthDays(one.year, one.month))
      const suffix = offset ? `${offset.isEast ? '+' : '-'}${pad(offset.hour)}:${pad(offset.minute)}` : 'Z'
      const text = `${toDateText(one)}T${pad(hour)}:${pad(minute)}${hasSeconds ? ':00' : ''}${suffix}`
      const local = toMinutes(one.year, one.month, one.day, hour, minute)
      const shift = offset ? (offset.hour * 60 + offset.minute) * (offset.isEast ? 1 : -1) : 0
      expect([text, parseMoment(text), parseEnd(text)]).toEqual([text, local - shift, local - shift])
      expect(parseMoment(formatStart(local - shift))).toBe(local - shift)
      expect(parseEnd(formatEnd(local - shift))).toBe(local - shift)
    }),
    { numRuns: scaleRuns(2_000) },
  )
})

it('returns midnights as dates, and other moments in UTC', () => {
  expect(formatStart(parseMoment('2026-01-31T18:00+01:00')!)).toBe('2026-01-31T17:00Z')
  expect(formatStart(parseMoment('2026-02-01T01:00+01:00')!)).toBe('2026-02-01')
  expect(formatEnd(parseEnd('2026-02-01T00:00Z')!)).toBe('2026-01-31')
  expect(formatEnd(parseEnd('2026-01-31T17:00Z')!)).toBe('2026-01-31T17:00Z')
})

it('refuses texts without a zone, with seconds, beyond the calendar, or in another form', () => {
  for (const text of [
    '2026-01-31T18:00',
    '2026-01-31T18:00:01Z',
    '2026-01-31T24:00Z',
    '2026-01-31T18:60Z',
    '2026-01-31 18:00Z',
    '2026-01-31T18:00z',
    '2026-01-31T18:00+0100',
    '2026-01-31T18:00+24:00',
    '2026-02-30',
    '2026-1-31',
    '0000-01-01T00:00+00:01',
    '9999-12-31T23:59-00:01',
    'now',
    '',
  ])
    expect([text, parseMoment(text), parseEnd(text)]).toEqual([text, undefined, undefined])
})

// Moments over all years, most of them near midnight.
const moment = fc
  .tuple(fc.integer({ min: -719_000, max: 2_932_000 }), fc.constantFrom(0, 0, 1, 720, 1_439))
  .map(([days, minute]) => days * 1_440 + minute)
const ROW = { offering: 1, group: 2, spec: 3, values: [4, 5], chars: 2 }

it('a table returns the moments of its rows', () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.boolean(), fc.option(moment), fc.option(moment)), { minLength: 1, maxLength: 20 }),
      (some) => {
        const rows = some.map(([isDefault, from, to]): PriceRow => {
          return { ...ROW, isDefault, chars: isDefault ? 2 : 1, from: from ?? FIRST_MOMENT, to: to ?? LAST_MOMENT }
        })
        const table = new RowTable(1, 1)
        for (const row of rows) table.push(row)
        const bytes = table.encode(0, table.size)
        expect(rows.map((_, i) => decodeRow(bytes, i))).toEqual(rows)
      },
    ),
    { numRuns: scaleRuns(300) },
  )
})

it('reads rows of older versions, which have days', () => {
  // A count, the ends, then offering, group, spec, default, first day, last day and values of each row.
  const cells = Int32Array.of(2, 8, 16, 1, 2, 3, 1, 20_484, 20_500, 4, 5, 1, 2, 3, 0, -0x8000_0000, 0x7fff_ffff, 4, 5)
  const bytes = new Uint8Array(cells.buffer)
  expect(decodeRow(bytes, 0)).toEqual({
    ...ROW,
    isDefault: true,
    from: toMinutes(2026, 1, 31),
    to: toMinutes(2026, 2, 17),
  })
  expect(decodeRow(bytes, 1)).toEqual({ ...ROW, isDefault: false, from: FIRST_MOMENT, to: LAST_MOMENT })
})
