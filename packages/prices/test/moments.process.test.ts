import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createPrice, startPrices, toSearch, toUuid, type TestPrices } from './support/prices.ts'

// Prices that are valid from or until a minute.

let prices: TestPrices
beforeAll(async () => {
  prices = await startPrices({ data: createTemporaryFolder() })
})
afterAll(() => prices.stop())

const put = (fields: object, id = toUuid(1)) => {
  const { id: _id, ...body } = createPrice(fields)
  return prices.request('PUT', `/prices/${id}`, body)
}
const minute = (offset: number) => `${new Date(Date.now() + offset * 60_000).toISOString().slice(0, 16)}Z`

it('returns moments in UTC, and midnights as dates', async () => {
  const times = { from: '2026-01-31T18:00+01:00', to: '2026-02-28T20:30:00-05:30' }
  const inUtc = { from: '2026-01-31T17:00Z', to: '2026-03-01T02:00Z' }
  expect(await put(times)).toMatchObject({ status: 201, body: inUtc })
  expect((await prices.request('GET', `/prices/${toUuid(1)}`)).body).toMatchObject(inUtc)
  const midnights = { from: '2026-02-01T01:00+01:00', to: '2026-03-01T00:00Z' }
  const dates = { from: '2026-02-01', to: '2026-02-28' }
  expect(await put(midnights)).toMatchObject({ status: 200, body: dates })
  expect((await prices.request('GET', `/prices/${toUuid(1)}`)).body).toMatchObject(dates)
})

it.each(['PUT', 'import'])('finds the price that is valid at a minute, after %s', async (how) => {
  const offeringId = `of ${how}`
  const some = [
    createPrice({ offeringId, value: 1, to: '2026-01-31T18:00+01:00' }),
    createPrice({ offeringId, value: 2, from: '2026-01-31T17:00Z', to: '2026-02-10' }),
    createPrice({ offeringId, value: 3, from: '2026-02-11', to: minute(60) }),
  ]
  if (how === 'import') await prices.import(some)
  else for (const { id, ...body } of some) await prices.request('PUT', `/prices/${id}`, body)
  const find = async (at: string) => (await prices.search({ ...toSearch(some[0]!), at })).body.value
  const moments = {
    '2026-01-31T16:59Z': 1,
    '2026-01-31': 1,
    '2026-01-31T17:00Z': 2,
    '2026-01-31T18:59+02:00': 1,
    '2026-02-10T23:59Z': 2,
    '2026-02-11': 3,
    '2026-02-11T00:00-01:00': 3,
    now: 3,
  }
  for (const [at, value] of Object.entries(moments)) expect([at, await find(at)]).toEqual([at, value])
  const items = Object.keys(moments).map((at) => JSON.stringify({ id: at, ...toSearch(some[0]!), at }))
  const answers = await prices.searchBulk(items.join(''))
  expect(answers.map(({ id, price }) => [id, price?.value])).toEqual(Object.entries(moments))
  const facets = new URLSearchParams({ offeringId, at: '2026-01-31T17:00Z' })
  expect((await prices.request('GET', `/facets?${facets}`)).body.count).toBe(1)
})

it('exports moments, and imports them again', async () => {
  const lines = (await prices.request('GET', '/prices')).body
  expect(lines).toContain('"to":"2026-01-31T17:00Z"')
  expect(await prices.import([lines], '?replace=true')).toMatchObject({ status: 200 })
  expect((await prices.request('GET', '/prices')).body).toBe(lines)
})

it.each([
  [{ from: '2026-01-31T18:00' }, 400, 'VALIDATION_FAILED'],
  [{ from: '2026-01-31T18:00:30Z' }, 400, 'VALIDATION_FAILED'],
  [{ to: '2026-02-30T18:00Z' }, 400, 'VALIDATION_FAILED'],
  [{ to: 'now' }, 400, 'VALIDATION_FAILED'],
  [{ from: '2026-01-31T18:00Z', to: '2026-01-31T19:00+01:00' }, 409, 'INVALID_DATE_RANGE'],
  [{ from: '2026-01-31T18:00Z', to: '2026-01-30' }, 409, 'INVALID_DATE_RANGE'],
])('refuses %j', async (fields, status, code) => {
  expect(await put(fields)).toMatchObject({ status, body: { code } })
  const line = await prices.import([createPrice(fields)])
  expect([line.status, line.body.code]).toEqual([400, 'BAD_LINE'])
})

it.each(['2026-01-31T18:00', 'today', '2026-02-30'])('refuses a search at %s', async (at) => {
  expect(await prices.search({ ...toSearch(createPrice()), at })).toMatchObject({
    status: 400,
    body: { code: 'VALIDATION_FAILED' },
  })
})
