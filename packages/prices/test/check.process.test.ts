import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { expect, it, onTestFinished } from 'vitest'
import { createPricesClient } from '../src/client.ts'
import { formatCsv } from '../src/csv/write-csv.ts'
import { createPrice, startPrices, type TestPrices } from './support/prices.ts'
import { runCli } from './support/run-cli.ts'

async function start(): Promise<TestPrices> {
  const prices = await startPrices({ data: createTemporaryFolder(), threads: 1, maxPrices: 5 })
  onTestFinished(async () => void (await prices.stop()))
  return prices
}

const term = (value: string | number) => ({ charValues: [{ char: 'Term', value }] })
const some = [createPrice(term('12')), createPrice({ ...term('12'), value: 2 }), createPrice(term('24'))]
const CONFLICT = {
  code: 'OVERLAPPING_PRICES',
  line: 2,
  other: 1,
  detail: 'line 1 has the same conditions, overlapping dates and another value, and no default price decides',
}

it('a check reports all problems, and imports nothing', async () => {
  const prices = await start()
  await prices.import([createPrice(term(12))])
  const before = (await prices.request('GET', '/prices')).body
  const check = async (lines: readonly unknown[], query = '') =>
    (await prices.import(lines, `?check=true${query}`)) as { status: number; body: any }
  expect((await check(some, '&replace=true')).body).toEqual({ prices: 3, problems: [CONFLICT], more: false })
  const { status, body } = await check([some[0], 'x', ...some.map((one) => ({ ...one, ...term(12) }))])
  expect(status).toBe(200)
  expect(body).toMatchObject({ prices: 3, more: false })
  expect(body.problems.map(({ code, line }: { code: string; line: number }) => [code, line])).toEqual([
    ['BAD_LINE', 1],
    ['BAD_LINE', 2],
    ['OVERLAPPING_PRICES', 4],
    ['REPEATED_PRICE', 5],
    ['OVERLAPPING_PRICES', 5],
  ])
  expect(body.problems[0].detail).toBe('TYPE_CONFLICT Term is of type integer')
  const many = Array.from({ length: 7 }, (_, i) => createPrice({ offeringId: `o${i}` }))
  expect((await check(many)).body.problems).toMatchObject([{ code: 'CATALOG_FULL', line: 6 }])
  expect((await check([])).body).toEqual({ prices: 0, problems: [], more: false })
  expect((await prices.request('GET', '/prices')).body).toBe(before)
  // The same import after the check.
  expect((await prices.import(some, '?replace=true')).body).toEqual({ imported: 3, prices: 3 })
})

it('a check reads CSV, and its client waits for no other', async () => {
  const prices = await start()
  const client = createPricesClient(prices.url)
  expect(await client.check(formatCsv(some), { format: 'csv' })).toEqual({
    prices: 3,
    problems: [{ ...CONFLICT, line: 3, other: 2, detail: CONFLICT.detail.replace('line 1', 'line 2') }],
    more: false,
  })
  const long = `colour\n${'x'.repeat(3_000_000)}`
  expect(await client.check(long, { format: 'csv' })).toMatchObject({ problems: [{ code: 'BAD_LINE', line: 1 }] })
  // While the first check waits for its lines.
  const { promise, resolve } = Promise.withResolvers<void>()
  async function* sendSlowly() {
    yield Buffer.from(JSON.stringify(some[0]))
    await promise
  }
  const first = client.check(sendSlowly())
  const second = async () => client.check('').catch(({ code }: { code: string }) => code)
  while ((await second()) !== 'IMPORT_RUNNING');
  resolve()
  expect(await first).toEqual({ prices: 1, problems: [], more: false })
  expect(await second()).toEqual({ prices: 0, problems: [], more: false })
})

it('`pnpm prices check` reads a file without a service', async () => {
  const file = join(createTemporaryFolder(), 'prices.csv.gz')
  writeFileSync(file, gzipSync(formatCsv(some)))
  expect(await runCli('check', file)).toMatchObject({
    code: 1,
    stdout: `line 3: OVERLAPPING_PRICES ${CONFLICT.detail.replace('line 1', 'line 2')}\n1 problem in a file with 3 valid prices\n`,
  })
  const valid = join(createTemporaryFolder(), 'prices.ndjson')
  writeFileSync(valid, JSON.stringify(some[0]))
  expect(await runCli('check', valid)).toMatchObject({ code: 0, stdout: '0 problems in a file with 1 valid prices\n' })
  expect(await runCli('check', `${valid}.none`)).toMatchObject({ code: 1, stderr: expect.stringContaining('ENOENT') })
  expect(await runCli('check')).toMatchObject({ code: 1, stdout: '' })
})
