import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { temporaryFolder } from '@influencer-stats/runtime/testing/temporary'
import fc from 'fast-check'
import { expect, it, onTestFinished } from 'vitest'
import { createPricesClient } from '../src/client.ts'
import type { Price } from '../src/core/price.ts'
import { openPricesLevel } from '../src/database.ts'
import { loadIndexes } from '../src/load-indexes.ts'
import { exportPrices } from '../src/owner/catalog-export.ts'
import { CatalogOwner } from '../src/owner/catalog-owner.ts'
import { priceOf, startPrices, uuid, type TestPrices } from './support/prices.ts'
import { runCli } from './support/cli.ts'
import { runs } from '@influencer-stats/runtime/testing/runs'

async function start(settings: Record<string, string | number> = {}): Promise<TestPrices> {
  const prices = await startPrices({ data: temporaryFolder(), ...settings })
  onTestFinished(async () => void (await prices.stop()))
  return prices
}

const linesOf = (text: string) =>
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

/** Imported as they are they are texts; in the order of ids, what looks like a date comes first. */
const note = (text: string) => ({ charValues: [{ char: 'note', value: text }] })
const DATE_BEFORE_TEXT = [
  priceOf({ id: uuid(9) }),
  priceOf({ id: uuid(8), ...note('a') }),
  priceOf({ id: uuid(7), ...note('2026-01-01') }),
]

it('an import of an export gives the same catalog, whatever is in it', async () => {
  const [first, second] = [await start(), await start({ catalog: 'lru-level', indexes: 'bitset' })]
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(price, { selector: ({ id }) => id, maxLength: 60 }),
      fc.nat(3),
      async (prices, gone) => {
        // Put before is what would not fit before: what is exported must not depend on how it came.
        await first.import([], '?replace=true&empty=true')
        for (const one of prices.slice(0, 3)) await first.ask('PUT', `/prices/${one.id}`, one)
        const { status } = await first.import(prices)
        fc.pre(status === 200)
        for (const one of prices.slice(0, gone)) await first.ask('DELETE', `/prices/${one.id}`)
        const { body } = await first.ask('GET', '/prices')
        const kept = prices.slice(gone).sort((a, b) => (a.id < b.id ? -1 : 1))
        // JSON has one zero.
        const told = kept.map((one) => ({ currency: 'USD', ...one, value: one.value + 0 }))
        expect(linesOf(body)).toEqual(told)
        expect(await second.import([body], '?replace=true&empty=true')).toMatchObject({
          status: 200,
          body: { imported: kept.length, prices: kept.length },
        })
        expect((await second.ask('GET', '/prices')).body).toBe(body)
        expect((await second.ask('GET', '/facets?index=bitset')).body).toEqual((await first.ask('GET', '/facets')).body)
      },
    ),
    { numRuns: runs(8), examples: [[DATE_BEFORE_TEXT, 1]] },
  )
})

it('is of one moment, and can be resumed', async () => {
  const prices = await start()
  const many = Array.from({ length: 6_000 }, (_, i) => priceOf({ id: uuid(i), value: 1, offeringId: `o${i % 5}` }))
  await prices.import(many)
  const client = createPricesClient(prices.url)
  const pieces = client.export()[Symbol.asyncIterator]()
  let text = Buffer.from((await pieces.next()).value!).toString()
  // All of it changes meanwhile: by changes and deletions where it lies, and by imports, of which the second removes it.
  await prices.ask('PUT', `/prices/${uuid(5_998)}`, { ...many[5_998]!, value: 7, groupId: 'another' })
  await prices.ask('DELETE', `/prices/${uuid(5_997)}`)
  for (let i = 0; i < 2; i++) await prices.import(many.map((one) => ({ ...one, value: 2 })))
  await prices.ask('PUT', `/prices/${uuid(5_000)}`, { ...many[5_000]!, value: 3 })
  await prices.ask('DELETE', `/prices/${uuid(5_999)}`)
  for (let read = await pieces.next(); !read.done; read = await pieces.next()) text += Buffer.from(read.value)
  const told = linesOf(text).map(({ id, groupId, value: one }) => [id, groupId, one])
  expect(told).toEqual(many.map(({ id }) => [id, 'g1', 1]))

  const part = linesOf((await prices.ask('GET', `/prices?after=${uuid(4_998)}&limit=2`)).body)
  expect(part.map(({ id, value: one }) => [id, one])).toEqual([
    [uuid(4_999), 2],
    [uuid(5_000), 3],
  ])
  expect((await prices.ask('GET', `/prices?after=${uuid(5_998)}`)).body).toBe('')
  expect(await prices.ask('GET', '/prices?after=1')).toMatchObject({ status: 400, body: { code: 'VALIDATION_FAILED' } })
  expect(await prices.ask('GET', '/prices?limit=0')).toMatchObject({ status: 400, body: { code: 'VALIDATION_FAILED' } })
  expect((await prices.ask('HEAD', '/prices')).status).toBe(405)
})

