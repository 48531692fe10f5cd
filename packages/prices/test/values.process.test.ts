import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { INDEXES } from './support/available-indexes.ts'
import { createPrice, startPrices, toUuid, type TestPrices } from './support/prices.ts'

// Booleans, ranges and lists as values of characteristics.

const OFFER = { offeringId: 'o1', groupId: 'g1', priceSpecId: 'MRC' }
const catalog = [
  createPrice({
    value: 1,
    charValues: [
      { char: 'seats', value: { to: 9 } },
      { char: 'markets', value: ['DE', 'AT'] },
    ],
  }),
  createPrice({
    value: 2,
    charValues: [
      { char: 'seats', value: { from: 10, to: 99 } },
      { char: 'markets', value: ['DE', 'CH', 'FR'] },
      { char: 'annual', value: true },
    ],
  }),
  createPrice({
    value: 3,
    charValues: [
      { char: 'seats', value: [100, { from: 200 }] },
      { char: 'markets', value: 'FR' },
      { char: 'annual', value: false },
    ],
  }),
]

describe.each(INDEXES)('values with index %s', (index) => {
  let prices: TestPrices
  beforeAll(async () => {
    prices = await startPrices({ data: createTemporaryFolder(), indexes: index })
    await prices.import(catalog.slice(0, 2))
    // The last one is searched as a change.
    await prices.request('PUT', `/prices/${catalog[2]!.id}`, catalog[2])
  })
  afterAll(() => prices.stop())

  const find = async (char: string, op: string, value: unknown) => {
    const body = { ...OFFER, charValues: [{ char, op, value }] }
    const reply = await prices.request('POST', `/v1/search/${index}/prices?all=true`, body)
    if (reply.status !== 200) return reply.body.code
    const lines: string[] = reply.body.split('\n').filter(Boolean)
    return lines.map((line) => JSON.parse(line).value).sort()
  }

  it.each<[string, string, unknown, unknown]>([
    ['seats', 'equals', 9, [1]],
    ['seats', 'equals', 10, [2]],
    ['seats', 'equals', 99, [2]],
    ['seats', 'equals', 100, [3]],
    ['seats', 'equals', 150, 'VALUE_NOT_FOUND'],
    ['seats', 'equals', 1_000_000, [3]],
    ['seats', 'equals', { from: 10, to: 99 }, [2]],
    ['seats', 'equals', { to: 99, from: 10 }, [2]],
    ['seats', 'equals', { from: 10 }, 'VALUE_NOT_FOUND'],
    ['seats', 'not', 10, [1, 3]],
    ['seats', 'not', 250, [1, 2]],
    ['seats', 'in', [-5, 99, 150], [1, 2]],
    ['seats', 'in', [{ from: 200 }], [3]],
    ['seats', 'notIn', [-5, 99], [3]],
    ['seats', 'between', [9, 10], [1, 2]],
    ['seats', 'between', [101, 199], []],
    ['seats', 'between', [50, 100], [2, 3]],
    ['seats', 'equals', 'ten', 'VALUE_TYPE'],
    ['markets', 'equals', 'DE', [1, 2]],
    ['markets', 'equals', 'FR', [2, 3]],
    ['markets', 'not', 'FR', [1]],
    ['markets', 'in', ['AT', 'CH'], [1, 2]],
    ['markets', 'notIn', ['AT', 'CH'], [3]],
    ['annual', 'equals', true, [2]],
    ['annual', 'not', true, [3]],
    ['annual', 'in', [true, false], [2, 3]],
    ['annual', 'equals', 'true', 'VALUE_TYPE'],
    ['annual', 'between', [0, 1], 'VALUE_TYPE'],
  ])('%s %s %j finds %j', async (char, op, value, expected) => {
    expect(await find(char, op, value)).toEqual(expected)
  })

  it('combines conditions on one list', async () => {
    const charValues = ['DE', 'FR'].map((value) => ({ char: 'markets', value }))
    expect(await prices.search({ ...OFFER, charValues }, index)).toMatchObject({ status: 200, body: { value: 2 } })
  })

  it('returns values as they were put', async () => {
    for (const { id, charValues } of catalog)
      expect((await prices.request('GET', `/prices/${id}`)).body.charValues).toEqual(charValues)
  })

  const getFacets = async (charValues: unknown, char: string, more: Record<string, string> = {}) => {
    const query = new URLSearchParams({ index, char, charValues: JSON.stringify(charValues), ...more })
    const { body } = await prices.request('GET', `/facets?${query}`)
    const [facet] = body.characteristics.values
    return { ...facet, values: facet.values.map(({ value, count }: any) => [value, count]) }
  }

  it('counts the values of lists, ranges and booleans in facets', async () => {
    expect((await getFacets([], 'markets')).values).toEqual([
      ['AT', 1],
      ['CH', 1],
      ['DE', 2],
      ['FR', 2],
    ])
    expect(await getFacets([{ char: 'markets', value: 'DE' }], 'seats')).toEqual({
      char: 'seats',
      type: 'integer',
      max: 99,
      values: [
        [{ to: 9 }, 1],
        [{ from: 10, to: 99 }, 1],
      ],
    })
    expect(await getFacets([{ char: 'markets', op: 'not', value: 'AT' }], 'annual')).toMatchObject({
      type: 'boolean',
      values: [
        [false, 1],
        [true, 1],
      ],
    })
    expect((await getFacets([{ char: 'seats', value: 10 }], 'seats')).values).toEqual([
      [{ to: 9 }, 1],
      [{ from: 10, to: 99 }, 1],
      [100, 1],
      [{ from: 200 }, 1],
    ])
  })

  it('finds ranges by their text, and continues after one', async () => {
    const ranges = [
      [{ to: 9 }, 1],
      [{ from: 10, to: 99 }, 1],
      [{ from: 200 }, 1],
    ]
    expect((await getFacets([], 'seats', { q: '..' })).values).toEqual(ranges)
    expect((await getFacets([], 'seats', { q: '10..99' })).values).toEqual([ranges[1]])
    expect((await getFacets([], 'seats', { q: 'from' })).values).toEqual([])
    const { next } = await getFacets([], 'seats', { q: '..', limit: '2' })
    expect((await getFacets([], 'seats', { q: '..', after: next })).values).toEqual([ranges[2]])
  })
})

