import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { TableScrubber } from '../src/level/integrity/table-scrubber.ts'
import { verifyFolder } from '../src/level/integrity/verify-folder.ts'
import { openSharedLevel } from '../src/level/open/shared-level.ts'
import { createDataHealth, WriteHealth } from '../src/level/write-health.ts'
import { damageTables } from './support/damage-tables.ts'
import { createTemporaryFolder } from './support/temporary-folder.ts'

const log = { error() {}, info() {} }

/** A closed folder with some tables. */
async function createFolderWithTables(tables: number): Promise<string> {
  const folder = createTemporaryFolder()
  for (let table = 0; table < tables; table++) {
    const level = await openSharedLevel(folder, { service: 'counter', format: 1, log })
    for (let i = 0; i < 200; i++) await level.write((db) => db.put(`${table} ${i}`, `value ${i} `.repeat(50)))
    await level.flush()
    await level.close()
  }
  return folder
}

/** Tables that a start with the given byte limit leaves unread. */
const listUnread = (folder: string, maxTableBytes: number) =>
  verifyFolder(folder, { maxTableBytes, maxTableMs: Infinity }).unread

it('a start reads tables up to its byte limit, and leaves the others unread', async () => {
  const folder = await createFolderWithTables(3)
  const [all, none] = [listUnread(folder, 0), listUnread(folder, Infinity)]
  expect([all.length, none.length]).toEqual([3, 0])
  expect(listUnread(folder, all[0]!.bytes)).toHaveLength(2)
})

it('unread tables are read while the service runs, and each damaged one is reported once', async () => {
  const folder = await createFolderWithTables(3)
  const unread = listUnread(folder, 0)
  damageTables(join(folder, 'level'))
  const found: string[] = []
  const all = Promise.withResolvers<void>()
  const scrubber = new TableScrubber({
    folder,
    unread,
    onDamage({ file }, count) {
      found.push(file)
      if (count === unread.length) all.resolve()
    },
  })
  onTestFinished(() => scrubber.close())
  await all.promise
  const tables = readdirSync(join(folder, 'level')).filter((name) => name.endsWith('.ldb'))
  expect(found.toSorted()).toEqual(tables.map((name) => join('level', name)))
})

it('ends when it is closed in the middle of a table', async () => {
  const folder = await createFolderWithTables(1)
  const scrubber = new TableScrubber({ folder, unread: listUnread(folder, 0), onDamage() {} })
  await new Promise(setImmediate)
  await expect(scrubber.close()).resolves.toBeUndefined()
})

it('refuses to start with a table that is damaged at any byte', async () => {
  const folder = await createFolderWithTables(1)
  const name = readdirSync(join(folder, 'level')).find((one) => one.endsWith('.ldb'))!
  const file = join(folder, 'level', name)
  const bytes = readFileSync(file)
  for (const at of [0, 5_000, bytes.length - 60, bytes.length - 20, bytes.length - 1]) {
    const wrong = Buffer.from(bytes)
    wrong[at]! ^= 1
    writeFileSync(file, wrong)
    await expect(openSharedLevel(folder, { service: 'counter', format: 1, log })).rejects.toMatchObject({
      code: 'DATA_DAMAGED',
    })
  }
})

it('damage makes a service not ready, but does not refuse writes', async () => {
  const level = await openSharedLevel(createTemporaryFolder(), { service: 'counter', format: 1, log })
  onTestFinished(() => level.close())
  const health = createDataHealth(level.memory)
  expect([health.getFault(), health.countDamagedFiles()]).toEqual([undefined, 0])
  health.reportReadFailure()
  expect([health.getFault()?.code, health.countDamagedFiles()]).toEqual(['DATA_DAMAGED', 1])
  new WriteHealth({ memory: level.memory, slot: 0 }).setDamagedFiles(3)
  expect([health.getFault()?.code, health.countDamagedFiles()]).toEqual(['DATA_DAMAGED', 3])
  await level.write((db) => db.put('key', 'value'))
  expect(level.getFault()).toBeUndefined()
})
