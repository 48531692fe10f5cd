import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { BITMAP_ALIAS, BITMAP_INDEXES } from '../src/parts.ts'
import { INDEXES } from './support/available-indexes.ts'
import { createPrice, toSearch, startPrices, toUuid, type TestPrices } from './support/prices.ts'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'

const toSpeed = (value: number) => ({ char: 'speed', value })
const toTerm = (value: string) => ({ char: 'term', value })
const toSince = (value: string) => ({ char: 'since', value })

const catalog = [
  createPrice({ charValues: [toTerm('12'), toSpeed(10), toSince('2026-01-01')], value: 1 }),
  createPrice({ charValues: [toTerm('12'), toSpeed(20), toSince('2026-06-01')], value: 2.5 }),
  createPrice({ charValues: [toTerm('24'), toSpeed(10), toSince('2026-06-01')], value: -3, currency: 'EUR' }),
  createPrice({ groupId: 'g2', charValues: [toTerm('12')], value: 4, default: true }),
  createPrice({ groupId: 'g2', charValues: [toTerm('24')], value: 5, default: true }),
  createPrice({ groupId: 'g3', charValues: [], value: 6, from: '2026-01-01', to: '2026-06-30' }),
  createPrice({ groupId: 'g3', charValues: [], value: 7, from: '2026-07-01' }),
  createPrice({ offeringId: 'ö "2"', charValues: [{ char: 'näme', value: 'wört\n' }], value: 1e21 }),
]
const g1 = { offeringId: 'o1', groupId: 'g1', priceSpecId: 'MRC' }

