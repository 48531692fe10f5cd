import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { formatCsvLine } from '../../src/core/csv/csv-line.ts'
import { parseAmount, parseCount } from '../../src/core/paste/amounts.ts'
import { findDayOrder, parseDay, parseTime } from '../../src/core/paste/days.ts'
import { readDelimited } from '../../src/core/csv/delimited-text.ts'
import { formatListCell, parseListCell } from '../../src/core/csv/list-cell.ts'
import { readPaste } from '../../src/core/paste/read-paste.ts'

const [A, B, C] = ['-4lB5EKS5Uk', '1FEFpk-uIYo', 'dQw4w9WgXcQ']
const parseRows = (text: string, delimiter = ',') => [...readDelimited(text, delimiter)]

describe('rows', () => {
  it('conform to RFC 4180, with the line of each', () => {
    expect(parseRows('a,"b ""c"",\n d"\r\n\r\n x , y\n"",')).toEqual([
      { line: 1, cells: ['a', 'b "c",\n d'] },
      { line: 3, cells: [''] },
      { line: 4, cells: ['x', 'y'] },
      { line: 5, cells: ['', ''] },
    ])
  })

  it.each([
    ['a "b" c,d', ['a "b" c', 'd']],
    ['"Best" video,x', ['"Best" video', 'x']],
    ['"open,x', ['"open', 'x']],
    ['5",x', ['5"', 'x']],
    [`'=1+1,'a`, ['=1+1', `'a`]],
    ['\ufeffa,b', ['a', 'b']],
  ])('%j keeps quotes that quote nothing', (text, cells) => expect(parseRows(text)).toEqual([{ line: 1, cells }]))

  it('are those that were written, with any delimiter', () => {
    const cell = fc.oneof(
      fc.string({ unit: fc.constantFrom('"', ',', '\r', '\n', '\t', ';', '|', '=', "'", ' ', 'a', '\u00a0') }),
      fc.string({ unit: 'grapheme' }),
    )
    const row = fc.array(cell, { minLength: 1, maxLength: 5 })
    fc.assert(
      fc.property(fc.array(row, { maxLength: 5 }), fc.constantFrom('\t', ';', '|'), (rows, delimiter) => {
        const read = parseRows(rows.map(formatCsvLine).join(''))
        expect(read.map(({ cells }) => cells)).toEqual(rows)
        const quoted = rows.map((cells) => cells.map((text) => `"${text.replaceAll('"', '""')}"`).join(delimiter))
        const withFormulas = rows.flat().some((text) => text.startsWith("'"))
        if (!withFormulas) expect(parseRows(quoted.join('\n'), delimiter).map(({ cells }) => cells)).toEqual(rows)
      }),
    )
  })
})

it('a list in a cell is the one that was written', () => {
  const element = fc.string({ minLength: 1, unit: fc.constantFrom('"', ',', ';', '#', ' ', '\n', 'a', 'ü') })
  fc.assert(
    fc.property(fc.uniqueArray(element, { maxLength: 6 }), (elements) => {
      expect(parseListCell(formatListCell(elements))).toEqual(elements)
    }),
  )
  expect(parseListCell('#a #b, c d;e\nf,,c d')).toEqual(['a', 'b', 'c d', 'e', 'f'])
})

it.each([
  ['1234', 1_234],
  ['1.234,50 €', 1_234.5, 'EUR'],
  ['€1,234.50', 1_234.5, 'EUR'],
  ['EUR 1 234,5', 1_234.5, 'EUR'],
  ["CHF 1'234.–", 1_234, 'CHF'],
  ['1.200', 1_200],
  ['1,200', 1_200],
  ['1.20', 1.2],
  ['0.125', 0.125],
  ['1.234.567', 1_234_567],
  ['12k', 12_000],
  ['1,5 Mio. $', 1_500_000, 'USD'],
  ['2.5 tsd', 2_500],
  ['$ 99.99', 99.99, 'USD'],
  [17.25, 17.25],
  ['', undefined],
  ['tbd', undefined],
  ['-5', undefined],
  [-5, undefined],
  ['1,2,3', undefined],
  ['10 apples', undefined],
  ['1 EUR 2', undefined],
  ['9'.repeat(50), undefined],
])('the amount %j is %s %s', (text, value, currency?: string) => {
  expect(parseAmount(text)).toEqual(value === undefined ? undefined : { value, ...(currency && { currency }) })
})

it('an amount that a program wrote is not rounded', () => {
  fc.assert(
    fc.property(fc.double({ min: 0, max: 1e15, noNaN: true }), (value) => {
      expect(parseAmount(String(value), true)).toEqual({ value })
    }),
  )
  expect([parseAmount('1.234', true)?.value, parseAmount('1.234,5', true)?.value]).toEqual([1.234, 1_234.5])
  expect([parseCount('1,2 Mio.'), parseCount('12.345'), parseCount('5 €')]).toEqual([1_200_000, 12_345, undefined])
})

it.each([
  ['2026-03-01', '2026-03-01'],
  ['2026-3-1', '2026-03-01'],
  ['2026-03-01T10:00:00Z', '2026-03-01'],
  ['1.3.2026', '2026-03-01'],
  ['01. 03. 26', '2026-03-01'],
  ['2026/03/01', '2026-03-01'],
  ['13/3/2026', '2026-03-13'],
  ['3/13/2026', '2026-03-13'],
  ['5/5/2026', '2026-05-05'],
  ['3/4/2026', undefined],
  ['1 March 2026', '2026-03-01'],
  ['1. März 2026', '2026-03-01'],
  ['3rd Dec, 2026', '2026-12-03'],
  ['24. Dez. 2026', '2026-12-24'],
  ['Mar 1, 2026', '2026-03-01'],
  ['30.2.2026', undefined],
  ['2026-13-01', undefined],
  ['March', undefined],
  ['soon', undefined],
])('the day %j is %s', (text, day) => expect(parseDay(text)).toBe(day))

