import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { FacetCounts } from '../src/core/facet-selection.ts'
import { groupByFacet, countSets, type TermSets } from '../src/index/count-facets.ts'
import { INDEXES } from './support/available-indexes.ts'
import { speed, term, toCounts } from './support/facets.ts'
import { createPrice, startPrices, toSearch, type TestPrices } from './support/prices.ts'

const catalog = [
  createPrice({ charValues: [term('12'), speed(100)] }),
  createPrice({ charValues: [term('12'), speed(20)] }),
  createPrice({ charValues: [term('24'), speed(20)], from: '2026-03-01', to: '2026-03-31' }),
  createPrice({ groupId: 'g2', charValues: [term('24')] }),
  createPrice({ offeringId: 'o2', groupId: 'g2', priceSpecId: 'NRC', charValues: [speed(-5)] }),
]

describe.each(INDEXES)('facets by index %s', (index) => {
  let prices: TestPrices
  beforeAll(async () => {
    prices = await startPrices({ data: createTemporaryFolder(), indexes: index })
    await prices.import(catalog)
  })
  afterAll(() => prices.stop())
  const getFacets = async (query: Record<string, string | object> = {}) => {
    const texts = Object.entries(query).map(([name, value]) => [
      name,
      typeof value === 'string' ? value : JSON.stringify(value),
    ])
    return prices.request('GET', `/facets?${new URLSearchParams({ index, ...Object.fromEntries(texts) })}`)
  }

  it('returns all lists, in their order', async () => {
    const { status, body } = await getFacets()
    expect(status).toBe(200)
    expect(body.count).toBe(5)
    expect(toCounts(body.offerings)).toEqual([
      ['o1', 4],
      ['o2', 1],
    ])
    expect(toCounts(body.groups)).toEqual([
      ['g1', 3],
      ['g2', 2],
    ])
    expect(toCounts(body.specs)).toEqual([
      ['MRC', 4],
      ['NRC', 1],
    ])
    expect(body.characteristics.values.map(({ char, type }: any) => [char, type])).toEqual([
      ['speed', 'integer'],
      ['term', 'string'],
    ])
    expect(body.characteristics.values.map(toCounts)).toEqual([
      [
        [-5, 1],
        [20, 2],
        [100, 1],
      ],
      [
        ['12', 2],
        ['24', 2],
      ],
    ])
  })

  it('counts a value instead of the selection of its list, under all other conditions', async () => {
    const { body } = await getFacets({ groupId: 'g1', charValues: [{ char: 'speed', op: 'between', value: [0, 50] }] })
    expect(body.count).toBe(2)
    expect(toCounts(body.groups)).toEqual([['g1', 2]])
    expect(toCounts(body.offerings)).toEqual([['o1', 2]])
    const [speeds, terms] = body.characteristics.values
    // Without its own condition.
    expect(toCounts(speeds)).toEqual([
      [20, 2],
      [100, 1],
    ])
    expect(toCounts(terms)).toEqual([
      ['12', 1],
      ['24', 1],
    ])
    expect((await getFacets({ groupId: 'g1', at: '2026-04-01' })).body.count).toBe(2)
    expect((await getFacets({ groupId: 'g1', at: '2026-03-31' })).body.count).toBe(3)
  })

  it('counts changes immediately', async () => {
    const more = createPrice({ charValues: [term('36'), speed(20)] })
    await prices.request('PUT', `/prices/${more.id}`, more)
    const { body } = await getFacets({ char: 'term' })
    expect(toCounts(body.characteristics.values[0])).toEqual([
      ['12', 2],
      ['24', 2],
      ['36', 1],
    ])
    await prices.request('DELETE', `/prices/${more.id}`)
    expect((await getFacets()).body.count).toBe(5)
  })

  it('returns a list page by page', async () => {
    const pages = []
    for (let after: string | undefined = '', n = 0; after !== undefined && n < 9; n++) {
      const { body } = await getFacets({ char: 'speed', limit: '1', ...(after && { after }) })
      expect(Object.keys(body)).toEqual(['count', 'characteristics'])
      const [{ values, next }] = body.characteristics.values
      pages.push(...values.map(({ value }: any) => value))
      after = next
    }
    expect(pages).toEqual([-5, 20, 100])
    const first = await getFacets({ facet: 'offerings', limit: '1' })
    expect(first.body).toEqual({ count: 5, offerings: { values: [{ value: 'o1', count: 4 }], next: 'o1' } })
    const second = await getFacets({ facet: 'offerings', limit: '1', after: 'o1' })
    expect(second.body).toEqual({ count: 5, offerings: { values: [{ value: 'o2', count: 1 }] } })
    const chars = await getFacets({ facet: 'characteristics', after: 'speed' })
    expect(chars.body.characteristics.values.map(({ char }: any) => char)).toEqual(['term'])
  })

  it('counts the prices of a currency and a range of values, and returns their range', async () => {
    const exact = createPrice({ groupId: 'g3', value: '9007199254740993', currency: 'EUR' })
    await prices.import([`${JSON.stringify(exact).replace('"9007199254740993"', '9007199254740993')}`])
    const query = new URLSearchParams({ index, minValue: '9007199254740992.5', range: 'true', facet: 'groups' })
    const reply = await fetch(`${prices.url}/facets?${query}`)
    expect(await reply.text()).toBe(
      '{"count":1,"groups":{"values":[{"value":"g3","count":1}]},' +
        '"range":[{"currency":"EUR","count":1,"min":9007199254740993,"max":9007199254740993}]}',
    )
    expect((await getFacets({ currency: 'EUR' })).body.count).toBe(1)
    expect((await getFacets({ currency: 'USD', maxValue: '1', range: 'true' })).body).toMatchObject({
      count: 5,
      range: [{ currency: 'USD', min: 1, max: 1, count: 5 }],
    })
    expect((await getFacets({ currency: 'CHF', range: 'true' })).body).toMatchObject({ count: 0, range: [] })
    const found = await prices.search({ ...toSearch(exact), minValue: 2, explain: true }, index)
    expect(found.body).toMatchObject({
      id: exact.id,
      explain: expect.arrayContaining([{ condition: 'minValue 2', left: 1 }]),
    })
    await prices.request('DELETE', `/prices/${exact.id}`)
  })

  it('returns names and values that contain a text, and the highest counts first', async () => {
    const { body } = await getFacets({ q: 'SPEE', sort: 'count' })
    expect(body).toEqual({
      count: 5,
      offerings: { values: [] },
      groups: { values: [] },
      specs: { values: [] },
      characteristics: {
        values: [
          {
            char: 'speed',
            type: 'integer',
            min: -5,
            max: 100,
            values: [
              { value: 20, count: 2 },
              { value: -5, count: 1 },
              { value: 100, count: 1 },
            ],
          },
        ],
      },
    })
    expect((await getFacets({ facet: 'specs', sort: 'count', limit: '1' })).body.specs).toEqual({
      values: [{ value: 'MRC', count: 4 }],
      next: '4:MRC',
    })
    expect((await getFacets({ facet: 'specs', sort: 'count', limit: '1', after: '4:MRC' })).body.specs).toEqual({
      values: [{ value: 'NRC', count: 1 }],
    })
  })

  it.each([
    [{ char: 'none' }, 404, 'CHARACTERISTIC_NOT_FOUND'],
    [{ charValues: [{ char: 'none', value: '1' }] }, 404, 'CHARACTERISTIC_NOT_FOUND'],
    [{ charValues: [term('13')] }, 404, 'VALUE_NOT_FOUND'],
    [{ charValues: [{ char: 'speed', value: 'fast' }] }, 400, 'VALUE_TYPE'],
    [{ offeringId: 'none' }, 404, 'OFFERING_NOT_FOUND'],
    [{ groupId: 'none' }, 404, 'GROUP_NOT_FOUND'],
    [{ priceSpecId: 'none' }, 404, 'SPEC_NOT_FOUND'],
    [{ index: 'none' }, 404, 'INDEX_NOT_LOADED'],
    [{ at: '2026-02-30' }, 400, 'VALIDATION_FAILED'],
    [{ at: 'today' }, 400, 'VALIDATION_FAILED'],
    [{ facet: 'colours' }, 400, 'VALIDATION_FAILED'],
    [{ facet: 'groups', char: 'term' }, 409, 'INCOMPATIBLE_PARAMETERS'],
    [{ after: 'o1' }, 409, 'INCOMPATIBLE_PARAMETERS'],
    [{ char: 'speed', after: 'fast' }, 400, 'VALIDATION_FAILED'],
    [{ facet: 'groups', sort: 'count', after: 'g1' }, 400, 'VALIDATION_FAILED'],
    [{ char: 'speed', sort: 'count', after: '1:fast' }, 400, 'VALIDATION_FAILED'],
    [{ minValue: 'much' }, 400, 'VALIDATION_FAILED'],
    [{ currency: 'eur' }, 400, 'VALIDATION_FAILED'],
    [{ sort: 'size' }, 400, 'VALIDATION_FAILED'],
    [{ q: '' }, 400, 'VALIDATION_FAILED'],
    [{ limit: '0' }, 400, 'VALIDATION_FAILED'],
    [{ limit: '201' }, 400, 'VALIDATION_FAILED'],
    [{ charValues: 'term' }, 400, 'VALIDATION_FAILED'],
    [{ charValues: '[{"char":"term"}]' }, 400, 'VALIDATION_FAILED'],
    [{ charValues: '{}' }, 400, 'VALIDATION_FAILED'],
    [{ offering: 'o1' }, 400, 'VALIDATION_FAILED'],
  ])('refuses %j', async (query, status, code) => {
    expect(await getFacets(query)).toMatchObject({ status, body: { code } })
  })
})

