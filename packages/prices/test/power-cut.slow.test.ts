import { randomUUID } from 'node:crypto'
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { BLOCK_BYTES, toPageNumber } from '../src/core/answer-block.ts'
import type { Price } from '../src/core/price.ts'
import { openPricesLevel } from '../src/storage/database.ts'
import type { PriceCatalog } from '../src/catalog/price-catalog.ts'
import { toAnswersKey, META_KEY, toRowsKey, toTermKey } from '../src/storage/page-store.ts'
import { recordWrites } from './support/power-cut.ts'
import { createPrice, startPrices, toUuid } from './support/prices.ts'
import {
  createTestCatalog,
  createTestImport,
  NO_POSITION,
  openTestCatalog,
  openTestStandalone,
  toLines,
} from './support/standalone.ts'

const PRICE_COUNT = 2_600
const createGeneration = (value: number): Price[] =>
  Array.from({ length: PRICE_COUNT }, (_, i) =>
    createPrice({ id: toUuid(i), value, charValues: [{ char: `generation ${value}`, value: i % 7 }] }),
  )

it('after a power cut at any moment, the catalog has the acknowledged changes, or also the next one', async () => {
  const recording = await recordWrites(createTemporaryFolder())
  const catalog = createTestCatalog(recording.level)
  const standalone = await openTestStandalone(catalog, recording.level)
  // The values of three prices, and the number of writes after which they are guaranteed.
  const watched = [0, 1, PRICE_COUNT - 1].map(toUuid)
  const readValues = (of: PriceCatalog) => Promise.all(watched.map(async (id) => (await of.get(id))?.value))
  const states: { length: number; values: unknown }[] = []
  const recordState = async () => void states.push({ length: recording.length, values: await readValues(catalog) })

  await recordState()
  for (const value of [1, 2]) {
    await standalone.import([toLines(createGeneration(value))], true)
    await recordState()
    await standalone.put({ ...createPrice({ id: watched[1]! }), value: value * 10 })
    await recordState()
    await standalone.remove(watched[0]!)
    await recordState()
  }

  for (let after = states[0]!.length; after <= recording.length; after++) {
    const last = states.findLastIndex(({ length }) => length <= after)
    for (const isPresent of [() => false, () => true, (i: number) => i % 2 === 0, (i: number) => i % 3 === 0]) {
      const folder = createTemporaryFolder()
      await recording.cut(folder, after, isPresent)
      const level = await openPricesLevel(folder)
      const found = await readValues(await openTestCatalog(level))
      await level.close()
      const allowed = states.slice(last, last + 2).map(({ values }) => values)
      expect(allowed, `after ${after} of ${recording.length} writes`).toContainEqual(found)
    }
  }
  await recording.level.close()
})

it.each([
  ['a page of answers', toAnswersKey],
  ['a page of rows', toRowsKey],
  ['the last page of answers', (generation: number) => toAnswersKey(generation, toPageNumber(PRICE_COUNT - 1))],
  ['a term', (generation: number) => toTermKey(generation, 3)],
  ['the last terms', (generation: number) => toTermKey(generation, 10)],
])('a catalog without %s: the previous generation is used, and accepts changes', async (_, toKey) => {
  const data = createTemporaryFolder()
  const first = await startPrices({ data })
  for (const value of [1, 2]) await first.import(createGeneration(value), '?replace=true')
  expect(await first.stop()).toBe(true)
  const level = await openPricesLevel(data)
  const { generation } = JSON.parse((await level.db.get(META_KEY))!)
  await level.db.del(toKey(generation, 1))
  await level.close()

  for (const value of [1, 3, 3]) {
    const prices = await startPrices({ data })
    expect((await prices.request('GET', `/prices/${toUuid(5)}`)).body.value).toBe(value)
    expect((await prices.request('GET', `/prices/${toUuid(6)}`)).body.value).toBe(1)
    await prices.request('PUT', `/prices/${toUuid(5)}`, { ...createGeneration(3)[5] })
    await prices.stop()
  }
})

it('an unreadable catalog is refused in one line', async () => {
  const data = createTemporaryFolder()
  const first = await startPrices({ data })
  await first.import(createGeneration(1))
  await first.stop()
  const level = await openPricesLevel(data)
  await level.db.clear({ gte: 'g', lt: 'h' })
  await level.close()
  await expect(startPrices({ data })).rejects.toMatchObject({ code: 'DATA_DAMAGED' })
})

it('50 imports leave at most two catalogs on disk', async () => {
  const data = createTemporaryFolder()
  const measureSize = () =>
    readdirSync(join(data, 'level')).reduce((size, file) => size + statSync(join(data, 'level', file)).size, 0)
  const level = await openPricesLevel(data)
  const catalog = await openTestCatalog(level, { indexes: new Map() })
  // Ids that do not compress.
  const some = Array.from({ length: 20_000 }, () => createPrice({ id: randomUUID(), value: Math.random() }))
  const sizes = []
  let one = 0
  for (let i = 0; i < 50; i++) {
    // An import is released once it is stored.
    const whole = createTestImport(some, true)
    one = BLOCK_BYTES * whole.draft.blocks.length
    await catalog.takeImport(whole, NO_POSITION)
    sizes.push(measureSize())
  }
  // LevelDB's log and files that are not compacted yet add a few files.
  expect(Math.max(...sizes.slice(-10))).toBeLessThan(4 * one + 3 * 4_194_304)
  await level.close()
  expect(sizes.at(-1)! / sizes[4]!).toBeLessThan(2)
})
