import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { MAX_TEXT_LENGTH, type Price } from '../src/core/price.ts'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { createPrice, toSearch, startPrices, toUuid, type TestPrices } from './support/prices.ts'
import { scaleRuns } from '@influencer-stats/runtime/testing/scale-runs'

// Replies return the stored contents exactly. Contents that cannot be stored exactly are refused.

const NDJSON_HEADERS = { 'content-type': 'application/x-ndjson' }
const BULK_PATH = '/v5/search/bitmap/bulk/prices'
let prices: TestPrices
beforeAll(async () => {
  prices = await startPrices({ data: createTemporaryFolder() })
})
afterAll(() => prices.stop())

async function send(method: string, path: string, body: Buffer, headers: Record<string, string>) {
  const reply = await fetch(prices.url + path, { method, body, headers } as never)
  const text = await reply.text()
  return { status: reply.status, body: text.startsWith('{') && !text.includes('\n') ? JSON.parse(text) : text }
}

it.each(['1e400', '-1e400', '1e309', '1.7976931348623157e308', '5e-324', '-0.5', '0.1', '9007199254740993', '1e21'])(
  'a value of %s is returned unchanged, or refused',
  async (value) => {
    const price = createPrice({ offeringId: `costs ${value}` })
    const text = JSON.stringify(price).replace('"value":1', `"value":${value}`)
    const isNumber = Number.isFinite(Number(value))
    const put = await prices.request('PUT', `/prices/${price.id}`, text)
    expect(put.status).toBe(isNumber ? 201 : 400)
    expect((await prices.import([text])).status).toBe(isNumber ? 200 : 400)
    if (!isNumber) return
    expect(put.body.value).toBe(Number(value))
    expect((await prices.request('GET', `/prices/${price.id}`)).body.value).toBe(Number(value))
    expect((await prices.search(toSearch(price))).body.value).toBe(Number(value))
  },
)

it('answers every item of a bulk request with its id, for any id', async () => {
  const price = createPrice({ offeringId: 'bulk' })
  await prices.import([price])
  const unit = fc.constantFrom('a', '"', '\\', 'ö', '\u2028', '😀', '\ud800', '\udc00', '\u0000')
  const id = fc.oneof(
    fc.string({ unit, maxLength: 5 }),
    fc
      .tuple(unit, fc.integer({ min: MAX_TEXT_LENGTH / 2, max: MAX_TEXT_LENGTH + 2 }))
      .map(([one, times]) => one.repeat(times)),
  )
  await fc.assert(
    fc.asyncProperty(fc.array(id, { minLength: 1, maxLength: 20 }), fc.boolean(), async (ids, known) => {
      const search = { ...toSearch(price), ...(!known && { groupId: 'x' }) }
      const answers = await prices.searchBulk(ids.map((one) => JSON.stringify({ id: one, ...search })).join(''))
      const length = (one: string) => [...one].length
      expect(answers.map((answer) => [answer.id, answer.error.code])).toEqual(
        ids.map((one) =>
          length(one) > MAX_TEXT_LENGTH ? [null, 'VALIDATION_FAILED'] : [one, known ? undefined : 'GROUP_NOT_FOUND'],
        ),
      )
    }),
    { numRuns: scaleRuns(15) },
  )
})

it('refuses text that is not UTF-8 everywhere', async () => {
  const price = createPrice({ offeringId: 'café' })
  await prices.import([price])
  const json = { 'content-type': 'application/json' }
  const broken = (text: string) => Buffer.from(text.replace('café', 'caf\u00e9'), 'latin1')
  const body = JSON.stringify(toSearch(price))
  const { id, ...rest } = price
  for (const [method, path, text, headers, code] of [
    ['POST', '/prices/import', JSON.stringify(price), NDJSON_HEADERS, 'BAD_LINE'],
    ['PUT', `/prices/${id}`, JSON.stringify(rest), json, 'BAD_JSON'],
    ['POST', '/v1/search/bitmap/prices', body, json, 'BAD_JSON'],
  ] as const)
    expect(await send(method, path, broken(text), headers)).toMatchObject({ status: 400, body: { code } })
  const item = JSON.stringify({ id: 'a', ...toSearch(price) })
  const bulk = await send('POST', BULK_PATH, Buffer.concat([broken(item), Buffer.from(item)]), NDJSON_HEADERS)
  const codes = String(bulk.body)
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line).error.code)
  expect(codes).toEqual(['BAD_JSON', undefined])
  expect((await prices.search(toSearch(price))).body.id).toBe(id)
})