describe.each(INDEXES)('search with index %s', (index) => {
  let prices: TestPrices
  let imported: unknown
  beforeAll(async () => {
    prices = await startPrices({
      data: createTemporaryFolder(),
      indexes: index,
      catalog: index === 'bitset' ? 'lru-level' : 'memory',
    })
    imported = await prices.import(catalog)
  })
  afterAll(() => prices.stop())
  const search = (body: object) => prices.search(body, index)
  const findValue = async (charValues: object[], more: object = g1) => {
    const { body } = await search({ ...more, charValues })
    return body.value ?? body.code
  }

  it('imports every price', () => {
    expect(imported).toMatchObject({ status: 200, body: { imported: 8, prices: 8 } })
  })

  it('finds each price by all its values, in any order', async () => {
    for (const price of [0, 1, 2, 7].map((i) => catalog[i]!)) {
      const { id, priceSpecId: spec, value, currency = 'USD' } = price
      const { charValues, ...rest } = toSearch(price)
      for (const body of [
        { ...rest, charValues },
        { charValues: charValues.toReversed(), ...rest },
      ]) {
        const reply = await search(body)
        expect(reply).toMatchObject({ status: 200, body: { id, spec, value, currency } })
        expect(Object.keys(reply.body)).toEqual(['id', 'spec', 'value', 'currency'])
      }
    }
  })

  it('does not restrict characteristics that a query omits', async () => {
    expect(await findValue([toTerm('24')])).toBe(-3)
    expect(await findValue([toSpeed(20)])).toBe(2.5)
    expect(await search({ ...g1, charValues: [] })).toMatchObject({ status: 409, body: { code: 'PRICES_AMBIGUOUS' } })
    expect((await search({ ...g1, charValues: [] })).body.detail).toContain('3')
  })

  it('matches no price with two values for one characteristic', async () => {
    expect(await findValue([toTerm('12'), toTerm('24')])).toBe('PRICE_NOT_FOUND')
    expect(await findValue([toTerm('24'), toTerm('24')])).toBe(-3)
  })

  it('returns the lowest default of several prices', async () => {
    expect(await findValue([], { ...g1, groupId: 'g2' })).toBe(4)
    expect(await findValue([toTerm('24')], { ...g1, groupId: 'g2' })).toBe(5)
  })

  it('applies operators to texts, integers and dates', async () => {
    expect(await findValue([{ char: 'speed', op: 'not', value: 10 }])).toBe(2.5)
    expect(await findValue([{ char: 'speed', op: 'between', value: [15, 99] }])).toBe(2.5)
    for (const edges of [
      [20, 21],
      [11, 20],
    ])
      expect(await findValue([{ char: 'speed', op: 'between', value: edges }])).toBe(2.5)
    expect(await findValue([{ char: 'term', op: 'in', value: ['24', '36'] }])).toBe(-3)
    expect(await findValue([{ char: 'term', op: 'notIn', value: ['12', '36'] }])).toBe(-3)
    expect(await findValue([{ char: 'term', op: 'between', value: ['13', '24.0'] }])).toBe(-3)
    expect(await findValue([{ char: 'since', op: 'between', value: ['2025-12-31', '2026-01-31'] }])).toBe(1)
    expect(await findValue([{ char: 'term', op: 'in', value: [] }])).toBe('PRICE_NOT_FOUND')
    expect(await findValue([{ char: 'term', op: 'equals', value: '24' }])).toBe(-3)
  })

  it('matches no row by an operator on a characteristic that the row lacks', async () => {
    const other = { ...g1, groupId: 'g3', at: '2026-03-01' }
    expect(await findValue([], other)).toBe(6)
    for (const value of ['x', '12'])
      expect(await findValue([{ char: 'term', op: 'not', value }], other)).toBe('PRICE_NOT_FOUND')
  })

  it('applies dates if a day is given', async () => {
    const g3 = { ...g1, groupId: 'g3' }
    expect(await findValue([], g3)).toBe('PRICES_AMBIGUOUS')
    expect(await findValue([], { ...g3, at: '2026-06-30' })).toBe(6)
    expect(await findValue([], { ...g3, at: '2026-07-01' })).toBe(7)
    expect(await findValue([], { ...g3, at: '2025-12-31' })).toBe('PRICE_NOT_FOUND')
  })

  it('explains how many prices remain after each condition', async () => {
    const query = {
      ...g1,
      charValues: [toTerm('12'), { char: 'speed', op: 'between', value: [15, 99] }],
      explain: true,
    }
    const { body } = await search(query)
    expect(body.value).toBe(2.5)
    expect(body.explain.map(({ left }: any) => left)).toEqual([7, 3, 3, 2, 1])
    const none = await search({ ...g1, charValues: [toTerm('12'), toTerm('24')], explain: true })
    expect(none).toMatchObject({ status: 200, body: { error: { code: 'PRICE_NOT_FOUND' } } })
    expect(none.body.explain.map(({ left }: any) => left)).toEqual([7, 3, 3, 2, 0])
  })

  it.each([
    [{ offeringId: 'x' }, 404, 'OFFERING_NOT_FOUND'],
    [{ groupId: 'x' }, 404, 'GROUP_NOT_FOUND'],
    [{ priceSpecId: 'x' }, 404, 'SPEC_NOT_FOUND'],
    [{ charValues: [{ char: 'x', value: '1' }] }, 404, 'CHARACTERISTIC_NOT_FOUND'],
    [{ charValues: [toTerm('13')] }, 404, 'VALUE_NOT_FOUND'],
    [{ charValues: [{ char: 'term', value: 12 }] }, 400, 'VALUE_TYPE'],
    [{ charValues: [{ char: 'speed', value: '10' }] }, 400, 'VALUE_TYPE'],
    [{ charValues: [toSince('soon')] }, 400, 'VALUE_TYPE'],
    [{ charValues: [{ char: 'term', op: 'like', value: '1' }] }, 400, 'VALIDATION_FAILED'],
    [{ charValues: [{ char: 'speed', op: 'between', value: [1] }] }, 400, 'VALIDATION_FAILED'],
    [{ charValues: [{ char: 'term' }] }, 400, 'VALIDATION_FAILED'],
    [{ charValues: Array.from({ length: 10_000 }, () => toTerm('12')) }, 400, 'VALIDATION_FAILED'],
    [{ offeringId: 5 }, 400, 'VALIDATION_FAILED'],
    [{ groupId: undefined }, 400, 'VALIDATION_FAILED'],
    [{ more: 1 }, 400, 'VALIDATION_FAILED'],
    [{ at: '2026-02-30' }, 400, 'VALIDATION_FAILED'],
  ])('refuses bad fields %#', async (fields, status, code) => {
    expect(await search({ ...g1, charValues: [], ...fields })).toMatchObject({ status, body: { code } })
  })
})

