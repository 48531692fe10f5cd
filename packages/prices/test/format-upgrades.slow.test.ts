import { readFormatFile } from '@influencer-stats/runtime/testing/read-format'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openPricesLevel } from '../src/storage/database.ts'
import { upgradeFromFormat1, upgradeFromFormat2 } from '../src/storage/format-upgrades.ts'
import { META_KEY, toRowsKey } from '../src/storage/page-store.ts'
import { openLevel } from '@influencer-stats/runtime/level'
import { toImportId } from './support/generated-logs.ts'
import { copyOldCatalog, createImportedPrice, listOlderPrices, listOldPrices } from './support/old-catalogs.ts'
import { toSearch, startPrices, toUuid, type TestPrices } from './support/prices.ts'
import { listPrices, logEntries, openTestStateMachine, toEntries, toPosition } from './support/state-machine.ts'

async function expectAll(prices: TestPrices, expected: ReturnType<typeof listOldPrices>): Promise<void> {
  for (const [id, price] of expected) expect((await prices.request('GET', `/prices/${id}`)).body).toEqual(price)
  expect((await prices.request('GET', '/metrics')).body).toMatch(
    new RegExp(`^prices_catalog_size ${expected.size}$`, 'm'),
  )
}

describe.each([1, 2, 3])('a catalog of format %i', (format) => {
  it.each(['memory', 'lru-level'])('is read, searched, and changed: catalog %s', async (catalog) => {
    const data = copyOldCatalog(format)
    const expected = listOldPrices()
    for (let start = 0; start < 2; start++) {
      const prices = await startPrices({ data, catalog })
      await expectAll(prices, expected)
      for (const [id, price] of [...expected].slice(0, 50)) {
        const { id: found, value, spec } = (await prices.search(toSearch(price))).body
        expect([found, value, spec]).toEqual([id, price.value, price.priceSpecId])
      }
      const changed = { ...expected.get(toUuid(500))!, value: 1_000 + start }
      await prices.request('PUT', `/prices/${changed.id}`, changed)
      expected.set(changed.id, changed)
      await prices.stop()
    }
    // Older versions cannot read the new format, and must refuse it.
    expect(readFormatFile(data)).toEqual({ service: 'prices', format: 4 })
  })

  it.skipIf(format === 3)('loses no data when its upgrade is interrupted at any point', async () => {
    let cuts = 0
    for (let failing = 1; ; failing++) {
      const data = copyOldCatalog(format)
      if (!(await isUpgradeCut(data, failing))) break
      cuts++
      expect(readFormatFile(data).from).toBeLessThan(3)
      const prices = await startPrices({ data })
      await expectAll(prices, listOldPrices())
      await prices.stop()
    }
    expect(cuts).toBeGreaterThan(1)
  })
})

/**
 * Upgrades a folder and fails its `failing`th batch.
 * @returns true if there were that many batches
 */
async function isUpgradeCut(folder: string, failing: number): Promise<boolean> {
  let batches = 0
  const cut = (upgrade: typeof upgradeFromFormat1) => (db: Parameters<typeof upgradeFromFormat1>[0]) =>
    upgrade(
      new Proxy(db, {
        get(target: any, name) {
          const value = target[name]
          if (name !== 'batch') return typeof value === 'function' ? value.bind(target) : value
          return () => {
            const batch = target.batch()
            const { write } = batch
            return Object.assign(batch, {
              async write() {
                if (++batches === failing) throw new Error('killed')
                return write.call(batch)
              },
            })
          }
        },
      }),
    )
  const upgrades = { 1: cut(upgradeFromFormat1), 2: cut(upgradeFromFormat2) }
  return openLevel(folder, { service: 'prices', format: 3, upgrades }).then(
    (db) => db.close().then(() => false),
    (error) => {
      expect(error).toMatchObject({ code: 'DATA_UPGRADE_FAILED' })
      return true
    },
  )
}

it('the previous generation of format 2 is also upgraded, and is used if the last one is damaged', async () => {
  const data = copyOldCatalog(2)
  const level = await openPricesLevel(data)
  const { generation } = JSON.parse((await level.db.get(META_KEY))!)
  await level.db.del(toRowsKey(generation, 3))
  await level.close()
  const prices = await startPrices({ data })
  await expectAll(prices, new Map(listOlderPrices().map((price) => [price.id, price])))
  await prices.stop()
})

it('a node continues the catalog and the open import of version 0.2.0', async () => {
  const { stateMachine, catalog, close } = await openTestStateMachine(join(copyOldCatalog(3), 'view'))
  const id = toImportId(2)
  expect([stateMachine.getPosition(), catalog.meta.log?.open]).toEqual([
    toPosition(8),
    { id, replace: false, mayBeEmpty: true, most: 1_000, pieces: 1, at: 0 },
  ])
  // The stored piece ends in the middle of this line.
  const rest = JSON.stringify(createImportedPrice(101)).slice(50)
  const entries = toEntries([logEntries.piece(id, 1, rest), logEntries.end(id, 2)])
  expect(await stateMachine.apply(entries, toPosition(9))).toEqual([true, { imported: 2, prices: 41 }])
  const before = listOlderPrices().filter((price) => price.id !== toUuid(9))
  expect(await listPrices(catalog)).toEqual([
    ...before.map((price) => (price.id === toUuid(7) ? { ...price, value: 1_000 } : price)),
    createImportedPrice(100),
    createImportedPrice(101),
  ])
  await close()
})
