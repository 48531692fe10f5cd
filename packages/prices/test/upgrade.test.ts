import { formatOf } from '@influencer-stats/runtime/testing/format-of'
import { describe, expect, it } from 'vitest'
import { openPricesLevel } from '../src/database.ts'
import { fromFirstFormat, fromSecondFormat } from '../src/owner/upgrade.ts'
import { META, rowsKey } from '../src/page-store.ts'
import { openLevel } from '@influencer-stats/runtime/level'
import { oldCatalog, olderPrices, oldPrices } from './support/old-catalogs.ts'
import { searchOf, startPrices, uuid, type TestPrices } from './support/prices.ts'

async function expectAll(prices: TestPrices, expected: ReturnType<typeof oldPrices>): Promise<void> {
  for (const [id, price] of expected) expect((await prices.ask('GET', `/prices/${id}`)).body).toEqual(price)
  expect((await prices.ask('GET', '/metrics')).body).toMatch(new RegExp(`^prices_in_catalog ${expected.size}$`, 'm'))
}

describe.each([1, 2])('a catalog of format %i', (format) => {
  it.each(['memory', 'lru-level'])('is read, searched, and written on: catalog %s', async (catalog) => {
    const data = oldCatalog(format)
    const expected = oldPrices()
    for (let start = 0; start < 2; start++) {
      const prices = await startPrices({ data, catalog })
      await expectAll(prices, expected)
      for (const [id, price] of [...expected].slice(0, 50)) {
        const { id: found, value, spec } = (await prices.search(searchOf(price))).body
        expect([found, value, spec]).toEqual([id, price.value, price.priceSpecId])
      }
      const changed = { ...expected.get(uuid(500))!, value: 1_000 + start }
      await prices.ask('PUT', `/prices/${changed.id}`, changed)
      expected.set(changed.id, changed)
      await prices.stop()
    }
    // Older versions would not understand it, and are to refuse it.
    expect(formatOf(data)).toEqual({ service: 'prices', format: 3 })
  })

  it('has lost nothing, wherever its upgrade was cut off', async () => {
    let cuts = 0
    for (let failing = 1; ; failing++) {
      const data = oldCatalog(format)
      if (!(await upgradeFails(data, failing))) break
      cuts++
      expect(formatOf(data).from).toBeLessThan(3)
      const prices = await startPrices({ data })
      await expectAll(prices, oldPrices())
      await prices.stop()
    }
    expect(cuts).toBeGreaterThan(1)
  })
})

/** Upgrades a folder, of which the `failing`th batch is not written. @returns whether there were so many */
async function upgradeFails(folder: string, failing: number): Promise<boolean> {
  let batches = 0
  const cut = (upgrade: typeof fromFirstFormat) => (db: Parameters<typeof fromFirstFormat>[0]) =>
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
  const upgrades = { 1: cut(fromFirstFormat), 2: cut(fromSecondFormat) }
  return openLevel(folder, { service: 'prices', format: 3, upgrades }).then(
    (db) => db.close().then(() => false),
    (error) => {
      expect(error).toMatchObject({ code: 'DATA_UPGRADE_FAILED' })
      return true
    },
  )
}

it('of format 2 the generation before is upgraded, too, and counts where the last one is damaged', async () => {
  const data = oldCatalog(2)
  const level = await openPricesLevel(data)
  const { generation } = JSON.parse((await level.db.get(META))!)
  await level.db.del(rowsKey(generation, 3))
  await level.close()
  const prices = await startPrices({ data })
  await expectAll(prices, new Map(olderPrices().map((price) => [price.id, price])))
  await prices.stop()
})