describe('the API', () => {
  let prices: TestPrices
  beforeAll(async () => {
    prices = await startPrices({ data: createTemporaryFolder(), indexes: `${BITMAP_ALIAS},bitset` })
    await prices.import(catalog)
  })
  afterAll(() => prices.stop())

  it('answers for the indexes that were built', async () => {
    const body = toSearch(catalog[0]!)
    for (const name of [BITMAP_ALIAS, ...BITMAP_INDEXES.filter((one) => INDEXES.includes(one))])
      expect((await prices.search(body, name)).status).toBe(200)
    for (const name of ['map', 'nonsense']) {
      expect(await prices.search(body, name)).toMatchObject({ status: 404, body: { code: 'INDEX_NOT_LOADED' } })
    }
  })

  it.each([
    ['not JSON', '{"offeringId":', 400, 'BAD_JSON'],
    ['empty', '', 400, 'BAD_JSON'],
    ['a list', '[]', 400, 'VALIDATION_FAILED'],
    ['too large', `"${'x'.repeat(1_100_000)}"`, 413, 'BODY_TOO_LARGE'],
  ])('refuses a body that is %s', async (_, body, status, code) => {
    expect(await prices.search(body)).toMatchObject({ status, body: { code } })
  })

  it('refuses another media type', async () => {
    const reply = await prices.search('x', 'bitmap', { 'content-type': 'text/plain' })
    expect(reply).toMatchObject({ status: 415, body: { code: 'UNSUPPORTED_MEDIA_TYPE' } })
  })

  it('puts, reads, replaces and deletes a price', async () => {
    const price = createPrice({
      id: toUuid(900),
      offeringId: 'new',
      charValues: [{ char: 'colour', value: 'red' }],
      value: 9,
    })
    const path = `/prices/${price.id}`
    expect(await prices.request('PUT', path, price)).toMatchObject({ status: 201, body: { ...price, currency: 'USD' } })
    expect(await prices.request('GET', path)).toMatchObject({ status: 200, body: price })
    expect(await prices.search(toSearch(price))).toMatchObject({ status: 200, body: { id: price.id, value: 9 } })
    const changed = { ...price, charValues: [{ char: 'colour', value: 'blue' }], value: 10 }
    expect((await prices.request('PUT', path, changed)).status).toBe(200)
    expect(await prices.search(toSearch(price))).toMatchObject({ body: { code: 'VALUE_NOT_FOUND' } })
    expect((await prices.search(toSearch(changed))).body.value).toBe(10)
    const moved = { ...changed, offeringId: 'newer' }
    expect((await prices.request('PUT', path, moved)).status).toBe(200)
    expect(await prices.search(toSearch(changed))).toMatchObject({ body: { code: 'OFFERING_NOT_FOUND' } })
    expect((await prices.search(toSearch(moved))).body.value).toBe(10)
    expect((await prices.request('DELETE', path)).status).toBe(204)
    expect(await prices.request('DELETE', path)).toMatchObject({ status: 404, body: { code: 'PRICE_NOT_FOUND' } })
    expect(await prices.request('GET', path)).toMatchObject({ status: 404, body: { code: 'PRICE_NOT_FOUND' } })
    expect(await prices.search(toSearch(moved))).toMatchObject({ body: { code: 'OFFERING_NOT_FOUND' } })
  })

  it.each([
    [{ charValues: [{ char: 'term', value: 12 }] }, 'TYPE_CONFLICT'],
    [{ charValues: [toTerm('1'), toTerm('2')] }, 'DUPLICATE_CHARACTERISTIC'],
    [{ from: '2026-02-01', to: '2026-01-31' }, 'INVALID_DATE_RANGE'],
    [{ id: toUuid(1) }, 'ID_MISMATCH'],
    [{ value: true }, 'VALIDATION_FAILED'],
    [{ from: '2026-02-30' }, 'VALIDATION_FAILED'],
    [{ currency: 'dollars' }, 'VALIDATION_FAILED'],
    [{ charValues: [{ char: 'speed', value: 1.5 }] }, 'VALIDATION_FAILED'],
  ])('refuses to put %j', async (fields, code) => {
    const price = { ...createPrice({ id: toUuid(901) }), ...fields }
    const status = code === 'VALIDATION_FAILED' ? 400 : 409
    expect(await prices.request('PUT', `/prices/${toUuid(901)}`, price)).toMatchObject({ status, body: { code } })
    expect((await prices.request('GET', `/prices/${toUuid(901)}`)).status).toBe(404)
  })

  it('imports all or nothing, and names the invalid line', async () => {
    const good = createPrice({ id: toUuid(910), offeringId: 'imported' })
    for (const [bad, what] of [
      ['{"id":', 'JSON'],
      [{ ...good, id: 'a\nb' }, 'id'],
      [{ ...good, charValues: [{ char: 'term', value: 1 }] }, 'TYPE_CONFLICT'],
      [{ ...good, from: '2026-13-01' }, 'from'],
    ] as const) {
      const reply = await prices.import([good, '', bad, good])
      expect(reply).toMatchObject({ status: 400, body: { code: 'BAD_LINE' } })
      expect(reply.body.detail).toMatch(new RegExp(`line 3: .*${what}`))
      expect((await prices.request('GET', `/prices/${good.id}`)).status).toBe(404)
    }
    const again = { ...good, value: 11 }
    expect((await prices.import([good, again])).body).toEqual({ imported: 2, prices: 9 })
    expect((await prices.search(toSearch(good))).body.value).toBe(11)
    await prices.request('DELETE', `/prices/${good.id}`)
  })

  it('answers bulk requests in order, with any separator between the items', async () => {
    const items = [0, 1, 2, 7].map((i) => ({ id: `i${i}`, ...toSearch(catalog[i]!) }))
    const wrong = [
      { ...items[0], id: 'u', offeringId: 'x' },
      { ...items[0], id: 't', charValues: [{ char: 'term', value: 1 }] },
      { ...items[0], id: undefined },
    ]
    const texts = [...items, ...wrong, items[0]].map((one) => JSON.stringify(one))
    for (const between of ['', '\n', ' \r\n\t']) {
      const answers = await prices.searchBulk(texts.join(between))
      expect(answers.map(({ id, price, error }) => [id, price?.value ?? error.code])).toEqual([
        ['i0', 1],
        ['i1', 2.5],
        ['i2', -3],
        ['i7', 1e21],
        ['u', 'OFFERING_NOT_FOUND'],
        ['t', 'VALUE_TYPE'],
        [null, 'VALIDATION_FAILED'],
        ['i0', 1],
      ])
      expect(answers[0]).toEqual({
        price: { id: catalog[0]!.id, spec: 'MRC', value: 1, currency: 'USD' },
        error: {},
        id: 'i0',
      })
    }
  })

  it('ends an interrupted bulk request with the earlier answers and one error', async () => {
    const item = JSON.stringify({ id: 'a', ...toSearch(catalog[0]!) })
    for (const [body, code] of [
      [`${item}${item}${item.slice(0, 50)}`, 'BAD_JSON'],
      [`${item}${item}]`, 'BAD_JSON'],
      [`${item}${item}{"id":"${'x'.repeat(70_000)}`, 'ITEM_TOO_LARGE'],
    ] as const) {
      const answers = await prices.searchBulk(body)
      expect(answers.map(({ id, error }) => [id, error.code])).toEqual([
        ['a', undefined],
        ['a', undefined],
        [null, code],
      ])
    }
    expect(await prices.searchBulk('')).toEqual([])
    const first = await prices.request('POST', '/v5/search/bitmap/bulk/prices', 'nonsense')
    expect(first).toMatchObject({ status: 400, body: { code: 'BAD_JSON' } })
  })

  it('refuses an import or a bulk request without a body', async () => {
    for (const path of ['/prices/import?replace=true', '/v5/search/bitmap/bulk/prices']) {
      expect(await prices.request('POST', path)).toMatchObject({ status: 400, body: { code: 'VALIDATION_FAILED' } })
    }
  })

  it('counts its prices', async () => {
    expect((await prices.request('GET', '/metrics')).body).toMatch(/^prices_catalog_size 8$/m)
  })
})
