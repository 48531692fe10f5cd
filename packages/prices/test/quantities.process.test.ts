import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Price } from '../src/core/price.ts'
import { INDEXES } from './support/available-indexes.ts'
import { createPrice, startPrices, type TestPrices } from './support/prices.ts'

// Characteristics whose texts are decimals with a unit.

const OFFER = { offeringId: 'o1', groupId: 'g1', priceSpecId: 'MRC' }
const toPrice = (value: number, chars: Record<string, Price['charValues'][number]['value']>) =>
  createPrice({ value, charValues: Object.entries(chars).map(([char, one]) => ({ char, value: one })) })

const catalog = [
  toPrice(1, { speed: '10 Mbps', term: '12', length: '1 m', start: '2026-01-31', code: '1.2.3', exact: '0.1 %' }),
  toPrice(2, { speed: ['2.5 Mbps', '100 Mbps'], term: '120', length: '2 km', start: '2026-02-01', code: 'a' }),
  toPrice(3, { speed: '9Mbps', term: '-1', length: '3', exact: '0.1000000000000000055 %' }),
  toPrice(4, { speed: '10.0 Mbps', term: '24.0', length: '4 in' }),
]
const gigabit = toPrice(5, { speed: '1 Gbps' })

describe.each(INDEXES)('quantities with index %s', (index) => {
  let prices: TestPrices
  beforeAll(async () => {
    prices = await startPrices({ data: createTemporaryFolder(), indexes: index })
    await prices.import(catalog.slice(0, 3))
    // The last one is searched as a change.
    await prices.request('PUT', `/prices/${catalog[3]!.id}`, catalog[3])
  })
  afterAll(() => prices.stop())

  const search = (char: string, low: unknown, high: unknown) =>
    prices.request('POST', `/v1/search/${index}/prices?all=true`, {
      ...OFFER,
      charValues: [{ char, op: 'between', value: [low, high] }],
    })
  const find = async (char: string, low: unknown, high: unknown) => {
    const { status, body } = await search(char, low, high)
    if (status !== 200) return body.code
    const lines: string[] = body.split('\n').filter(Boolean)
    return lines.map((line) => JSON.parse(line).value).sort()
  }
  const getFacet = async (char: string, more: Record<string, string> = {}) => {
    const { body } = await prices.request('GET', `/facets?${new URLSearchParams({ index, char, ...more })}`)
    return body.characteristics?.values[0] ?? body
  }

  it.each<[string, unknown, unknown, unknown]>([
    ['speed', '9 Mbps', '10 Mbps', [1, 3, 4]],
    ['speed', '9.01', '10', [1, 4]],
    ['speed', 2.5, 2.5, [2]],
    ['speed', 11, '1000Mbps', [2]],
    ['speed', '10 Mbps', '9 Mbps', []],
    ['speed', '1 Gbps', '10 Gbps', 'VALUE_TYPE'],
    ['speed', 'fast', '10 Mbps', 'VALUE_TYPE'],
    ['term', '12', '24', [1, 4]],
    ['term', -5, 100, [1, 3, 4]],
    ['term', '12 months', '24', 'VALUE_TYPE'],
    ['exact', '0.1000000000000000054', '1', [3]],
    ['exact', 0, '0.1', [1]],
    ['start', '2026-01-31', '2026-01-31', [1]],
    ['start', '2026', '2027', 'VALUE_TYPE'],
    ['code', 'a', 'b', 'VALUE_TYPE'],
    ['length', '1 m', '2 m', 'VALUE_TYPE'],
  ])('%s between %j and %j finds %j', async (char, low, high, expected) => {
    expect(await find(char, low, high)).toEqual(expected)
  })

  it('describes why it refuses between', async () => {
    expect((await search('code', 'a', 'b')).body.detail).toBe(
      'code has no order for between: its values are texts; use in, or store integers or numbers with one unit',
    )
    expect((await search('length', '1', '2')).body.detail).toBe(
      'length has no order for between: its units differ: in, km, m, no unit',
    )
    expect((await search('speed', '1 Gbps', 2)).body.detail).toBe(
      'speed must be a number with the unit Mbps, or without one; received "1 Gbps"',
    )
    expect((await search('term', 'long', 2)).body.detail).toBe('term must be a number; received "long"')
  })

  it('lists values by size, with their unit, minimum and maximum', async () => {
    const { values, ...rest } = await getFacet('speed')
    expect(rest).toEqual({ char: 'speed', type: 'string', unit: 'Mbps', min: '2.5 Mbps', max: '100 Mbps' })
    expect(values.map(({ value }: any) => value)).toEqual(['2.5 Mbps', '9Mbps', '10 Mbps', '10.0 Mbps', '100 Mbps'])
    expect((await getFacet('speed', { after: '10 Mbps', limit: '1' })).values).toEqual([
      { value: '10.0 Mbps', count: 1 },
    ])
    expect(await getFacet('speed', { after: 'fast' })).toMatchObject({ status: 400, code: 'VALIDATION_FAILED' })
    expect(await getFacet('term')).toMatchObject({ min: '-1', max: '120' })
    expect(await getFacet('term')).not.toHaveProperty('unit')
    expect(Object.keys(await getFacet('length')).sort()).toEqual(['char', 'type', 'values'])
  })

  it('a price with another unit counts only while it exists', async () => {
    expect((await prices.request('PUT', `/prices/${gigabit.id}`, gigabit)).status).toBe(201)
    expect(await find('speed', 1, 2)).toBe('VALUE_TYPE')
    expect((await search('speed', 1, 2)).body.detail).toContain('its units differ: Gbps, Mbps')
    expect(await getFacet('speed')).not.toHaveProperty('min')
    await prices.request('DELETE', `/prices/${gigabit.id}`)
    expect(await find('speed', 1, 9)).toEqual([2, 3])
    expect(await getFacet('speed')).toMatchObject({ unit: 'Mbps' })
  })
})
