import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { moveActive } from '../src/page/core/prices/active-option.ts'
import {
  describeCondition,
  describeSteps,
  findFailedCondition,
  listConditions,
  removeCondition,
  replaceCondition,
} from '../src/page/core/prices/conditions.ts'
import { parseExactJson } from '../src/page/core/prices/exact-json.ts'
import { describeValidity, describeValue, listColumns, type FullPrice } from '../src/page/core/prices/price-fields.ts'
import { readPriceQuery, toConditions, toFacetsQuery, writePriceQuery } from '../src/page/core/prices/price-query.ts'
import { findNearestTime, readDayTime, toDayTime, writeDayTime } from '../src/page/core/prices/price-time.ts'
import { containsText, sortByMatch } from '../src/page/core/prices/text-match.ts'
import { createFormats } from '../src/page/core/format.ts'

const TODAY = '2026-11-26'
const formats = createFormats('en-US', 'UTC')
const EMPTY = readPriceQuery('')
const QUERY = {
  ...EMPTY,
  offeringId: 'o',
  groupId: 'g',
  priceSpecId: 's',
  chars: { Term: '12', Seats: 12, Managed: false },
}

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

describe('the address of a price search', () => {
  it('contains its conditions, with numbers and booleans in their types', () => {
    for (const query of [
      QUERY,
      { ...QUERY, at: 'any', currency: 'EUR', order: 'count' as const },
      { ...EMPTY, at: '2026-01-31T17:00Z', price: 'a/b c' },
    ])
      expect(readPriceQuery(writePriceQuery(query))).toEqual(query)
    expect(writePriceQuery(EMPTY)).toBe('')
  })

  it('is read without values that no price can have', () => {
    expect(
      readPriceQuery('?at=tomorrow&currency=euro&order=x&number.Seats=many&boolean.Managed=maybe&char.=&price='),
    ).toEqual({ ...EMPTY, chars: { '': '' } })
    expect(readPriceQuery('?at=2026-13-01').at).toBe('')
  })
})

describe('the conditions of a price search', () => {
  it('are those of the selection, and today', () => {
    expect(toConditions(EMPTY, TODAY)).toEqual({ at: TODAY, charValues: [] })
    expect(toConditions({ ...EMPTY, at: 'any' }, TODAY)).toEqual({ charValues: [] })
    expect(toConditions({ ...QUERY, at: '2027-01-01', currency: 'EUR' }, TODAY)).toEqual({
      offeringId: 'o',
      groupId: 'g',
      priceSpecId: 's',
      charValues: [
        { char: 'Term', value: '12' },
        { char: 'Seats', value: 12 },
        { char: 'Managed', value: false },
      ],
      at: '2027-01-01',
      currency: 'EUR',
    })
    const parameters = new URLSearchParams(
      toFacetsQuery(toConditions(QUERY, TODAY), { char: 'Term', after: undefined }),
    )
    expect([...parameters.keys()]).toEqual(['offeringId', 'groupId', 'priceSpecId', 'at', 'char', 'charValues'])
  })

  it('are described in words, one by one', () => {
    const conditions = listConditions({ ...QUERY, currency: 'EUR' }, TODAY)
    const words = ['Offering o', 'Group g', 'Spec s', 'Term 12', 'Seats 12', 'Managed No', 'Valid on Nov 26, 2026']
    expect(conditions.map((one) => describeCondition(one, formats))).toEqual([...words, 'Currency EUR'])
    const steps = conditions.map((_, i) => ({ condition: 'x', left: 7 - i }))
    expect(describeSteps(steps, conditions, formats)[3]).toEqual({ condition: 'Term 12', left: 4 })
    // Another number of steps has other conditions.
    expect(describeSteps(steps.slice(1), conditions, formats)[3]).toEqual({ condition: 'x', left: 3 })
    expect(findFailedCondition(steps, conditions)).toEqual({ key: 'currency', value: 'EUR' })
    expect(findFailedCondition(steps.slice(0, 2), conditions)).toBeUndefined()
  })

  it('are removed or replaced by the value of a price', () => {
    expect(removeCondition(QUERY, 'char.Term').chars).toEqual({ Seats: 12, Managed: false })
    expect(removeCondition(QUERY, 'groupId').groupId).toBe('')
    expect(removeCondition(QUERY, 'at').at).toBe('any')
    const price = toPrice({ from: '2027-01-01', currency: 'CHF' }, { Term: '24', Seats: { from: 50 }, Markets: ['AT'] })
    const replace = (key: Parameters<typeof replaceCondition>[1]) => replaceCondition(QUERY, key, price, TODAY)
    expect(replace('char.Term').chars.Term).toBe('24')
    expect(replace('char.Seats').chars.Seats).toBe(50)
    expect(replace('char.Markets').chars.Markets).toBe('AT')
    expect(replace('char.Managed').chars).toEqual({ Term: '12', Seats: 12 })
    expect(replace('at').at).toBe('2027-01-01')
    expect(replace('currency').currency).toBe('CHF')
    expect(replace('offeringId').offeringId).toBe('offering')
  })
})

