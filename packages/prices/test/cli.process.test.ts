import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createPricesClient } from '../src/client.ts'
import { generateSamplePrices } from '../src/sample/sample-catalog.ts'
import { runCli } from './support/run-cli.ts'
import { createPrice, toSearch, startPrices, type TestPrices } from './support/prices.ts'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'

let prices: TestPrices
beforeAll(async () => {
  prices = await startPrices({ data: createTemporaryFolder() })
})
afterAll(() => prices.stop())

it('imports a file', async () => {
  const file = join(createTemporaryFolder(), 'prices.ndjson')
  const price = createPrice({ value: 7 })
  writeFileSync(file, `${JSON.stringify(price)}\n`)
  expect(await runCli('import', file, '--url', prices.url)).toMatchObject({
    code: 0,
    stdout: 'imported 1 prices; the catalog has 1\n',
  })
  const client = createPricesClient(prices.url)
  expect(await client.search(toSearch(price))).toMatchObject({ id: price.id, value: 7 })
  expect(await client.get(price.id)).toMatchObject(price)
  expect(await client.delete(price.id)).toBe(true)
  expect(await client.delete(price.id)).toBe(false)
  expect(await client.get(price.id)).toBeUndefined()
})

it('names the file that it cannot read', async () => {
  const { code, stderr } = await runCli('import', 'nofile', '--url', prices.url)
  expect(code).toBe(1)
  expect(stderr.trim()).toMatch(/^ENOENT: .*'nofile'$/)
})

it('generates the sample catalog', async () => {
  expect(await runCli('generate', '--offerings', '1', '--url', prices.url)).toMatchObject({ code: 0 })
  const sample = [...generateSamplePrices(1)]
  expect(sample).toHaveLength(9_744)
  const client = createPricesClient(prices.url)
  for (const price of [sample[0]!, sample[5_000]!, sample[9_743]!]) {
    const { id, value, priceSpecId: spec } = price
    expect(await client.search(toSearch(price))).toEqual({ id, value, spec, currency: 'USD' })
  }
})

it('never destroys data without an explicit flag', async () => {
  const client = createPricesClient(prices.url)
  const existing = createPrice({ offeringId: 'kept' })
  await client.put(existing)
  const empty = join(createTemporaryFolder(), 'empty.ndjson')
  for (const content of ['', '\n \n']) {
    writeFileSync(empty, content)
    expect(await runCli('import', empty, '--replace', '--url', prices.url)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('IMPORT_EMPTY'),
    })
  }
  // A file name is the destination, which must not exist yet.
  const file = join(createTemporaryFolder(), 'sample.ndjson')
  expect(await runCli('generate', file, '--offerings', '1', '--url', prices.url)).toMatchObject({ code: 0 })
  const lines = readFileSync(file, 'utf8').trim().split('\n')
  expect(lines).toHaveLength(9_744)
  expect(JSON.parse(lines[9_743]!)).toEqual([...generateSamplePrices(1)][9_743])
  expect(await runCli('generate', file, '--offerings', '1')).toMatchObject({ code: 1 })
  expect(readFileSync(file, 'utf8').trim().split('\n')).toHaveLength(9_744)
  for (const more of [
    ['generate', file, '--replace'],
    ['generate', `${file}.2`, `${file}.3`],
    ['import', file, file],
  ])
    expect(await runCli(...more, '--url', prices.url)).toMatchObject({ code: 1, stdout: '' })
  expect(await runCli('generate', '--offerings', '1', '--url', prices.url)).toMatchObject({ code: 0 })
  expect(await client.get(existing.id)).toMatchObject({ offeringId: 'kept' })

  expect(await runCli('generate', '--offerings', '1', '--replace', '--url', prices.url)).toMatchObject({ code: 0 })
  expect(await client.get(existing.id)).toBeUndefined()
  writeFileSync(empty, '')
  expect(await runCli('import', empty, '--replace', '--empty', '--url', prices.url)).toMatchObject({
    code: 0,
    stdout: 'imported 0 prices; the catalog has 0\n',
  })
})

it('reports usage errors', async () => {
  const file = join(createTemporaryFolder(), 'bad.ndjson')
  writeFileSync(file, 'nonsense\n')
  expect(await runCli('import', file, '--url', prices.url)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('BAD_LINE'),
  })
  expect(await runCli('import', `${file}.none`, '--url', prices.url)).toMatchObject({ code: 1 })
  expect(await runCli('import', file, '--url', 'http://127.0.0.1:1')).toMatchObject({ code: 1 })
  expect(await runCli('nonsense')).toMatchObject({ code: 1 })
  expect(await runCli('--help')).toMatchObject({ code: 0 })
})

it('exports the folder of a stopped service as the running service does', async () => {
  const data = createTemporaryFolder()
  const own = await startPrices({ data })
  const client = createPricesClient(own.url)
  for (const value of [1, 2, 3]) await client.put(createPrice({ value }))
  const [live, stopped] = ['live', 'stopped'].map((name) => join(createTemporaryFolder(), name)) as [string, string]
  expect(await runCli('export', live, '--url', own.url)).toMatchObject({ code: 0 })
  expect(await runCli('export', stopped, '--from', data)).toMatchObject({ code: 1 })
  await own.stop()
  expect(await runCli('export', stopped, '--from', data)).toMatchObject({ code: 0 })
  expect(readFileSync(stopped, 'utf8')).toBe(readFileSync(live, 'utf8'))
  expect(readFileSync(stopped, 'utf8').split('\n')).toHaveLength(4)
})
