import { ClassicLevel } from 'classic-level'
import { cpSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { temporaryFolder } from './temporary.ts'

const asBytes = { keyEncoding: 'buffer', valueEncoding: 'buffer' } as const

async function openRaw<T>(folder: string, work: (db: ClassicLevel<Buffer, Buffer>) => Promise<T>): Promise<T> {
  const db = new ClassicLevel<Buffer, Buffer>(join(folder, 'level'), asBytes)
  try {
    await db.open()
    return await work(db)
  } finally {
    await db.close()
  }
}

/** Removes one row with LevelDB alone. Fails if the folder does not have it. */
export const removeRow = (folder: string, key: string | Buffer): Promise<void> =>
  openRaw(folder, async (db) => {
    expect(await db.get(Buffer.from(key))).toBeDefined()
    await db.del(Buffer.from(key), { sync: true })
  })

/** All entries of a folder as hexadecimal text. */
export const rowsOf = (folder: string): Promise<[string, string][]> =>
  openRaw(folder, async (db) =>
    (await db.iterator().all()).map(([key, value]) => [key.toString('hex'), value.toString('hex')]),
  )

/** All files of a folder with their contents. */
export const treeOf = (folder: string): [string, string][] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }): [string, string] => [
      join(parentPath, name).slice(folder.length),
      readFileSync(join(parentPath, name), 'hex'),
    ])
    .toSorted()

/** A folder with the name of its service, because copies of a repair are made next to it. */
export function copyOf(folder: string, name: string): string {
  const copy = join(temporaryFolder(), name)
  cpSync(folder, copy, { recursive: true })
  return copy
}

/** Fails unless a start refuses the folder as damaged, in one line, and changes no byte of it. */
export async function expectRefused(folder: string, start: (folder: string) => Promise<unknown>): Promise<void> {
  const before = treeOf(folder)
  const error = await start(folder).then(
    () => undefined,
    (reason: Error & { code?: string }) => reason,
  )
  expect(error).toMatchObject({ code: 'DATA_DAMAGED' })
  expect(error!.message).not.toContain('\n')
  expect(error!.message).toContain('pnpm data repair')
  expect(treeOf(folder)).toEqual(before)
}
