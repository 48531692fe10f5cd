import { randomUUID } from 'node:crypto'
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { temporaryFolder } from '@influencer-stats/runtime/testing/temporary'
import { BLOCK_BYTES, pageOf } from '../src/core/answers.ts'
import { Draft } from '../src/core/draft.ts'
import { Terms } from '../src/core/terms.ts'
import type { Price } from '../src/core/price.ts'
import { openPricesLevel } from '../src/database.ts'
import { loadIndexes } from '../src/load-indexes.ts'
import { CatalogOwner } from '../src/owner/catalog-owner.ts'
import { answersKey, META, rowsKey, termKey } from '../src/page-store.ts'
import { PriceLineReader } from '../src/price-line-reader.ts'
import { record } from './support/power-cut.ts'
import { priceOf, startPrices, uuid } from './support/prices.ts'

const MANY = 2_600
const indexes = await loadIndexes({ indexes: ['bitset'] })
const silent = { error: () => undefined, info: () => undefined }

const ownerOf = (level: any, kinds = indexes) =>
  CatalogOwner.open({
    level,
    indexes: kinds,
    holdsBlocks: true,
    most: 1e6,
    log: silent,
    onChange: async () => undefined,
    onReplace: async () => undefined,
  })

function importAll(owner: CatalogOwner, prices: readonly Price[]): Promise<number> {
  const reader = new PriceLineReader(owner.draft(true), true, 1e6)
  reader.take(Buffer.from(prices.map((price) => JSON.stringify(price)).join('\n')))
  reader.end()
  return owner.take(reader)
}

const generationOf = (value: number): Price[] =>
  Array.from({ length: MANY }, (_, i) =>
    priceOf({ id: uuid(i), value, charValues: [{ char: `generation ${value}`, value: i % 7 }] }),
  )

it('a power cut at any moment leaves what was acknowledged, or what came next', async () => {
  const recording = await record(temporaryFolder())
  const owner = await ownerOf(recording.level)
  // After which write what is known to be there: the values of three prices.
  const watched = [0, 1, MANY - 1].map(uuid)
  const valuesOf = (of: CatalogOwner) => Promise.all(watched.map(async (id) => (await of.get(id))?.value))
  const states: { length: number; values: unknown }[] = []
  const acknowledged = async () => void states.push({ length: recording.length, values: await valuesOf(owner) })

  await acknowledged()
  for (const value of [1, 2]) {
    await importAll(owner, generationOf(value))
    await acknowledged()
    await owner.put({ ...priceOf({ id: watched[1]! }), value: value * 10 })
    await acknowledged()
    await owner.remove(watched[0]!)
    await acknowledged()
  }

  for (let after = states[0]!.length; after <= recording.length; after++) {
    const last = states.findLastIndex(({ length }) => length <= after)
    for (const keeps of [() => false, () => true, (i: number) => i % 2 === 0, (i: number) => i % 3 === 0]) {
      const folder = temporaryFolder()
      await recording.cut(folder, after, keeps)
      const level = await openPricesLevel(folder)
      const found = await valuesOf(await ownerOf(level))
      await level.close()
      const allowed = states.slice(last, last + 2).map(({ values }) => values)
      expect(allowed, `after ${after} of ${recording.length} writes`).toContainEqual(found)
    }
  }
  await recording.level.close()
})

it.each([
  ['a page of answers', answersKey],
  ['a page of rows', rowsKey],
  ['the last page of answers', (generation: number) => answersKey(generation, pageOf(MANY - 1))],
  ['a term', (generation: number) => termKey(generation, 3)],
  ['the last terms', (generation: number) => termKey(generation, 10)],
])('a catalog that lacks %s: the generation before it counts, and is written on', async (_, keyOf) => {
  const data = temporaryFolder()
  const first = await startPrices({ data })
  for (const value of [1, 2]) await first.import(generationOf(value), '?replace=true')
  expect(await first.stop()).toBe(true)
  const level = await openPricesLevel(data)
  const { generation } = JSON.parse((await level.db.get(META))!)
  await level.db.del(keyOf(generation, 1))
  await level.close()

  for (const value of [1, 3, 3]) {
    const prices = await startPrices({ data })
    expect((await prices.ask('GET', `/prices/${uuid(5)}`)).body.value).toBe(value)
    expect((await prices.ask('GET', `/prices/${uuid(6)}`)).body.value).toBe(1)
    await prices.ask('PUT', `/prices/${uuid(5)}`, { ...generationOf(3)[5] })
    await prices.stop()
  }
})

it('a catalog that cannot be read at all is refused in one line', async () => {
  const data = temporaryFolder()
  const first = await startPrices({ data })
  await first.import(generationOf(1))
  await first.stop()
  const level = await openPricesLevel(data)
  await level.db.clear({ gte: 'g', lt: 'h' })
  await level.close()
  await expect(startPrices({ data })).rejects.toMatchObject({ code: 'DATA_DAMAGED' })
})

it('50 imports leave no more on disk than two catalogs', async () => {
  const data = temporaryFolder()
  const sizeOf = () =>
    readdirSync(join(data, 'level')).reduce((size, file) => size + statSync(join(data, 'level', file)).size, 0)
  const level = await openPricesLevel(data)
  const owner = await ownerOf(level, new Map())
  // Ids that nothing compresses.
  const draft = new Draft(new Terms())
  for (let i = 0; i < 20_000; i++) draft.put(priceOf({ id: randomUUID(), value: Math.random() }))
  const sizes = []
  for (let i = 0; i < 50; i++) {
    await owner.take({ draft, replace: true } as PriceLineReader)
    sizes.push(sizeOf())
  }
  const one = BLOCK_BYTES * draft.blocks.length
  // LevelDB's log and what it has not got round to are a few files more.
  expect(Math.max(...sizes.slice(-10))).toBeLessThan(4 * one + 3 * 4_194_304)
  await level.close()
  expect(sizes.at(-1)! / sizes[4]!).toBeLessThan(2)
})
