import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  copyFileSync,
  cpSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { clearIdentity, hasSameIdentity, writeIdentity } from '../src/level/folder-identity.ts'
import { openSharedLevel } from '../src/level/open/shared-level.ts'
import { createTemporaryFolder } from './support/temporary-folder.ts'

const log = { error() {}, info() {} }
const open = (folder: string) => openSharedLevel(folder, { service: 'counter', format: 1, log })

/** Opens and closes the folder, like one run of a process. @returns true if it began a new history */
async function run(folder: string, meanwhile: () => void = () => {}): Promise<boolean> {
  const level = await open(folder)
  const { isNewHistory } = level
  if (isNewHistory) level.beginHistory()
  meanwhile()
  await level.close()
  return isNewHistory
}

const copy = (from: string, to: string) => cpSync(from, to, { recursive: true, preserveTimestamps: true })

/** Replaces each file that differs, like rsync. Equal files stay. */
function syncCopy(from: string, to: string): void {
  const names = readdirSync(from, { recursive: true, encoding: 'utf8', withFileTypes: true }).filter((one) =>
    one.isFile(),
  )
  for (const { parentPath, name } of names) {
    const target = join(to, parentPath.slice(from.length), name)
    copyFileSync(join(parentPath, name), `${target}.new`)
    renameSync(`${target}.new`, target)
  }
}

describe('a folder continues its history', () => {
  it('at each start after its first one', async () => {
    const folder = createTemporaryFolder()
    expect([await run(folder), await run(folder), await run(folder)]).toEqual([true, false, false])
  })

  it('after a move, and after its owners and modes are set again', async () => {
    const folder = join(createTemporaryFolder(), 'data')
    await run(folder)
    renameSync(folder, `${folder}.moved`)
    for (const name of readdirSync(join(`${folder}.moved`, 'level')))
      chmodSync(join(`${folder}.moved`, 'level', name), 0o600)
    expect(await run(`${folder}.moved`)).toBe(false)
  })

  it('after its process was killed', async () => {
    const folder = createTemporaryFolder()
    await run(folder)
    const killed = `
      const { openSharedLevel } = await import('${new URL('../src/level/open/shared-level.ts', import.meta.url)}')
      const level = await openSharedLevel(${JSON.stringify(folder)}, { service: 'counter', format: 1 })
      await level.write((db) => db.put('a', 'b'))
      process.kill(process.pid, 'SIGKILL')`
    expect(() => execFileSync(process.execPath, ['--input-type=module', '-e', killed])).toThrow()
    expect(await run(folder)).toBe(false)
  })
})

describe('a folder begins a new history', () => {
  it('at each start until one start has begun it', async () => {
    const folder = createTemporaryFolder()
    for (let i = 0; i < 3; i++) {
      const level = await open(folder)
      expect(level.isNewHistory).toBe(true)
      await level.close()
    }
  })

  it('in a copy that was made while it was closed or open', async () => {
    const [folder, closed, opened] = ['a', 'b', 'c'].map((name) => join(createTemporaryFolder(), name)) as [
      string,
      string,
      string,
    ]
    await run(folder)
    copy(folder, closed)
    await run(folder, () => copy(folder, opened))
    expect([await run(closed), await run(opened)]).toEqual([true, true])
    // Each folder continues with its own history.
    expect([await run(folder), await run(closed), await run(opened)]).toEqual([false, false, false])
  })

  it.each<[string, (from: string, to: string) => void]>([
    ['files are overwritten', copy],
    ['files are replaced', syncCopy],
    ['all is removed first', (from, to) => (rmSync(to, { recursive: true }), copy(from, to))],
    [
      'the level folder alone is put back',
      (from, to) => {
        rmSync(join(to, 'level'), { recursive: true })
        copy(join(from, 'level'), join(to, 'level'))
      },
    ],
    ['a move takes the place of it', (from, to) => (renameSync(to, `${to}.old`), renameSync(from, to))],
  ])('where a copy is restored: %s', async (_, putBack) => {
    for (const isOpen of [false, true]) {
      const folder = join(createTemporaryFolder(), 'data')
      const backup = `${folder}.backup`
      await run(folder)
      if (isOpen) await run(folder, () => copy(folder, backup))
      else copy(folder, backup)
      if (!isOpen) await run(folder)
      putBack(backup, folder)
      expect(await run(folder)).toBe(true)
    }
  })

  it('where its files are links to those of another folder', async () => {
    const [folder, linked] = ['a', 'b'].map((name) => join(createTemporaryFolder(), name)) as [string, string]
    await run(folder)
    mkdirSync(join(linked, 'level'), { recursive: true })
    copyFileSync(join(folder, 'format.json'), join(linked, 'format.json'))
    for (const name of readdirSync(join(folder, 'level')))
      linkSync(join(folder, 'level', name), join(linked, 'level', name))
    expect(hasSameIdentity(linked)).toBe(false)
  })

  it('where it is marked for one, and where its identity is damaged', async () => {
    const folder = createTemporaryFolder()
    const file = join(folder, 'level', 'identity.json')
    await run(folder)
    const whole = readFileSync(file, 'utf8')
    const damages = [
      () => clearIdentity(folder),
      () => truncateSync(file, whole.length - 1),
      () => truncateSync(file, 0),
      () =>
        writeFileSync(
          file,
          whole.replace(/\d/, (digit) => String((Number(digit) + 1) % 10)),
        ),
    ]
    for (const damage of damages) {
      writeIdentity(folder)
      expect(hasSameIdentity(folder)).toBe(true)
      damage()
      expect(await run(folder)).toBe(true)
    }
  })
})
