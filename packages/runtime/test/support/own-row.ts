import { Level } from 'level'
import { join } from 'node:path'
import { expect } from 'vitest'
import { checkData, repairData } from '../../src/cli/data-cli.ts'
import type { OwnRow } from '../../src/level/integrity/own-row.ts'
import { copyFolder, readTree } from './folder-tree.ts'

const byteEncoding = { keyEncoding: 'buffer', valueEncoding: 'buffer' } as const

async function withRawLevel<T>(folder: string, work: (db: Level<Buffer, Buffer>) => Promise<T>): Promise<T> {
  const db = new Level<Buffer, Buffer>(join(folder, 'level'), byteEncoding)
  try {
    await db.open()
    return await work(db)
  } finally {
    await db.close()
  }
}

/** Removes one row with LevelDB alone. Fails if the folder does not have it. */
export const removeRow = (folder: string, key: string | Buffer): Promise<void> =>
  withRawLevel(folder, async (db) => {
    expect(await db.get(Buffer.from(key))).toBeDefined()
    await db.del(Buffer.from(key), { sync: true })
  })

/** All entries of a folder as hexadecimal text. */
export const listRows = (folder: string): Promise<[string, string][]> =>
  withRawLevel(folder, async (db) =>
    (await db.iterator().all()).map(([key, value]) => [key.toString('hex'), value.toString('hex')]),
  )

/** Fails unless a start refuses the folder as damaged, in one line, and changes no byte of it. */
async function expectRefused(folder: string, start: (folder: string) => Promise<unknown>): Promise<void> {
  const before = readTree(folder)
  const error = await start(folder).then(
    () => undefined,
    (reason: Error & { code?: string }) => reason,
  )
  expect(error).toMatchObject({ code: 'DATA_DAMAGED' })
  expect(error!.message).not.toContain('\n')
  expect(error!.message).toContain('pnpm data repair')
  expect(readTree(folder)).toEqual(before)
}

export interface OwnRowCase {
  readonly service: string
  /** A folder with data of the service, which does not run. */
  readonly folder: string
  /** Key of the row to remove. */
  readonly key: string | Buffer
  readonly ownRow: OwnRow
  start(folder: string): Promise<unknown>
  /** Pattern of the lines that check and repair print. */
  readonly report: RegExp
}

/**
 * Fails unless a copy of a folder without its own row is refused, `pnpm data check` reports it, and `pnpm data repair` repairs it.
 * @returns the repaired folder
 */
export async function expectRepaired({ service, folder, key, ownRow, start, report }: OwnRowCase): Promise<string> {
  const copy = copyFolder(folder, service)
  await removeRow(copy, key)
  await expectRefused(copy, start)
  const lines: string[] = []
  const print = (line: string) => lines.push(line)
  const rows = { [service]: async () => ownRow }
  expect(await checkData(copy, [], print, rows)).toBe(1)
  expect(await repairData(copy, [], print, rows)).toBe(0)
  expect(lines.join('\n')).toMatch(report)
  return copy
}
