import { expectRepaired, removeRow, listRows } from '@influencer-stats/runtime/testing/own-row'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { expect, it } from 'vitest'
import { openPricesLevel } from '../src/storage/database.ts'
import { ownRow } from '../src/storage/own-row.ts'
import { META_KEY } from '../src/storage/page-store.ts'
import { toEntries, logEntries, openTestStateMachine, toPosition, listPrices } from './support/state-machine.ts'
import { createPrice, startPrices, toUuid } from './support/prices.ts'

const all = Array.from({ length: 100 }, (_, i) => createPrice({ id: toUuid(i), value: i + 1 }))

async function createFolderWithData(): Promise<string> {
  const data = createTemporaryFolder()
  const prices = await startPrices({ data })
  expect((await prices.import(all, '?replace=true')).status).toBe(200)
  const later = { ...all[7]!, value: 7_000 }
  await prices.request('PUT', `/prices/${later.id}`, later)
  await prices.stop()
  return data
}

it('a folder without its own row is refused unchanged, and repaired to its catalog', async () => {
  const folder = await expectRepaired({
    service: 'prices',
    folder: await createFolderWithData(),
    key: META_KEY,
    ownRow,
    start: (data) => startPrices({ data }),
    report: /own row.*\n[^]*lost: .*catalog/,
  })
  const prices = await startPrices({ data: folder })
  expect((await prices.request('GET', '/metrics')).body).toMatch(/^prices_catalog_size 100$/m)
  for (const [i, price] of all.entries())
    expect((await prices.request('GET', `/prices/${price.id}`)).body.value).toBe(i === 7 ? 7_000 : price.value)
  await prices.stop()
})

it('an interrupted first start begins again', async () => {
  const folder = createTemporaryFolder()
  const level = await openPricesLevel(folder)
  // The rows of a catalog that `meta` does not name yet.
  await level.write((db) => db.put('g000000001!t!000000000', '{}'))
  await level.close()
  const again = await startPrices({ data: folder, sample: 'yes' })
  expect((await again.request('GET', '/metrics')).body).toMatch(/^prices_catalog_size [1-9]/m)
  await again.stop()
})

it('a node without its position clears its database', async () => {
  const folder = createTemporaryFolder()
  const one = await openTestStateMachine(folder)
  await one.stateMachine.apply(toEntries([logEntries.put(all[0]!)]), toPosition(1))
  await one.close()
  await removeRow(folder, META_KEY)
  const before = await listRows(folder)
  expect(before).not.toEqual([])
  const other = await openTestStateMachine(folder)
  expect(other.stateMachine.getPosition()).toBeUndefined()
  expect(await listPrices(other.catalog)).toEqual([])
  await other.close()
})
