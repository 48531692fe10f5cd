import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { scaleRuns } from '@influencer-stats/runtime/testing/scale-runs'
import { formatLine, splitCells } from '../src/csv/csv-cells.ts'
import { convertCsv } from '../src/csv/read-csv.ts'
import { CsvPriceWriter, formatCsv } from '../src/csv/write-csv.ts'
import { parsePriceJson } from '../src/core/price-json.ts'
import type { CharValue, Price } from '../src/core/price.ts'
import { createPrice } from './support/prices.ts'

const HEAD = 'id,offeringId,groupId,priceSpecId,value'
const ID = '00000000-0000-4000-8000-000000000001'

async function* toChunks(bytes: Uint8Array, size: number) {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

/** Returns the lines into which a CSV file is converted. */
async function convert(csv: string | Uint8Array, chunkSize = 7): Promise<string[]> {
  const bytes = typeof csv === 'string' ? Buffer.from(csv) : csv
  const pieces = await Array.fromAsync(convertCsv(toChunks(bytes, chunkSize)))
  return Buffer.concat(pieces).toString().split('\n')
}

const readPrices = async (csv: string, chunkSize?: number): Promise<Price[]> =>
  (await convert(csv, chunkSize)).filter(Boolean).map((line) => parsePriceJson(line) as Price)

const cell = fc.oneof(
  fc.constantFrom('', ' ', 'a,b', '"', '""', 'a\r\nb', '\n', '\r', 'ö 😀', ' padded '),
  fc.string({ unit: 'grapheme' }),
)

it('cells of any text survive a line', () => {
  fc.assert(
    fc.property(fc.array(cell, { minLength: 1 }), (cells) => {
      const line = formatLine(cells)
      expect(line.endsWith('\r\n')).toBe(true)
      expect(splitCells(line.slice(0, -2))).toEqual(cells)
    }),
    { numRuns: scaleRuns(200) },
  )
})

const name = fc.oneof(
  fc.constantFrom('a', 'a.b', 'text.x', 'x,y', '"q"', 'two\r\nlines', '__proto__', 'ö'),
  fc.string({ unit: 'grapheme', minLength: 1, maxLength: 8 }),
)
const integer = fc.maxSafeInteger()
const range = fc
  .record({ from: integer, to: integer }, { requiredKeys: [] })
  .filter(({ from, to }) => from !== undefined || to !== undefined)
const value = fc.oneof(name, integer, fc.boolean(), range, fc.constantFrom('12', 'true', '10..99', '[1]'))
const charValue = fc.record({
  char: name,
  value: fc.oneof(value, fc.uniqueArray(value, { selector: (one) => JSON.stringify(one), minLength: 2, maxLength: 3 })),
})
const price: fc.Arbitrary<Price> = fc.record(
  {
    id: fc.uuid(),
    offeringId: name,
    groupId: name,
    priceSpecId: name,
    charValues: fc.uniqueArray(charValue, { selector: ({ char }) => char, maxLength: 5 }),
    value: fc.oneof(
      fc.double({ noNaN: true, noDefaultInfinity: true }).map((one) => one + 0),
      fc.constantFrom('1.10', '9007199254740993', '1E3', '-0.0'),
    ),
    currency: fc.constantFrom('USD', 'EUR'),
    default: fc.constant(true),
    from: fc.constantFrom('2026-01-01', '2026-01-31T17:00Z'),
    to: fc.constant('2026-02-28'),
  },
  { requiredKeys: ['id', 'offeringId', 'groupId', 'priceSpecId', 'charValues', 'value'] },
)

/** Sorts the characteristics, whose order is that of the columns in a CSV file. */
const sortChars = (one: Price) => ({
  ...one,
  charValues: one.charValues.toSorted((a, b) => (a.char < b.char ? -1 : 1)),
})

it('prices survive a CSV file, however it is cut', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(price, { maxLength: 10 }), fc.integer({ min: 1, max: 300 }), async (prices, size) => {
      const csv = formatCsv(prices)
      expect((await readPrices(csv, size)).map(sortChars)).toEqual(prices.map(sortChars))
      // Without the line break at the end, with a byte order mark, and with other line breaks.
      expect((await readPrices(`\ufeff"id"${csv.slice(2, -2)}`, size)).map(sortChars)).toEqual(prices.map(sortChars))
    }),
    { numRuns: scaleRuns(100) },
  )
})

describe('the columns of a file', () => {
  it('have one kind of values each', async () => {
    const csv = `${HEAD},text.a,integer.a,boolean.b,range.c,json.d,currency,default\n${ID},o,g,s,1.10,,5,,,,,TRUE\n`
    expect(await convert(csv)).toEqual([
      '',
      `{"charValues":[{"char":"a","value":5}],"id":"${ID}","offeringId":"o","groupId":"g","priceSpecId":"s","value":1.10,"default":true}`,
      '',
    ])
  })

  it('are written for used kinds only', () => {
    const values = [
      { char: 'b', value: 1 },
      { char: 'a', value: 'x' },
      { char: 'b', value: 'y' },
      { char: 'a', value: '\ud800' },
      { char: 'c', value: { from: 1 } },
      { char: 'c', value: [1, 2] },
      { char: 'c', value: true },
    ]
    const writer = new CsvPriceWriter(values)
    expect(writer.head).toBe(
      'id,offeringId,groupId,priceSpecId,value,currency,default,from,to,text.b,integer.b,text.a,json.a,boolean.c,range.c,json.c\r\n',
    )
    const line = (value: CharValue['value']) =>
      writer.format(createPrice({ id: ID, charValues: [{ char: 'c', value }] }))
    expect(line({ from: 10, to: 99 })).toBe(`${ID},o1,g1,MRC,1,,,,,,,,,,10..99,\r\n`)
    expect(line({ from: 10 })).toBe(`${ID},o1,g1,MRC,1,,,,,,,,,,10..,\r\n`)
    expect(line(['DE', 1])).toBe(`${ID},o1,g1,MRC,1,,,,,,,,,,,"[""DE"",1]"\r\n`)
    expect(line(false)).toBe(`${ID},o1,g1,MRC,1,,,,,,,,,false,,\r\n`)
  })
})