const toPrice = (fields: Partial<FullPrice>, chars: Record<string, unknown> = {}): FullPrice => ({
  id: 'id',
  offeringId: 'offering',
  groupId: 'group',
  priceSpecId: 'spec',
  value: 1,
  charValues: Object.entries(chars).map(([char, value]) => ({ char, value }) as FullPrice['charValues'][number]),
  ...fields,
})

describe('several prices', () => {
  it('are a table of the fields in which they differ', () => {
    const prices = [
      toPrice({ value: '1.10', currency: 'EUR', to: '2026-12-31' }, { Term: '12', Seats: 5 }),
      toPrice({ value: 1.1, currency: 'EUR', from: '2027-01-01' }, { Term: '12', Seats: { from: 10, to: 99 } }),
      toPrice({ value: 2, currency: 'EUR' }, { Term: '12' }),
    ]
    expect(listColumns(prices, formats)).toEqual([
      { title: 'Price', cells: ['€1.10', '€1.10', '€2.00'], differs: true },
      { title: 'Valid', cells: ['until Dec 31, 2026', 'from Jan 1, 2027', 'always'], differs: true },
      { title: 'Seats', cells: ['5', '10 to 99', ''], differs: true },
    ])
    expect(listColumns(prices.slice(2), formats, 'Term').map(({ title, differs }) => [title, differs])).toEqual([
      ['Price', false],
      ['Valid', false],
      ['Term', false],
    ])
  })

  it.each([
    [true, 'Yes'],
    [{ from: 10 }, '10 or more'],
    [{ to: 9 }, 'up to 9'],
    [['DE', { from: 1, to: 2 }, false], 'DE, 1 to 2, No'],
  ])('have the value %j: %s', (value, text) => {
    expect(describeValue(value)).toBe(text)
  })

  it('state the time of day of their validity', () => {
    expect(describeValidity({ from: '2026-01-31T17:00Z', to: '2026-03-01' }, formats)).toMatch(
      /^Jan 31, 2026, 5:00\sPM – Mar 1, 2026$/,
    )
  })
})

describe('the time of a search', () => {
  it("is in the reader's zone, and is sent in UTC", () => {
    const at = new Date(2026, 0, 31, 18, 5).getTime()
    expect(toDayTime(at)).toEqual({ date: '2026-01-31', time: '18:05' })
    const sent = writeDayTime({ date: '2026-01-31', time: '18:05' })
    expect(sent).toBe(`${new Date(at).toISOString().slice(0, 16)}Z`)
    expect(readDayTime(sent)).toEqual({ date: '2026-01-31', time: '18:05' })
    expect(writeDayTime({ date: '2026-01-31', time: '' })).toBe('2026-01-31')
    expect(readDayTime('2026-01-31')).toEqual({ date: '2026-01-31', time: '' })
    expect([writeDayTime({ date: '', time: '18:05' }), writeDayTime({ date: '2026-02-40', time: '18:05' })]).toEqual([
      '',
      '',
    ])
  })

  it.each([
    [{ from: '2027-01-01' }, '2026-11-26', '2027-01-01'],
    [{ to: '2026-10-31' }, '2026-11-26', '2026-10-31'],
    [{ to: '2026-10-31T17:00Z' }, '2026-11-26', '2026-10-31T16:59Z'],
    [{ from: '2027-01-01T08:00Z', to: '2027-02-01' }, '2026-11-26T09:00Z', '2027-01-01T08:00Z'],
  ])('nearest to a price with %j from %s is %s', (validity, at, nearest) => {
    expect(findNearestTime(validity, at)).toBe(nearest)
  })
})

it('texts that begin with the input come first, in any case and width', () => {
  const texts = ['1600 Mbps', 'Link 600', '600 Mbps', '６００'].map((text) => ({ text }))
  expect(sortByMatch(texts, '600').map(({ text }) => text)).toEqual(['600 Mbps', '６００', 'Link 600', '1600 Mbps'])
  expect([containsText('ＦＩＢＥＲ', 'fib'), containsText('Fiber', 'link')]).toEqual([true, false])
})

it.each([
  ['ArrowDown', -1, 3, 0],
  ['ArrowDown', 2, 3, 0],
  ['ArrowDown', -1, 0, -1],
  ['ArrowUp', -1, 3, 2],
  ['ArrowUp', 1, 3, 0],
  ['PageDown', 0, 30, 10],
  ['PageDown', 25, 30, 29],
  ['PageUp', 25, 30, 15],
  ['PageUp', 3, 30, 0],
  ['PageUp', -1, 0, -1],
  ['Home', 3, 30, undefined],
])('%s in a list moves from %i of %i to %s', (key, active, count, next) => {
  expect(moveActive(key, active, count)).toBe(next)
})