it('counts a value once per offering that has it, and stops when no rows remain', async () => {
  const rows = 7
  const terms = Array.from({ length: 20 }, (_, i) => i)
  const toFacet = (term: number) => (term < 10 ? 0 : 1)
  let countCalls = 0
  const sets: TermSets<ReadonlySet<number>> = {
    facets: groupByFacet(terms, { getFacet: toFacet }),
    unite: (some) => new Set(some.filter((term) => term < rows)),
    findValidAt: () => undefined,
    findTested: async (test) => new Set(terms.slice(0, rows).filter(test)),
    subtract: (from, set) => from.difference(set),
    intersect: ([first, ...rest]) => rest.reduce((left, set) => left.intersection(set), first!),
    // Row i has the term i, and all rows have term 15.
    count(term, within) {
      countCalls++
      if (term >= 10) return term === 15 ? (within?.size ?? rows) : 0
      return term < rows && (within?.has(term) ?? true) ? 1 : 0
    },
    size: (set) => set?.size ?? rows,
  }
  const toCounts = new FacetCounts(20)
  await countSets(
    sets,
    {
      conditions: [{ facet: 0, accepts: (term: number) => term === 3, isNegated: false }],
      at: undefined,
      isMultiple: () => false,
    },
    toCounts,
  )
  expect(toCounts.total).toBe(1)
  expect([...toCounts.byTerm.entries()].filter(([, count]) => count > 0)).toEqual([
    ...terms.slice(0, rows).map((term) => [term, 1]),
    [15, 1],
  ])
  expect(countCalls).toBe(rows + 6)
})
