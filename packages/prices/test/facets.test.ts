import { longestHold } from '@influencer-stats/runtime/testing/longest-hold'
import { temporaryFolder } from '@influencer-stats/runtime/testing/temporary'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { firstPrice, samplePrices } from '../src/core/sample.ts'
import { FacetCounts } from '../src/core/selection.ts'
import { tellFacets } from '../src/facets.ts'
import { byFacet, countSets, type TermSets } from '../src/index/facets.ts'
import { INDEXES } from './support/indexes.ts'
import { cpuOf, viewOf } from './support/catalog.ts'
import { priceOf, startPrices, type TestPrices } from './support/prices.ts'

const term = (value: string) => ({ char: 'term', value })
const speed = (value: number) => ({ char: 'speed', value })
const counts = (list: any) => list?.values.map(({ value, count }: any) => [value, count])

const catalog = [
  priceOf({ charValues: [term('12'), speed(100)] }),
  priceOf({ charValues: [term('12'), speed(20)] }),
  priceOf({ charValues: [term('24'), speed(20)], from: '2026-03-01', to: '2026-03-31' }),
  priceOf({ groupId: 'g2', charValues: [term('24')] }),
  priceOf({ offeringId: 'o2', groupId: 'g2', priceSpecId: 'NRC', charValues: [speed(-5)] }),
]