describe('values of a price', () => {
  let prices: TestPrices
  beforeAll(async () => {
    prices = await startPrices({ data: createTemporaryFolder() })
  })
  afterAll(() => prices.stop())
  const put = (value: unknown, id = toUuid(900), char = 'size') => {
    const { id: _id, ...body } = createPrice({ charValues: [{ char, value: value as string }] })
    return prices.request('PUT', `/prices/${id}`, body)
  }

  it.each([
    [{}, 400, 'VALIDATION_FAILED'],
    [{ from: 1.5 }, 400, 'VALIDATION_FAILED'],
    [{ from: 1, until: 2 }, 400, 'VALIDATION_FAILED'],
    [null, 400, 'VALIDATION_FAILED'],
    [[], 400, 'VALIDATION_FAILED'],
    [['a', 'a'], 400, 'VALIDATION_FAILED'],
    [
      [
        { from: 1, to: 2 },
        { to: 2, from: 1 },
      ],
      400,
      'VALIDATION_FAILED',
    ],
    [[['a']], 400, 'VALIDATION_FAILED'],
    [Array.from({ length: 101 }, (_, i) => i), 400, 'VALIDATION_FAILED'],
    [{ from: 3, to: 2 }, 400, 'VALIDATION_FAILED'],
    [['a', 5], 409, 'TYPE_CONFLICT'],
    [[true, 5], 409, 'TYPE_CONFLICT'],
  ])('refuses %j', async (value, status, code) => {
    expect(await put(value)).toMatchObject({ status, body: { code } })
    const line = await prices.import([createPrice({ charValues: [{ char: 'size', value: value as string }] })])
    expect([line.status, line.body.code]).toEqual([400, 'BAD_LINE'])
  })

  it('a list of one value is this value, and dates among texts are texts', async () => {
    expect((await put(['M'])).body.charValues).toEqual([{ char: 'size', value: 'M' }])
    expect((await put(['2026-01-01', 'M'])).status).toBe(200)
    expect((await prices.request('GET', `/prices/${toUuid(900)}`)).body.charValues[0].value).toEqual([
      '2026-01-01',
      'M',
    ])
  })

  it('a put that replaces the only prices of a type changes the type', async () => {
    const values = [12, 'large', true, { from: 1 }, '2026-01-01', ['a', 'b'], 7]
    expect((await put(values[0], toUuid(901), 'sz')).status).toBe(201)
    for (const value of values) expect([value, (await put(value, toUuid(901), 'sz')).status]).toEqual([value, 200])
    expect((await put(8, toUuid(902), 'sz')).status).toBe(201)
    expect((await put('large', toUuid(901), 'sz')).body.code).toBe('TYPE_CONFLICT')
    await prices.request('DELETE', `/prices/${toUuid(902)}`)
    expect((await put('large', toUuid(901), 'sz')).status).toBe(200)
  })

  it('exports all values, and imports them again', async () => {
    expect((await prices.import(catalog)).status).toBe(200)
    const lines = (await prices.request('GET', '/prices')).body
    expect(await prices.import([lines], '?replace=true')).toMatchObject({ status: 200 })
    expect((await prices.request('GET', '/prices')).body).toBe(lines)
  })
})
