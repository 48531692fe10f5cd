import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseExactJson } from '../src/page/core/prices/exact-json.ts'
import { createFormats } from '../src/page/core/format.ts'

describe('JSON with exact numbers', () => {
  it.each([
    ['12', 12],
    ['-0.5', -0.5],
    ['1e21', '1e21'],
    ['1.10', '1.10'],
    ['9007199254740993', '9007199254740993'],
    ['0.1234567890123456789012345678901234', '0.1234567890123456789012345678901234'],
    ['{"a\\"1.10":[1.10,"1.10","\\\\",true,null]}', { 'a"1.10': ['1.10', '1.10', '\\', true, null] }],
  ])('%s', (text, value) => {
    expect(parseExactJson(text)).toEqual(value)
  })

  it('is that of JSON.parse for each text that JSON.stringify writes', () => {
    fc.assert(fc.property(fc.json(), (text) => void expect(parseExactJson(text)).toEqual(JSON.parse(text))))
  })
})

describe('a price', () => {
  it.each([
    ['en-US', 1.2345, 'EUR', '€1.2345'],
    ['en-US', '1.10', 'EUR', '€1.10'],
    ['en-US', '1.100', 'EUR', '€1.100'],
    ['en-US', 1234.5, 'JPY', '¥1,234.5'],
    ['en-US', 8, 'EUR', '€8.00'],
    ['en-US', '9007199254740993', 'EUR', '€9,007,199,254,740,993.00'],
    ['en-US', '-0.1234567890123456789012345678901234', 'EUR', '-€0.1234567890123456789012345678901234'],
    ['de-DE', '1234567.12345678901234567890', 'EUR', '1.234.567,12345678901234567890\u00A0€'],
    ['en-US', '1.5e-7', undefined, '0.00000015'],
    ['en-US', '1e-300', 'EUR', '1e-300 EUR'],
    ['en-US', '12e20', undefined, '1,200,000,000,000,000,000,000'],
  ])('in %s: %s %s is %s', (locale, value, currency, text) => {
    expect(createFormats(locale).amount(value, currency)).toBe(text)
  })
})