describe.each(INDEXES)('facets by index %s', (index) => {
  let prices: TestPrices
  beforeAll(async () => {
    prices = await startPrices({ data: temporaryFolder(), indexes: index })
    await prices.import(catalog)
  })
  afterAll(() => prices.stop())
  const ask = async (query: Record<string, string | object> = {}) => {
    const texts = Object.entries(query).map(([name, value]) => [
      name,
      typeof value === 'string' ? value : JSON.stringify(value),
    ])
    return prices.ask('GET', `/facets?${new URLSearchParams({ index, ...Object.fromEntries(texts) })}`)
  }

  it('tells all lists, in their order', async () => {
    const { status, body } = await ask()
    expect(status).toBe(200)
    expect(body.count).toBe(5)
    expect(counts(body.offerings)).toEqual([
      ['o1', 4],
      ['o2', 1],
    ])
    expect(counts(body.groups)).toEqual([
      ['g1', 3],
      ['g2', 2],
    ])
    expect(counts(body.specs)).toEqual([
      ['MRC', 4],
      ['NRC', 1],
    ])
    expect(body.characteristics.values.map(({ char, type }: any) => [char, type])).toEqual([
      ['speed', 'integer'],
      ['term', 'string'],
    ])
    expect(body.characteristics.values.map(counts)).toEqual([
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

  it('counts a value in place of what is chosen of its own list, under all other conditions', async () => {
    const { body } = await ask({ groupId: 'g1', charValues: [{ char: 'speed', op: 'between', value: [0, 50] }] })
    expect(body.count).toBe(2)
    expect(counts(body.groups)).toEqual([['g1', 2]])
    expect(counts(body.offerings)).toEqual([['o1', 2]])
    const [speeds, terms] = body.characteristics.values
    // Free of its own condition.
    expect(counts(speeds)).toEqual([
      [20, 2],
      [100, 1],
    ])
    expect(counts(terms)).toEqual([
      ['12', 1],
      ['24', 1],
    ])
    expect((await ask({ groupId: 'g1', at: '2026-04-01' })).body.count).toBe(2)
    expect((await ask({ groupId: 'g1', at: '2026-03-31' })).body.count).toBe(3)
  })

  it('counts changes at once', async () => {
    const more = priceOf({ charValues: [term('36'), speed(20)] })
    await prices.ask('PUT', `/prices/${more.id}`, more)
    const { body } = await ask({ char: 'term' })
    expect(counts(body.characteristics.values[0])).toEqual([
      ['12', 2],
      ['24', 2],
      ['36', 1],
    ])
    await prices.ask('DELETE', `/prices/${more.id}`)
    expect((await ask()).body.count).toBe(5)
  })

  it('tells a list page by page', async () => {
    const pages = []
    for (let after: string | undefined = '', n = 0; after !== undefined && n < 9; n++) {
      const { body } = await ask({ char: 'speed', limit: '1', ...(after && { after }) })
      expect(Object.keys(body)).toEqual(['count', 'characteristics'])
      const [{ values, next }] = body.characteristics.values
      pages.push(...values.map(({ value }: any) => value))
      after = next
    }
    expect(pages).toEqual([-5, 20, 100])
    const first = await ask({ facet: 'offerings', limit: '1' })
    expect(first.body).toEqual({ count: 5, offerings: { values: [{ value: 'o1', count: 4 }], next: 'o1' } })
    const second = await ask({ facet: 'offerings', limit: '1', after: 'o1' })
    expect(second.body).toEqual({ count: 5, offerings: { values: [{ value: 'o2', count: 1 }] } })
    const chars = await ask({ facet: 'characteristics', after: 'speed' })
    expect(chars.body.characteristics.values.map(({ char }: any) => char)).toEqual(['term'])
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
    [{ facet: 'groups', char: 'term' }, 409, 'QUERY_CLASH'],
    [{ after: 'o1' }, 409, 'QUERY_CLASH'],
    [{ char: 'speed', after: 'fast' }, 400, 'VALIDATION_FAILED'],
    [{ limit: '0' }, 400, 'VALIDATION_FAILED'],
    [{ limit: '201' }, 400, 'VALIDATION_FAILED'],
    [{ charValues: 'term' }, 400, 'VALIDATION_FAILED'],
    [{ charValues: '[{"char":"term"}]' }, 400, 'VALIDATION_FAILED'],
    [{ charValues: '{}' }, 400, 'VALIDATION_FAILED'],
    [{ offering: 'o1' }, 400, 'VALIDATION_FAILED'],
  ])('refuses %j', async (query, status, code) => {
    expect(await ask(query)).toMatchObject({ status, body: { code } })
  })
})

it('the sample takes 2 ms of a processor that has nothing else to do, whatever is chosen', async () => {
  // Half of it in half of the time.
  const { view, index } = await viewOf(samplePrices(25), 'roaring-offering')
  const { offeringId, groupId, charValues } = firstPrice()
  for (const chosen of [
    { charValues: [] },
    { groupId, charValues: charValues.slice(0, 2) },
    { offeringId, charValues },
    { charValues },
  ]) {
    const ask = () => tellFacets({ ...chosen, limit: 100 }, view, index)
    let least = Infinity
    for (let i = 0; i < 40; i++) least = Math.min(least, await cpuOf(ask))
    // Others on the machine make it three times as much.
    expect(1_000 * least).toBeLessThan(8 / 2)
  }
})

it('a value is counted once for each offering that has it, and no longer than rows are left', async () => {
  const rows = 7
  const terms = Array.from({ length: 20 }, (_, i) => i)
  const of = (term: number) => (term < 10 ? 0 : 1)
  let asked = 0
  const sets: TermSets<ReadonlySet<number>> = {
    facets: byFacet(terms, { facetOf: of }),
    any: (some) => new Set(some.filter((term) => term < rows)),
    validOn: () => undefined,
    and: ([first, ...rest]) => rest.reduce((left, set) => left.intersection(set), first!),
    // Row i has the term i, and all have term 15.
    count(term, within) {
      asked++
      if (term >= 10) return term === 15 ? (within?.size ?? rows) : 0
      return term < rows && (within?.has(term) ?? true) ? 1 : 0
    },
    size: (set) => set?.size ?? rows,
  }
  const counts = new FacetCounts(20)
  await countSets(sets, { chosen: new Map([[0, (term: number) => term === 3]]), at: undefined }, counts)
  expect(counts.total).toBe(1)
  expect([...counts.ofTerm.entries()].filter(([, count]) => count > 0)).toEqual([
    ...terms.slice(0, rows).map((term) => [term, 1]),
    [15, 1],
  ])
  expect(asked).toBe(rows + 6)
})

it.each(INDEXES)('others have their turns while 20,000 values are counted by %s', async (name) => {
  const many = Array.from({ length: 20_000 }, (_, i) => priceOf({ charValues: [speed(i), term(String(i % 7))] }))
  const { view, index } = await viewOf(many, name)
  const ask = () => tellFacets({ charValues: [term('1')], char: 'speed', limit: 3 }, view, index)
  await ask()
  const result = await ask()
  expect(counts(result.characteristics!.values[0])).toEqual([
    [1, 1],
    [8, 1],
    [15, 1],
  ])
  expect(result.count).toBe(Math.ceil((20_000 - 1) / 7))
  // The least of some: a collection of garbage holds the loop, too.
  let share = 1
  for (let i = 0; i < 8; i++) {
    const { held, worked } = await longestHold(ask)
    share = Math.min(share, held <= 10 ? 0 : held / worked)
  }
  expect(share).toBeLessThan(0.5)
})
