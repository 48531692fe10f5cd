import fc from 'fast-check'
import { expect, it } from 'vitest'
import { formatCsvLine, removeFormulaQuote, type Cell } from '../src/core/csv/csv-line.ts'

/** Parses RFC 4180 literally. */
function parse(text: string): string[][] {
  const records: string[][] = []
  let record: string[] = []
  for (let at = 0; at < text.length;) {
    let cell = ''
    if (text[at] === '"') {
      for (at++; !(text[at] === '"' && text[at + 1] !== '"'); at++) {
        if (text[at] === '"') at++
        cell += text[at]
      }
      at++
    } else {
      for (; !',\r\n'.includes(text[at]!); at++) {
        if (text[at] === '"') throw new Error('a quote in a cell without quotes')
        cell += text[at]
      }
    }
    record.push(cell)
    if (text[at] === ',') at++
    else {
      if (!text.startsWith('\r\n', at)) throw new Error('no end of a line')
      at += 2
      records.push(record)
      record = []
    }
  }
  return records
}

const oddText = fc.string({
  unit: fc.constantFrom('"', ',', '\r', '\n', '\t', '=', '+', '-', '@', '\u00a0', "'", 'a', '1', '＝'),
})
const cell: fc.Arbitrary<Cell> = fc.oneof(
  oddText,
  fc.string({ unit: 'grapheme' }),
  fc.integer(),
  fc.constant(undefined),
)

it('a line of CSV conforms to RFC 4180 and preserves its values', () => {
  fc.assert(
    fc.property(fc.array(fc.array(cell, { minLength: 1, maxLength: 5 }), { maxLength: 5 }), (lines) => {
      const parsed = parse(lines.map(formatCsvLine).join(''))
      expect(parsed.map((line) => line.length)).toEqual(lines.map((line) => line.length))
      for (const [i, line] of lines.entries()) {
        for (const [j, given] of line.entries()) {
          expect(removeFormulaQuote(parsed[i]![j]!)).toBe(String(given ?? ''))
        }
      }
    }),
    { numRuns: 500 },
  )
})

it.each([
  ['=1+1', `'=1+1`],
  ['+1', `'+1`],
  ['-4lB5EKS5Uk', `'-4lB5EKS5Uk`],
  ['@SUM(A1)', `'@SUM(A1)`],
  ['\t=1', `'\t=1`],
  [' =HYPERLINK("x")', `"' =HYPERLINK(""x"")"`],
  [`'=1`, `''=1`],
  [`'a`, `'a`],
  ['a=1', 'a=1'],
  ['say "hi", you', '"say ""hi"", you"'],
  ['two\nlines', '"two\nlines"'],
  [-5, '-5'],
  [undefined, ''],
])('a cell of %j is written as %s', (given, written) => {
  expect(formatCsvLine([given])).toBe(`${written}\r\n`)
})
