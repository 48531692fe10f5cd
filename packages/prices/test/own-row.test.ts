import { expectRepaired, removeRow, rowsOf } from '@influencer-stats/runtime/testing/own-row'
import { temporaryFolder } from '@influencer-stats/runtime/testing/temporary'
import { expect, it } from 'vitest'
import { openPricesLevel } from '../src/database.ts'
import { ownRow } from '../src/own-row.ts'
import { META } from '../src/page-store.ts'
import { entriesOf, logged, openView, positionAt, pricesOf } from './support/log-view.ts'
import { priceOf, startPrices, uuid } from './support/prices.ts'

const all = Array.from({ length: 100 }, (_, i) => priceOf({ id: uuid(i), value: i + 1 }))

async function folderWithData(): Promise<string> {
  const data = temporaryFolder()
  const prices = await startPrices({ data })
  expect((await prices.import(all, '?replace=true')).status).toBe(200)
  const later = { ...all[7]!, value: 7_000 }
  await prices.ask('PUT', `/prices/${later.id}`, later)
  await prices.stop()
  return data
}

it('a folder without its own row is refused unchanged, and repaired to its catalog', async () => {
  const folder = await expectRepaired({
    service: 'prices',
    folder: await folderWithData(),
    key: META,
    ownRow,
    start: (data) => startPrices({ data }),
    report: /own row.*\n[^]*lost: .*catalog/,
  })
  const prices = await startPrices({ data: folder })
  expect((await prices.ask('GET', '/metrics')).body).toMatch(/^prices_in_catalog 100$/m)
  for (const [i, price] of all.entries())
    expect((await prices.ask('GET', `/prices/${price.id}`)).body.value).toBe(i === 7 ? 7_000 : price.value)
  await prices.stop()
})

it('a first start that was cut off before its catalog counted begins again', async () => {
  const folder = temporaryFolder()
  const level = await openPricesLevel(folder)
  // The rows of a catalog that `meta` does not name yet.
  await level.write((db) => db.put('g000000001!t!000000000', '{}'))
  await level.close()
  const again = await startPrices({ data: folder, sample: 'yes' })
  expect((await again.ask('GET', '/metrics')).body).toMatch(/^prices_in_catalog [1-9]/m)
  await again.stop()
})

it('a node without its position clears its base', async () => {
  const folder = temporaryFolder()
  const one = await openView(folder)
  await one.view.apply(entriesOf([logged.put(all[0]!)]), positionAt(1))
  await one.close()
  await removeRow(folder, META)
  const before = await rowsOf(folder)
  expect(before).not.toEqual([])
  const other = await openView(folder)
  expect(other.view.position()).toBeUndefined()
  expect(await pricesOf(other.owner)).toEqual([])
  await other.close()
})
