import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import fc from 'fast-check'
import { expect, it, onTestFinished, vi } from 'vitest'
import { createPricesClient } from '../src/client.ts'
import type { Price } from '../src/core/price.ts'
import { openPricesLevel } from '../src/storage/database.ts'
import { exportPrices } from '../src/catalog/catalog-export.ts'
import { ExportSessions } from '../src/export/export-sessions.ts'
import { createPrice, startPrices, toUuid, type TestPrices } from './support/prices.ts'
import { createTestCatalog, openTestStandalone } from './support/standalone.ts'
import { runCli } from './support/run-cli.ts'
import { scaleRuns } from '@influencer-stats/runtime/testing/scale-runs'

async function start(settings: Record<string, string | number> = {}): Promise<TestPrices> {
  const prices = await startPrices({ data: createTemporaryFolder(), ...settings })
  onTestFinished(async () => void (await prices.stop()))
  return prices
}

const parseLines = (text: string) =>
  text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line))

const name = fc.oneof(
  fc.constantFrom('a', 'b', 'ö "2"', '\u2028', '😀', '\ud800'),
  fc.string({ minLength: 1, maxLength: 8 }),
)
const date = fc.constantFrom('2026-01-01', '2026-02-28', '2030-12-31')
/** Characteristics of integers, of dates, and of texts that may look like dates. */
const value = {
  size: fc.integer(),
  since: date,
  note: fc.oneof(name, date),
}
const charValues = fc
  .record({ size: value.size, since: value.since, note: value.note }, { requiredKeys: [] })
  .map((record) => Object.entries(record).map(([char, one]) => ({ char, value: one })))
const price: fc.Arbitrary<Price> = fc.record(
  {
    id: fc.uuid(),
    offeringId: name,
    groupId: name,
    priceSpecId: name,
    charValues,
    value: fc.oneof(fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true })),
    currency: fc.constantFrom('USD', 'EUR'),
    default: fc.constant(true),
    from: fc.constant('2026-01-01'),
    to: date,
  },
  { requiredKeys: ['id', 'offeringId', 'groupId', 'priceSpecId', 'charValues', 'value'] },
)

/** In their import order these values are texts; in the order of ids, a text that looks like a date comes first. */
const note = (text: string) => ({ charValues: [{ char: 'note', value: text }] })
const DATE_BEFORE_TEXT = [
  createPrice({ id: toUuid(9) }),
  createPrice({ id: toUuid(8), ...note('a') }),
  createPrice({ id: toUuid(7), ...note('2026-01-01') }),
]

it('an import of an export gives the same catalog, for any contents', async () => {
  const [first, second] = [await start(), await start({ catalog: 'lru-level', indexes: 'bitset' })]
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(price, { selector: ({ id }) => id, maxLength: 60 }),
      fc.nat(3),
      async (prices, deletedCount) => {
        // Some prices are put before the import: an export must not depend on the origin of prices.
        await first.import([], '?replace=true&empty=true')
        for (const one of prices.slice(0, 3)) await first.request('PUT', `/prices/${one.id}`, one)
        const { status } = await first.import(prices)
        fc.pre(status === 200)
        for (const one of prices.slice(0, deletedCount)) await first.request('DELETE', `/prices/${one.id}`)
        const { body } = await first.request('GET', '/prices')
        const remaining = prices.slice(deletedCount).sort((a, b) => (a.id < b.id ? -1 : 1))
        // JSON.stringify writes one zero.
        const exported = remaining.map((one) => ({ currency: 'USD', ...one, value: Number(one.value) + 0 }))
        expect(parseLines(body)).toEqual(exported)
        expect(await second.import([body], '?replace=true&empty=true')).toMatchObject({
          status: 200,
          body: { imported: remaining.length, prices: remaining.length },
        })
        expect((await second.request('GET', '/prices')).body).toBe(body)
        expect((await second.request('GET', '/facets?index=bitset')).body).toEqual(
          (await first.request('GET', '/facets')).body,
        )
      },
    ),
    { numRuns: scaleRuns(8), examples: [[DATE_BEFORE_TEXT, 1]] },
  )
})

