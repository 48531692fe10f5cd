import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import type { Overrides } from '@influencer-stats/runtime/embed'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { Price } from '../src/core/price.ts'
import { INDEXES } from './support/available-indexes.ts'
import { createPrice, startPrices, toUuid, type TestPrices } from './support/prices.ts'

const createNumbered = (n: number): Price =>
  createPrice({
    id: toUuid(n),
    offeringId: `o${n % 3}`,
    groupId: `g${n % 2}`,
    charValues: [
      { char: 'n', value: n % 5 },
      { char: 'term', value: n % 2 ? ['12', '24'] : '36' },
    ],
    value: n / 4,
    currency: n % 4 ? 'EUR' : 'USD',
    ...(n % 6 === 0 && { to: '2020-01-01' }),
  })

const toQuery = (parameters: Record<string, unknown>) =>
  new URLSearchParams(
    Object.entries(parameters).map(([name, value]): [string, string] => [
      name,
      name === 'charValues' ? JSON.stringify(value) : String(value),
    ]),
  )

const removeWhere = (prices: TestPrices, parameters: Record<string, unknown>) =>
  prices.request('DELETE', `/prices?${toQuery(parameters)}`)

async function listIds(prices: TestPrices): Promise<string[]> {
  const { body } = await prices.request('GET', '/prices')
  return (body as string)
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line).id)
}

const CONDITIONS: readonly [parameters: Record<string, unknown>, matches: (n: number) => boolean][] = [
  [{ offeringId: 'o1' }, (n) => n % 3 === 1],
  [{ groupId: 'g1', priceSpecId: 'MRC' }, (n) => n % 2 === 1],
  [{ charValues: [{ char: 'n', value: 2 }] }, (n) => n % 5 === 2],
  [{ charValues: [{ char: 'n', op: 'between', value: [1, 2] }] }, (n) => n % 5 === 1 || n % 5 === 2],
  [{ charValues: [{ char: 'term', op: 'not', value: '12' }] }, (n) => n % 2 === 0],
  [{ at: 'now' }, (n) => n % 6 !== 0],
  [{ at: '2019-12-31' }, () => true],
  [{ currency: 'USD' }, (n) => n % 4 === 0],
  [{ minValue: '2.25', maxValue: '3' }, (n) => n >= 9 && n <= 12],
  [{ offeringId: 'o1', minValue: 9_999 }, () => false],
]

const SETTINGS: readonly (Overrides & { indexes: string })[] = [
  { threads: 1, indexes: INDEXES.join() },
  { threads: 2, indexes: 'bitmap', catalog: 'lru-level' },
  { threads: 1, indexes: 'map' },
]

describe.each(SETTINGS)('DELETE /prices with $threads threads and $indexes', (settings) => {
  it('counts the prices that match, and deletes them with dryRun=false', async () => {
    const prices = await startPrices({ data: createTemporaryFolder(), ...settings })
    onTestFinished(async () => void (await prices.stop()))
    const numbers = Array.from({ length: 60 }, (_, n) => n)
    // Each condition is tested with one of the settings.
    const conditions = CONDITIONS.filter((_, i) => SETTINGS[i % SETTINGS.length] === settings)
    for (const [parameters, matches] of conditions) {
      await prices.import(numbers.map(createNumbered))
      const matched = numbers.filter(matches).length
      expect(await removeWhere(prices, parameters)).toMatchObject({ status: 200, body: { matched, deleted: 0 } })
      expect(await removeWhere(prices, { ...parameters, expected: matched + 1 })).toMatchObject({
        status: 409,
        body: { code: 'MATCH_COUNT' },
      })
      const refused = await removeWhere(prices, { ...parameters, dryRun: false, expected: matched + 1 })
      expect(refused).toMatchObject({ status: 409, body: { code: 'MATCH_COUNT' } })
      expect(await listIds(prices)).toHaveLength(60)
      expect(await removeWhere(prices, { ...parameters, dryRun: false, expected: matched })).toMatchObject({
        status: 200,
        body: { matched, deleted: matched },
      })
      const left = numbers.filter((n) => !matches(n))
      expect(await listIds(prices)).toEqual(left.map(toUuid))
      expect((await prices.request('GET', '/facets?index=' + settings.indexes.split(',')[0])).body.count).toBe(
        left.length,
      )
    }
  })
})