it('a file has at most as many columns as a spreadsheet', () => {
  const values = Array.from({ length: 16_376 }, (_, i) => ({ char: `c${i}`, value: 1 }))
  expect(new CsvPriceWriter(values.slice(1)).width).toBe(16_384)
  expect(() => new CsvPriceWriter(values)).toThrow(expect.objectContaining({ code: 'TOO_MANY_COLUMNS' }))
})

it('each line has the number that it has in the file', async () => {
  const rows = [`${ID},"two\r\nlines",g,s,1`, '', ',,,,', `${ID},o,g,s,2`]
  const lines = await convert(`"id",offeringId,groupId,priceSpecId,"value"\r\n${rows.join('\r\n')}`)
  expect(lines.map((line) => (line ? JSON.parse(line).value : undefined))).toEqual([
    undefined,
    1,
    undefined,
    undefined,
    undefined,
    2,
    undefined,
  ])
})

describe('an invalid file names line and column', () => {
  const row = (cells: string, head = HEAD) =>
    `${head}\n${ID},o,g,s,1${head.slice(HEAD.length).replaceAll(/[^,]/g, '')}\n${cells}\n`
  it.each([
    ['id,offeringId\n', 'line 1: must have the column "groupId"; required: id, offeringId'],
    ['id;offeringId\n', 'line 1: must have the column "id"', 'separated by commas'],
    [`${HEAD},colour\n`, 'line 1: has the unknown column "colour"; known: id, offeringId', 'text.NAME'],
    [`${HEAD},text.\n`, 'line 1: has the unknown column "text."'],
    [`${HEAD},text.a,text.a\n`, 'line 1: must have each column once; received "text.a" twice'],
    [`${HEAD},"x\n`, 'line 1: column 6: the quote is not closed'],
    [row('x,o,g,s'), 'line 3: must have 5 cells, as the headings; received 4'],
    [row(`${ID},o,g,s,1,x`), 'line 3: must have 5 cells, as the headings; received 6'],
    [row(`${ID},o,g,s,"1,50"`), 'line 3: column "value" must be a decimal such as 9.50; received "1,50"'],
    [row(`${ID},o,"g"x,s,1`), 'line 3: column "groupId": a comma must follow the closing quote'],
    [row(`${ID},o,g"x",s,1`), 'line 3: column "groupId": a cell with a quote must be quoted'],
    [row(`${ID},o,g,s,1,yes`, `${HEAD},default`), 'line 3: column "default" must be true or false; received "yes"'],
    [
      row(`${ID},o,g,s,1,1.5`, `${HEAD},integer.a`),
      'line 3: column "integer.a" must be an integer from',
      'received "1.5"',
    ],
    [row(`${ID},o,g,s,1,9007199254740993`, `${HEAD},integer.a`), 'column "integer.a"', 'received "9007199254740993"'],
    [row(`${ID},o,g,s,1,10-99`, `${HEAD},range.a`), 'column "range.a" must be a range such as 10..99'],
    [row(`${ID},o,g,s,1,..`, `${HEAD},range.a`), 'column "range.a" must be a range such as 10..99'],
    [row(`${ID},o,g,s,1,constructor`, `${HEAD},boolean.a`), 'column "boolean.a" must be true or false'],
    [row(`${ID},o,g,s,1,[DE]`, `${HEAD},json.a`), 'column "json.a" must be JSON such as'],
    [row(`${ID},o,g,s,1,1.5`, `${HEAD},json.a`), 'column "json.a" must be', 'received 1.5'],
    [row(`${ID},o,g,s,1,${'x'.repeat(257)}`, `${HEAD},text.a`), 'column "text.a" must be a string of 1 to 256'],
    [row(`"${'x\n'.repeat(40_000)}`), 'line 3: a quote is not closed within 65536 bytes'],
    [row('x'.repeat(70_000)), 'line 3: must be at most 65536 bytes'],
    [
      Buffer.concat([Buffer.from(`${HEAD}\n${ID},`), Buffer.from([0xff]), Buffer.from(',g,s,1\n')]),
      'line 2: must be UTF-8',
    ],
  ])('%#', async (csv, ...details) => {
    const failed = convert(csv, 1_000)
    await expect(failed).rejects.toMatchObject({ code: 'BAD_LINE' })
    const { detail } = (await failed.catch((error: unknown) => error)) as { detail: string }
    expect(details.filter((one) => !detail.includes(String(one))).map((one) => [one, detail])).toEqual([])
  })
})
