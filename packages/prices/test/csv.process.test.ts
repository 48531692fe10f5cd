import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { expect, it, onTestFinished } from 'vitest'
import { stringifyPrice } from '../src/core/price-json.ts'
import { createPricesClient } from '../src/client.ts'
import { createPrice, startPrices, toUuid, type TestPrices } from './support/prices.ts'
import { runCli } from './support/run-cli.ts'

const HEAD = 'id,offeringId,groupId,priceSpecId,value'
const CSV = { 'content-type': 'text/csv; charset=utf-8' }

async function start(): Promise<TestPrices> {
  const prices = await startPrices({ data: createTemporaryFolder(), threads: 1 })
  onTestFinished(async () => void (await prices.stop()))
  return prices
}

/** Prices whose characteristics are in the order of the columns. */
const some = [
  createPrice({ charValues: [{ char: 'Term', value: '12' }], value: 1.5, currency: 'EUR', from: '2026-01-01' }),
  createPrice({
    offeringId: 'a "quoted", name\nof two lines',
    charValues: [
      { char: 'Term', value: '2026-01-31' },
      { char: 'seats, at most', value: -7 },
    ],
    default: true,
    to: '2026-12-31',
  }),
  createPrice({
    charValues: [
      { char: 'markets', value: ['DE', 'AT'] },
      { char: 'size', value: { from: 10, to: 99 } },
      { char: 'is new', value: true },
    ],
  }),
  createPrice({
    charValues: [
      { char: 'markets', value: 'DE' },
      { char: 'size', value: [{ from: 100 }, 7] },
    ],
  }),
  createPrice({ value: 1e21 }),
  createPrice({ id: 'an id, "quoted"', value: '1.10' }),
]

it('an export to CSV and its import give the same catalog', async () => {
  const [first, second] = [await start(), await start()]
  await first.import(some.map((one) => stringifyPrice(one)))
  // A characteristic that no price has any more has no column.
  await first.import([createPrice({ id: toUuid(99), charValues: [{ char: 'gone', value: 'x' }] })])
  await first.request('DELETE', `/prices/${toUuid(99)}`)
  const csv = await first.request('GET', '/prices?format=csv')
  expect(csv.headers.get('content-type')).toBe('text/csv; charset=utf-8; header=present')
  expect(csv.body.split('\r\n')[0]).toBe(
    `${HEAD},currency,default,from,to,text.Term,"integer.seats, at most",text.markets,json.markets,range.size,json.size,boolean.is new`,
  )
  expect(await second.request('POST', '/prices/import', csv.body, CSV)).toMatchObject({
    status: 200,
    body: { imported: 6, prices: 6 },
  })
  expect((await second.request('GET', '/prices')).body).toBe((await first.request('GET', '/prices')).body)
  const part = (await second.request('GET', `/prices?format=csv&after=${some[0]!.id}&limit=1`)).body
  expect(part.split('\r\n').slice(1)).toEqual([expect.stringContaining(some[1]!.id), ''])
  const empty = await start()
  expect((await empty.request('GET', '/prices?format=csv')).body).toBe(`${HEAD},currency,default,from,to\r\n`)
})

it('an export has the format that the client accepts', async () => {
  const prices = await start()
  for (const [accept, type] of [
    ['text/csv', 'text/csv'],
    ['text/csv;q=0.5, */*;q=0.1', 'text/csv'],
    ['application/x-ndjson, text/csv;q=0.9', 'application/x-ndjson'],
    ['text/csv;q=0', 'application/x-ndjson'],
    ['*/*', 'application/x-ndjson'],
  ] as const) {
    const { headers } = await prices.request('GET', '/prices', undefined, { accept })
    expect([accept, headers.get('content-type')!.split(';')[0], headers.get('vary')]).toEqual([
      accept,
      type,
      'accept, Accept-Encoding',
    ])
    const named = await prices.request('GET', '/prices?format=ndjson', undefined, { accept })
    expect(named.headers.get('content-type')).toBe('application/x-ndjson')
  }
})

it('an invalid CSV file is refused as a whole', async () => {
  const prices = await start()
  const id = toUuid(1)
  const row = (cells: string, more = '') => `${HEAD}${more}\n${id},o,g,s,1${more && ',5'}\n${cells}\n`
  for (const [csv, detail] of [
    [row(`${id},o,g,s,x`), 'line 3: column "value" must be a decimal such as 9.50; received "x"'],
    [row(`,o,g,s,1`), 'line 3: price must have the property "id"'],
    [row(`${id},o,g,s,1,text`, ',integer.size'), 'line 3: column "integer.size" must be an integer'],
    [
      `${HEAD},integer.size,text.size\n${id},o,g,s,1,5,\n${id},"o\n",g,s,1,,x\n${id},o,g,s,1,5,`,
      'line 3: TYPE_CONFLICT size',
    ],
    [`${HEAD},from\n${id},"o\n",g,s,1,\n${id},o,g,s,1,1.1.2026\n`, 'line 4: price/from must be a date'],
  ]) {
    const reply = await prices.request('POST', '/prices/import', csv, CSV)
    expect([reply.status, reply.body.code]).toEqual([400, 'BAD_LINE'])
    expect(reply.body.detail).toContain(detail)
  }
  expect((await prices.request('GET', '/prices')).body).toBe('')
})

it.each(['all.csv', 'all.csv.gz', 'all.ndjson.gz'])('the CLI exports and imports %s', async (name) => {
  const [first, second] = [await start(), await start()]
  await createPricesClient(first.url).import(some.map((one) => `${stringifyPrice(one)}\n`).join(''))
  const file = join(createTemporaryFolder(), name)
  expect(await runCli('export', file, '--url', first.url)).toMatchObject({ code: 0 })
  const bytes = readFileSync(file)
  const plain = name.endsWith('.gz') ? gunzipSync(bytes) : bytes
  const format = name.includes('csv') ? 'csv' : 'ndjson'
  expect(plain.toString()).toBe((await first.request('GET', `/prices?format=${format}`)).body)
  expect(await runCli('import', file, '--url', second.url)).toMatchObject({
    code: 0,
    stdout: 'imported 6 prices; the catalog has 6\n',
  })
  expect((await second.request('GET', '/prices')).body).toBe((await first.request('GET', '/prices')).body)
})

it('the CLI writes the sample catalog as CSV, and reports a damaged file', async () => {
  const prices = await start()
  const file = join(createTemporaryFolder(), 'sample.csv.gz')
  expect(await runCli('generate', file, '--offerings', '1')).toMatchObject({ code: 0 })
  expect(await runCli('import', file, '--url', prices.url)).toMatchObject({ code: 0 })
  const sample = await prices.request('GET', '/prices')
  await prices.import([], '?replace=true&empty=true')
  await runCli('generate', '--offerings', '1', '--url', prices.url)
  expect(sample.body).toBe((await prices.request('GET', '/prices')).body)

  const damaged = join(createTemporaryFolder(), 'damaged.csv.gz')
  writeFileSync(damaged, gzipSync('id\nx\n'))
  expect(await runCli('import', damaged, '--url', prices.url)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('BAD_LINE: '),
  })
  writeFileSync(damaged, readFileSync(file).subarray(0, -100))
  expect(await runCli('import', damaged, '--replace', '--url', prices.url)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('unexpected end of file'),
  })
  expect((await prices.request('GET', '/prices')).body).toBe(sample.body)
})