it('deletes more prices than one change has edits, and keeps the others', async () => {
  const data = createTemporaryFolder()
  let prices = await startPrices({ data, threads: 2 })
  onTestFinished(async () => void (await prices.stop()))
  const numbers = Array.from({ length: 9_000 }, (_, n) => n)
  await prices.import(numbers.map(createNumbered))
  const body = { matched: 6_000, deleted: 6_000 }
  const removed = removeWhere(prices, { charValues: [{ char: 'n', op: 'notIn', value: [0] }], offeringId: 'o1' })
  expect(await removed).toMatchObject({ body: { matched: 2_400, deleted: 0 } })
  expect(await removeWhere(prices, { minValue: 750, dryRun: false })).toMatchObject({ status: 200, body })
  const left = numbers.filter((n) => n < 3_000)
  expect(await listIds(prices)).toEqual(left.map(toUuid))
  await prices.request('PUT', `/prices/${toUuid(5)}`, { ...createNumbered(5), value: 7 })
  await prices.stop()
  prices = await startPrices({ data, threads: 2 })
  expect(await listIds(prices)).toEqual(left.map(toUuid))
  expect((await prices.request('GET', `/prices/${toUuid(5)}`)).body.value).toBe(7)
  expect(await removeWhere(prices, { priceSpecId: 'MRC', dryRun: false })).toMatchObject({ body: { deleted: 3_000 } })
  expect(await listIds(prices)).toEqual([])
})

it('refuses unknown names and missing conditions, and deletes nothing', async () => {
  const prices = await startPrices({ data: createTemporaryFolder(), threads: 1, apiToken: 'secret', readToken: 'look' })
  onTestFinished(async () => void (await prices.stop()))
  const headers = { authorization: 'Bearer secret' }
  const id = toUuid(1)
  await prices.request('PUT', `/prices/${id}`, createNumbered(1), headers)
  for (const [parameters, status, code] of [
    [{}, 400, 'CONDITION_MISSING'],
    [{ charValues: [] }, 400, 'CONDITION_MISSING'],
    [{ expected: 1 }, 400, 'CONDITION_MISSING'],
    [{ offeringId: 'o1', q: 'x' }, 400, 'VALIDATION_FAILED'],
    [{ offerringId: 'o1' }, 400, 'VALIDATION_FAILED'],
    [{ offeringId: 'o1', minValue: 'x' }, 400, 'VALIDATION_FAILED'],
    [{ offeringId: 'no' }, 404, 'OFFERING_NOT_FOUND'],
    [{ groupId: 'no' }, 404, 'GROUP_NOT_FOUND'],
    [{ priceSpecId: 'no' }, 404, 'SPEC_NOT_FOUND'],
    [{ charValues: [{ char: 'no', value: 1 }] }, 404, 'CHARACTERISTIC_NOT_FOUND'],
    [{ charValues: [{ char: 'n', value: 7 }] }, 404, 'VALUE_NOT_FOUND'],
    [{ charValues: [{ char: 'n', value: 'x' }] }, 400, 'VALUE_TYPE'],
  ] as const)
    for (const dryRun of [true, false]) {
      const reply = await prices.request('DELETE', `/prices?${toQuery({ ...parameters, dryRun })}`, undefined, headers)
      expect([parameters, reply.status, reply.body.code]).toEqual([parameters, status, code])
    }
  for (const token of ['look', 'wrong'])
    for (const dryRun of [true, false]) {
      const reply = await prices.request('DELETE', `/prices?offeringId=o1&dryRun=${dryRun}`, undefined, {
        authorization: `Bearer ${token}`,
      })
      expect(reply.status).toBe(401)
    }
  expect((await prices.request('GET', `/prices/${id}`, undefined, headers)).status).toBe(200)
})