it('exports one moment, and can be resumed', async () => {
  const prices = await start()
  const allPrices = Array.from({ length: 6_000 }, (_, i) =>
    createPrice({ id: toUuid(i), value: 1, offeringId: `o${i % 5}` }),
  )
  await prices.import(allPrices)
  const client = createPricesClient(prices.url)
  const pieces = client.export()[Symbol.asyncIterator]()
  let text = Buffer.from((await pieces.next()).value!).toString()
  // All prices change meanwhile: by changes and deletions in place, and by imports. The second import removes the generation.
  await prices.request('PUT', `/prices/${toUuid(5_998)}`, { ...allPrices[5_998]!, value: 7, groupId: 'another' })
  await prices.request('DELETE', `/prices/${toUuid(5_997)}`)
  for (let i = 0; i < 2; i++) await prices.import(allPrices.map((one) => ({ ...one, value: 2 })))
  await prices.request('PUT', `/prices/${toUuid(5_000)}`, { ...allPrices[5_000]!, value: 3 })
  await prices.request('DELETE', `/prices/${toUuid(5_999)}`)
  for (let read = await pieces.next(); !read.done; read = await pieces.next()) text += Buffer.from(read.value)
  const exported = parseLines(text).map(({ id, groupId, value: one }) => [id, groupId, one])
  expect(exported).toEqual(allPrices.map(({ id }) => [id, 'g1', 1]))

  const part = parseLines((await prices.request('GET', `/prices?after=${toUuid(4_998)}&limit=2`)).body)
  expect(part.map(({ id, value: one }) => [id, one])).toEqual([
    [toUuid(4_999), 2],
    [toUuid(5_000), 3],
  ])
  expect((await prices.request('GET', `/prices?after=${toUuid(5_998)}`)).body).toBe('')
  expect(await prices.request('GET', '/prices?after=')).toMatchObject({
    status: 400,
    body: { code: 'VALIDATION_FAILED' },
  })
  expect(await prices.request('GET', '/prices?limit=0')).toMatchObject({
    status: 400,
    body: { code: 'VALIDATION_FAILED' },
  })
  expect((await prices.request('HEAD', '/prices')).status).toBe(405)
})

it('an export contains no later change, whenever it is read', async () => {
  const level = await openPricesLevel(createTemporaryFolder())
  onTestFinished(() => level.close())
  const catalog = createTestCatalog(level, { hasSharedBlocks: false })
  const { put, remove } = await openTestStandalone(catalog, level)
  await put(createPrice({ id: toUuid(1) }))
  const { close, ...frozen } = await catalog.freeze()
  // Into the same pages.
  await put(createPrice({ id: toUuid(2) }))
  await remove(toUuid(1))
  const pieces = await Array.fromAsync(exportPrices(frozen, {}))
  expect(parseLines(Buffer.concat(pieces).toString()).map(({ id }) => id)).toEqual([toUuid(1)])
  await close()
})

it('an export that was aborted before its first line is refused', async () => {
  const { start: startExport } = ExportSessions.prototype
  const starts = vi.spyOn(ExportSessions.prototype, 'start').mockImplementation(async function (
    this: ExportSessions,
    range,
  ) {
    const token = await startExport.call(this, range)
    await this.end(token)
    return token
  })
  onTestFinished(() => starts.mockRestore())
  const prices = await start()
  expect(await prices.request('GET', '/prices')).toMatchObject({ status: 503, body: { code: 'EXPORT_LOST' } })
})

it('`pnpm prices export` writes a new file, which an import accepts', async () => {
  const [first, second] = [await start(), await start()]
  await first.import(Array.from({ length: 10 }, (_, i) => createPrice({ id: toUuid(9 - i), value: i })))
  const file = join(createTemporaryFolder(), 'all.ndjson')
  expect(await runCli('export', file, '--url', first.url)).toMatchObject({ code: 0 })
  const text = readFileSync(file, 'utf8')
  expect(text).toBe((await first.request('GET', '/prices')).body)
  expect(await runCli('import', file, '--url', second.url)).toMatchObject({ code: 0 })
  expect((await second.request('GET', '/prices')).body).toBe(text)
  // Existing files stay unchanged.
  expect(await runCli('export', file, '--url', second.url)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('EEXIST'),
  })
  const none = join(createTemporaryFolder(), 'none.ndjson')
  expect(await runCli('export', none, '--url', 'http://127.0.0.1:1')).toMatchObject({ code: 1 })
  expect(existsSync(none)).toBe(false)
  expect(await runCli('export')).toMatchObject({ code: 1 })
})