it('slashed dates have the order that their column shows', () => {
  const order = findDayOrder(['3/4/2026', 'x', '3/14/2026'])
  expect([order, parseDay('3/4/2026', order)]).toEqual(['month-first', '2026-03-04'])
  expect(parseDay('3/4/2026', findDayOrder(['14/3/2026']))).toBe('2026-04-03')
  expect(parseTime('1.3.2026')).toBe('2026-03-01T00:00:00.000Z')
  expect(parseTime('2026-03-01T10:00:00+02:00')).toBe('2026-03-01T08:00:00.000Z')
})

describe('a sheet with headings', () => {
  it('gives the values of each row to its items', () => {
    const text = [
      'Campaign overview\t\t\t\t\t',
      '\t\t\t\t\t',
      'Link\tInfluencer\tHonorar (EUR)\tStart\tTags\tMood',
      `https://youtu.be/${A}\t@anna\t1.234,50\t1.3.2026\t#spring #cola\tgood`,
      `"https://youtu.be/${B}\nhttps://youtu.be/${C}"\tBob\t12k\t3.3.2026\t"x, ""y,z"""\t`,
      'to follow\tCem\t500 $\t\t\t',
      '\t\tsum 17\t\t\t',
      `https://youtu.be/${A}\thttps://www.youtube.com/@dora\t\tlater\t\t`,
    ].join('\n')
    const { items, unknownHeadings } = readPaste(text)
    expect(unknownHeadings).toEqual(['Mood'])
    expect(items).toMatchObject([
      {
        state: 'new',
        id: A,
        line: 4,
        row: { creator: '@anna', fee: 1_234.5, currency: 'EUR', from: '2026-03-01', tags: ['spring', 'cola'] },
      },
      { state: 'new', id: B, line: 5, row: { creator: 'Bob', fee: 12_000, currency: 'EUR', tags: ['x', 'y,z'] } },
      { state: 'new', id: C, line: 5 },
      { state: 'refused', reason: 'NO_LINK', text: 'to follow', line: 7, row: { fee: 500, currency: 'USD' } },
      { state: 'refused', reason: 'NO_LINK', line: 8 },
      {
        state: 'duplicate',
        id: A,
        firstLine: 4,
        line: 9,
        row: { creator: '@dora', invalid: [{ line: 9, field: 'from', text: 'later' }] },
      },
    ])
    expect(items[1]!.row).toBe(items[2]!.row)
  })

  it.each([
    ['en', 'Name,Video link,Creator,Fee,Currency,Start date,End date,Tags'],
    ['de', 'Kampagne;Videolink;Kanal;Gage;Währung;Von;Bis;Schlagwörter'],
    ['en', '| NAME | URL: | Channel name | Cost | currency | From | Until | Labels |'],
  ])('has headings in English and German: %s %s', (_language, headings) => {
    const delimiter = headings.includes('|') ? '|' : headings.includes(';') ? ';' : ','
    const cells = ['Spring', `https://youtu.be/${A}`, 'Anna', '5', 'EUR', '2026-03-01', '2026-03-31', 'a']
    const row = delimiter === '|' ? `|${cells.join('|')}|` : cells.join(delimiter)
    const lines = delimiter === '|' ? [headings, '|---|:-:|---|---|---|---|---|---|', row] : [headings, row]
    expect(readPaste(lines.join('\n')).items).toEqual([
      {
        line: lines.length,
        text: `https://youtu.be/${A}`,
        row: {
          name: 'Spring',
          creator: 'Anna',
          fee: 5,
          currency: 'EUR',
          from: '2026-03-01',
          to: '2026-03-31',
          tags: ['a'],
        },
        state: 'new',
        type: 'video',
        platform: 'youtube',
        id: A,
        url: `https://www.youtube.com/watch?v=${A}`,
      },
    ])
  })

  it('may have its links in a column with an unknown heading', () => {
    const { items } = readPaste(`Creator,Clip address,Fee\nAnna,https://youtu.be/${A},5\nBob,nothing,6`)
    expect(items).toMatchObject([
      { state: 'new', id: A },
      { state: 'refused', reason: 'NO_LINK', text: 'Bob nothing 6' },
    ])
  })

  it('may consist of links alone', () => {
    expect(readPaste(`Links\nhttps://youtu.be/${A}\n\n${B}\nSponsorship`).items).toMatchObject([
      { state: 'new', id: A, line: 2 },
      { state: 'doubtful', id: B, line: 4 },
      { state: 'doubtful', id: 'Sponsorship', isWord: true, line: 5 },
    ])
  })

  it('is not prose with such words', () => {
    expect(readPaste(`Hi, here is the link, and\nhttps://youtu.be/${A}`).items).toMatchObject([{ id: A, line: 2 }])
    expect(readPaste(`Influencers\nhttps://youtu.be/${A}`).items).toHaveLength(2)
    expect(readPaste(`https://youtu.be/${A}\nName, Fee\n@nasa, 5`).items).toMatchObject([{ id: A }, { name: 'nasa' }])
  })
})