it('reads nothing that came after its moment, whenever it is read', async () => {
  const level = await openPricesLevel(temporaryFolder())
  onTestFinished(() => level.close())
  const owner = await CatalogOwner.open({
    level,
    indexes: await loadIndexes({ indexes: ['bitset'] }),
    log: { error: () => undefined },
    most: 100,
    holdsBlocks: false,
    onChange: async () => undefined,
    onReplace: async () => undefined,
  })
  await owner.put(priceOf({ id: uuid(1) }))
  const { close, ...frozen } = await owner.freeze()
  // Into the same pages.
  await owner.put(priceOf({ id: uuid(2) }))
  await owner.remove(uuid(1))
  const pieces = await Array.fromAsync(exportPrices(frozen, {}))
  expect(linesOf(Buffer.concat(pieces).toString()).map(({ id }) => id)).toEqual([uuid(1)])
  await close()
})

it('two at a time; one that its client leaves makes room', async () => {
  const prices = await start()
  const long = 'x'.repeat(250)
  await prices.import(Array.from({ length: 30_000 }, (_, i) => priceOf({ id: uuid(i), priceSpecId: long })))
  const readers = []
  for (let i = 0; i < 2; i++) {
    const reply = await fetch(`${prices.url}/prices`)
    const reader = reply.body!.getReader()
    await reader.read()
    readers.push(reader)
  }
  const refused = await prices.ask('GET', '/prices')
  expect(refused).toMatchObject({ status: 503, body: { code: 'EXPORTS_RUNNING' } })
  expect(refused.headers.get('retry-after')).toBe('5')
  await readers[0]!.cancel()
  let reply = await prices.ask('GET', '/prices?limit=1')
  while (reply.status === 503) {
    await nextTurn()
    reply = await prices.ask('GET', '/prices?limit=1')
  }
  expect(linesOf(reply.body)).toMatchObject([{ id: uuid(0) }])
  await readers[1]!.cancel()
})

it('`pnpm prices export` writes a new file, which import takes', async () => {
  const [first, second] = [await start(), await start()]
  await first.import(Array.from({ length: 10 }, (_, i) => priceOf({ id: uuid(9 - i), value: i })))
  const file = join(temporaryFolder(), 'all.ndjson')
  expect(await runCli('export', file, '--url', first.url)).toMatchObject({ code: 0 })
  const text = readFileSync(file, 'utf8')
  expect(text).toBe((await first.ask('GET', '/prices')).body)
  expect(await runCli('import', file, '--url', second.url)).toMatchObject({ code: 0 })
  expect((await second.ask('GET', '/prices')).body).toBe(text)
  // What is there stays.
  expect(await runCli('export', file, '--url', second.url)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('EEXIST'),
  })
  const none = join(temporaryFolder(), 'none.ndjson')
  expect(await runCli('export', none, '--url', 'http://127.0.0.1:1')).toMatchObject({ code: 1 })
  expect(existsSync(none)).toBe(false)
  expect(await runCli('export')).toMatchObject({ code: 1 })
})
