import fc from 'fast-check'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { beforeAll, expect, it } from 'vitest'
import { hasSameIdentity } from '../src/level/folder-identity.ts'
import { checkData, repairData } from '../src/cli/data-cli.ts'
import { repairFolder } from '../src/level/integrity/repair-folder.ts'
import { UNLIMITED_OPTIONS } from '../src/level/integrity/folder-verification.ts'
import { verifyFolder } from '../src/level/integrity/verify-folder.ts'
import { openSharedLevel } from '../src/level/open/shared-level.ts'
import { copyFolder, readTree } from './support/folder-tree.ts'
import { createTemporaryFolder } from './support/temporary-folder.ts'

const log = { error() {}, info() {} }
const open = (folder: string) => openSharedLevel(folder, { service: 'counter', format: 1, log, compression: false })
const createKey = (i: number) => `key ${1_000 + i}`
const createValue = (i: number, life: number) => `value ${i} of life ${life} `.repeat(30)
const ENTRY_COUNT = 400

/**
 * Three runs: each overwrites some entries of the run before, and the last deletes some. The result is two tables and a
 * log.
 */
let sound: string
const expected = new Map<string, string>()
beforeAll(async () => {
  sound = join(createTemporaryFolder(), 'counter')
  for (let life = 0; life < 3; life++) {
    const level = await open(sound)
    for (let i = life * 100; i < ENTRY_COUNT; i++) {
      await level.write((db) => db.put(createKey(i), createValue(i, life)))
      expected.set(createKey(i), createValue(i, life))
    }
    if (life < 2) await level.flush()
    else
      for (let i = 0; i < ENTRY_COUNT; i += 40) {
        await level.write((db) => db.del(createKey(i)))
        expected.delete(createKey(i))
      }
    await level.close()
  }
})

async function readEntries(folder: string): Promise<Map<string, string>> {
  const level = await open(folder)
  const entries = new Map(await level.db.iterator().all())
  await level.close()
  return entries
}

/** Fails unless each value was written under its key. */
function expectNoWrongValue(entries: ReadonlyMap<string, string>): void {
  for (const [key, value] of entries) {
    const i = Number(key.slice(4)) - 1_000
    expect([0, 1, 2].map((life) => createValue(i, life))).toContain(value)
  }
}

it('check and repair do not change a sound folder', async () => {
  const folder = copyFolder(sound, 'counter')
  const before = readTree(folder)
  const lines: string[] = []
  const say = (line: string) => lines.push(line)
  expect(await checkData(folder, [], say)).toBe(0)
  expect(await checkData(dirname(folder), ['counter'], say)).toBe(0)
  expect(await repairData(folder, [], say)).toBe(0)
  expect(lines).toHaveLength(3)
  expect(readTree(folder)).toEqual(before)
  expect(readdirSync(dirname(folder))).toEqual(['counter'])
})

it('a missing folder and a service without data are wrong usage', async () => {
  const folder = copyFolder(sound, 'counter')
  for (const command of [checkData, repairData]) {
    expect(await command(join(folder, 'missing'), [], () => {})).toBe(2)
    expect(await command(folder, ['asker'], () => {})).toBe(2)
    expect(await command(createTemporaryFolder(), [], () => {})).toBe(2)
  }
})

it('salvages the readable entries after any flipped bit, and preserves a copy of the damaged folder', async () => {
  await fc.assert(
    fc.asyncProperty(fc.nat(), fc.nat(), fc.nat(7), async (which, at, bit) => {
      const folder = copyFolder(sound, 'counter')
      const names = readdirSync(join(folder, 'level')).filter((name) => /log$|ldb$|^MANIFEST|^CURRENT/.test(name))
      const file = join(folder, 'level', names[which % names.length]!)
      const bytes = readFileSync(file)
      if (bytes.length === 0) return
      bytes[at % bytes.length]! ^= 1 << bit
      writeFileSync(file, bytes)
      const before = readTree(folder)
      const said: string[] = []
      expect(await checkData(folder, [], (line) => said.push(line))).toBe(1)
      expect(readTree(folder)).toEqual(before)

      const { findings, copy, entries, lostBlocks, lostLogBytes, lostTables } = await repairFolder({
        service: 'counter',
        folder,
      })
      expect(said).toHaveLength(findings.length)
      expect(readTree(copy)).toEqual(before)
      expect(verifyFolder(folder, UNLIMITED_OPTIONS).findings).toEqual([])
      const found = await readEntries(folder)
      expect(found.size).toBe(entries)
      expectNoWrongValue(found)
      if (lostBlocks + lostLogBytes + lostTables.length === 0) expect(found).toEqual(expected)
      // A block of some KiB, or the rest of 32 KiB that LevelDB skips in a log.
      else if (lostTables.length === 0) expect(found.size).toBeGreaterThan(expected.size - 60)
      rmSync(dirname(folder), { recursive: true })
    }),
    { numRuns: 40 },
  )
})

it.each<[string, (level: string, table: string) => void]>([
  ['CURRENT is missing', (level) => rmSync(join(level, 'CURRENT'))],
  ['CURRENT is empty', (level) => truncateSync(join(level, 'CURRENT'), 0)],
  [
    'the manifest is cut',
    (level) => {
      const name = readdirSync(level).find((one) => one.startsWith('MANIFEST'))!
      truncateSync(join(level, name), readFileSync(join(level, name)).length >> 1)
    },
  ],
])('salvages everything if %s', async (_, damage) => {
  const folder = copyFolder(sound, 'counter')
  damage(join(folder, 'level'), '')
  await expect(open(folder)).rejects.toMatchObject({ code: 'DATA_DAMAGED' })
  expect(await repairData(folder, [], () => {})).toBe(0)
  expect(hasSameIdentity(folder)).toBe(false)
  expect(await readEntries(folder)).toEqual(expected)
})

it('salvages the rest if a table is missing', async () => {
  const folder = copyFolder(sound, 'counter')
  const table = readdirSync(join(folder, 'level')).find((one) => one.endsWith('.ldb'))!
  rmSync(join(folder, 'level', table))
  await repairData(folder, [], () => {})
  const found = await readEntries(folder)
  expectNoWrongValue(found)
  // The last run is in the log.
  for (let i = 201; i < ENTRY_COUNT; i += 40) expect(found.get(createKey(i))).toBe(createValue(i, 2))
})

it('refuses a folder that is open in a process, without a change', async () => {
  const folder = copyFolder(sound, 'counter')
  const hold = `
    const { openLevel } = await import('${new URL('../src/level/open/open-level.ts', import.meta.url).href}')
    await openLevel(${JSON.stringify(folder)}, { service: 'counter', format: 1 })
    console.log('open')
    setInterval(() => {}, 1e6)`
  const other = spawn(process.execPath, ['--input-type=module', '-e', hold], { stdio: ['ignore', 'pipe', 'inherit'] })
  try {
    await once(other.stdout, 'data')
    // Damaged or not, the folder is in use.
    rmSync(join(folder, 'level', 'CURRENT'))
    await expect(open(folder)).rejects.toMatchObject({ code: 'DATA_LOCKED' })
    const before = readTree(folder)
    for (const command of [checkData, repairData]) expect(await command(folder, [], () => {})).toBe(2)
    expect(readTree(folder)).toEqual(before)
    expect(readdirSync(dirname(folder))).toEqual([basename(folder)])
  } finally {
    other.kill('SIGKILL')
    await once(other, 'exit')
  }
})