it('a change gives the same catalog, for any number of other lines in its import', async () => {
  // Up to 2,000 prices are put one by one; more create a new generation.
  const found = []
  for (const lines of [2_000, 2_002]) {
    const own = await startPrices({ data: createTemporaryFolder() })
    const [a, b, c] = [1, 2, 3].map((value) => createPrice({ id: toUuid(value), value, default: true }))
    // The first one comes from another offering, so its row is after all others.
    await own.import([{ ...a!, offeringId: 'elsewhere' }, b, c])
    const fillers = Array.from({ length: lines - 4 }, (_, i) =>
      createPrice({ id: toUuid(100 + i), offeringId: 'filler' }),
    )
    const twice = createPrice({ id: toUuid(4), offeringId: 'elsewhere', default: true })
    await own.import([a!, { ...b!, value: 20 }, twice, { ...twice, offeringId: 'o1', value: 4 }, ...fillers])
    const values = []
    for (const deleted of [b!, c!, a!, twice]) {
      values.push((await own.search(toSearch(b!))).body.value)
      await own.request('DELETE', `/prices/${deleted.id}`)
    }
    found.push(values)
    await own.stop()
  }
  expect(found[0]).toEqual([20, 3, 1, 4])
  expect(found[1]).toEqual(found[0])
})

it('the number of prices never exceeds its limit', async () => {
  const own = await startPrices({ data: createTemporaryFolder(), maxPrices: 3 })
  const some = Array.from({ length: 4 }, () => createPrice())
  await own.import(some.slice(0, 2))
  const put = (price: Price) => own.request('PUT', `/prices/${price.id}`, price)
  expect((await put(some[2]!)).status).toBe(201)
  expect(await put(some[3]!)).toMatchObject({ status: 413, body: { code: 'CATALOG_FULL' } })
  expect((await put({ ...some[2]!, value: 7 })).status).toBe(200)
  expect(await own.import(some)).toMatchObject({ status: 413, body: { code: 'CATALOG_FULL' } })
  await own.request('DELETE', `/prices/${some[0]!.id}`)
  expect((await put(some[3]!)).status).toBe(201)
  expect((await own.request('GET', '/metrics')).body).toMatch(/^prices_catalog_size 3$/m)
  await own.stop()
})

describe('the type of a characteristic is the type of its existing values', () => {
  const typed = (value: string | number, offeringId = 'typed') =>
    createPrice({ offeringId, charValues: [{ char: 'size', value }] })
  const kinds = { text: 'large', integer: 12, date: '2026-01-01' }
  const pairs = Object.entries(kinds).flatMap(([a, first]) =>
    Object.entries(kinds).flatMap(([b, second]) => (a === b ? [] : [[a, b, first, second] as const])),
  )

  it.each(pairs)('%s, then %s', async (a, b, first, second) => {
    const data = createTemporaryFolder()
    let own = await startPrices({ data })
    const put = (price: Price) => own.request('PUT', `/prices/${price.id}`, price)
    // One of two texts can look like a date.
    const conflicts = !(a === 'text' && b === 'date')

    // A refused import has no effect on types.
    expect((await own.import([typed(first), 'nonsense'])).status).toBe(400)
    expect((await put(typed(second, 'other'))).status).toBe(201)
    await own.import([], '?replace=true&empty=true')

    const one = typed(first)
    expect((await put(one)).status).toBe(201)
    expect((await put(typed(second, 'other'))).body.code).toBe(conflicts ? 'TYPE_CONFLICT' : undefined)
    const lines = [typed(second), ...Array.from({ length: 2_001 }, () => createPrice({ offeringId: 'filler' }))]
    if (conflicts) {
      expect((await own.import(lines)).body.code).toBe('BAD_LINE')
      expect((await own.import(lines.slice(0, 1))).body.code).toBe('BAD_LINE')
    }
    expect((await own.search(toSearch(one))).status).toBe(200)
    // A deleted price has no effect on types, before and after a restart.
    await own.import([one], '?replace=true')
    await own.request('DELETE', `/prices/${one.id}`)
    const other = typed(second)
    expect((await put(other)).status).toBe(201)
    // Texts have no order.
    const op = b === 'text' ? 'in' : 'between'
    const search = { ...toSearch(other), charValues: [{ char: 'size', op, value: [second, second] }] }
    expect((await own.search(search)).body.id).toBe(other.id)
    expect((await own.search(toSearch(one))).body.code).toBe(
      b === 'text' && a === 'date' ? 'VALUE_NOT_FOUND' : 'VALUE_TYPE',
    )
    await own.stop()
    own = await startPrices({ data })
    expect((await own.search(search)).body.id).toBe(other.id)
    await own.request('DELETE', `/prices/${other.id}`)
    expect((await put(typed(first))).status).toBe(201)
    await own.stop()
  })
})
