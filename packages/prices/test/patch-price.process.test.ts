import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createPrice, startPrices, toSearch, toUuid, type TestPrices } from './support/prices.ts'

let prices: TestPrices
beforeAll(async () => (prices = await startPrices({ data: createTemporaryFolder(), threads: 2 })))
afterAll(() => prices.stop())

const patch = (id: string, body: unknown, type = 'application/merge-patch+json') =>
  prices.request('PATCH', `/prices/${encodeURIComponent(id)}`, body, { 'content-type': type })

it('changes the named fields, and removes those that are null', async () => {
  const id = 'a price'
  const charValues = [{ char: 'term', value: '12' }]
  const { id: _id, ...fields } = createPrice({ charValues, currency: 'EUR', from: '2026-01-01', to: '2026-12-31' })
  await prices.request('PUT', `/prices/${encodeURIComponent(id)}`, fields)

  const steps: [patch: object | string, change: object, removed?: string][] = [
    [{ value: 2 }, { value: 2 }],
    [{ to: null, default: true }, { default: true }, 'to'],
    [{ default: null, currency: null }, { currency: 'USD' }, 'default'],
    [{ charValues: [{ char: 'term', value: '24' }] }, { charValues: [{ char: 'term', value: '24' }] }],
    [{ from: '2026-02-01T08:00+01:00' }, { from: '2026-02-01T07:00Z' }],
    [{}, {}],
    [{ id }, {}],
  ]
  let expected: Record<string, unknown> = { id, ...fields }
  for (const [body, change, removed] of steps) {
    expected = { ...expected, ...change }
    if (removed) delete expected[removed]
    expect(await patch(id, body)).toMatchObject({ status: 200, body: expected })
    const stored = (await prices.request('GET', `/prices/${encodeURIComponent(id)}`)).body
    expect(stored).toEqual(expected)
    expect((await prices.search(toSearch(stored))).body).toMatchObject({ id, value: stored.value })
  }
  const reply = await fetch(`${prices.url}/prices/a%20price`, {
    method: 'PATCH',
    headers: { 'content-type': 'application/json' },
    body: '{"value":9007199254740993}',
  })
  expect(await reply.text()).toContain('"value":9007199254740993,')
})

it('concurrent patches of different fields are all in effect', async () => {
  const price = createPrice({ id: toUuid(77) })
  await prices.import([price])
  const changes = [{ value: 7 }, { currency: 'CHF' }, { default: true }, { from: '2026-01-01' }, { groupId: 'g9' }]
  const replies = await Promise.all(changes.map((change) => patch(price.id, change)))
  expect(replies.map(({ status }) => status)).toEqual(changes.map(() => 200))
  expect((await prices.request('GET', `/prices/${price.id}`)).body).toEqual(Object.assign({ ...price }, ...changes))
})

it('refuses an invalid patch, and changes nothing', async () => {
  const price = createPrice({ id: toUuid(78), charValues: [{ char: 'term', value: '12' }], from: '2026-06-01' })
  await prices.import([price, createPrice({ charValues: [{ char: 'term', value: '24' }] })])
  for (const [body, status, code] of [
    [{ value: null }, 400, 'VALIDATION_FAILED'],
    [{ offeringId: null }, 400, 'VALIDATION_FAILED'],
    [{ colour: 'red' }, 400, 'VALIDATION_FAILED'],
    [[1], 400, 'VALIDATION_FAILED'],
    ['{', 400, 'BAD_JSON'],
    [{ value: 'x' }, 400, 'VALUE_NOT_STORABLE'],
    [{ id: toUuid(79) }, 409, 'ID_MISMATCH'],
    [{ to: '2026-01-01' }, 409, 'INVALID_DATE_RANGE'],
    [{ charValues: [{ char: 'term', value: 5 }] }, 409, 'TYPE_CONFLICT'],
  ] as const)
    expect(await patch(price.id, body)).toMatchObject({ status, body: { code } })
  expect(await patch(price.id, {}, 'text/plain')).toMatchObject({ status: 415 })
  expect(await patch('unknown', {})).toMatchObject({ status: 404, body: { code: 'PRICE_NOT_FOUND' } })
  expect((await prices.request('GET', `/prices/${price.id}`)).body).toEqual({ ...price, currency: 'USD' })
})
