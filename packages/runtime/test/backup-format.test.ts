import { Level } from 'level'
import * as fc from 'fast-check'
import { randomBytes } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { expect, test } from 'vitest'
import { BackupDamagedError, BackupWriter, readBackup, type BackupEntry } from '../src/backup/backup-format.ts'
import { restoreBackup } from '../src/backup/restore-backup.ts'
import { createTemporaryFolder } from './support/temporary-folder.ts'

const bytes = fc.uint8Array({ maxLength: 40 }).map((array) => Buffer.from(array))
const backupEntry: fc.Arbitrary<BackupEntry> = fc.tuple(bytes, bytes)

function writeBackup(groups: readonly (readonly BackupEntry[])[]): Buffer {
  const writer = new BackupWriter()
  const pieces = [
    writer.writeHead('kv', 2),
    ...groups.map((group) => writer.writeEntries(group)),
    writer.writeEnd('1.2.3'),
  ]
  return Buffer.concat(pieces)
}

/** Reads a backup that arrives in pieces. */
async function readPieces(backup: Buffer, cuts: readonly number[] = []) {
  const at = [0, ...cuts.map((cut) => cut % (backup.length + 1)).toSorted((a, b) => a - b), backup.length]
  const pieces = at.slice(1).map((end, i) => backup.subarray(at[i], end))
  const found: BackupEntry[] = []
  let service = ''
  const end = await readBackup(Readable.from(pieces), {
    onHead: (head) => void (service = `${head.service} ${head.format}`),
    onEntry(key, value) {
      found.push([Buffer.from(key), Buffer.from(value)])
      return undefined
    },
  })
  return { found, service, end }
}

test('reads a backup as it was written, in any pieces', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.array(backupEntry)), fc.array(fc.nat()), async (groups, cuts) => {
      const { found, service, end } = await readPieces(writeBackup(groups), cuts)
      expect([service, found]).toEqual(['kv 2', groups.flat()])
      expect(end).toMatchObject({ entries: found.length, version: '1.2.3' })
      expect((await readPieces(writeBackup([groups.flat()]))).end.sha256).toBe(end.sha256)
    }),
    { numRuns: 50 },
  )
})

test('detects a backup that is truncated, changed or too long, at any position', async () => {
  const whole = writeBackup([[[Buffer.from('key'), Buffer.from('value')]], [[Buffer.from('l'), Buffer.alloc(0)]]])
  const lastLine = whole.lastIndexOf('{"entries"')
  for (let at = 0; at < whole.length; at++) {
    await expect(readPieces(whole.subarray(0, at)), `cut at ${at}`).rejects.toThrow()
    if (at >= lastLine) continue
    for (const flip of [1, 0x80]) {
      const changed = Buffer.from(whole)
      changed[at]! ^= flip
      await expect(readPieces(changed), `changed at ${at}`).rejects.toBeInstanceOf(BackupDamagedError)
    }
  }
  await expect(readPieces(Buffer.concat([whole, whole]))).rejects.toBeInstanceOf(BackupDamagedError)
})

test('rejects a file that is not a backup', async () => {
  const file = join(createTemporaryFolder(), 'a')
  writeFileSync(file, 'x'.repeat(10_000))
  await expect(readPieces(readFileSync(file))).rejects.toBeInstanceOf(BackupDamagedError)
})

test('restores exactly the bytes that were backed up', async () => {
  const folder = createTemporaryFolder()
  const [file, data] = [join(folder, 'kv.backup'), join(folder, 'data')]
  const entries = Array.from({ length: 5_000 }, (_, i): BackupEntry => [
    Buffer.from(`key ${String(i).padStart(5, '0')}`),
    randomBytes(i % 3_000),
  ])
  const backup = writeBackup([entries])
  writeFileSync(file, backup)
  const { sha256 } = await restoreBackup('kv', file, data)
  const bytes = { keyEncoding: 'buffer', valueEncoding: 'buffer' } as const
  const db = new Level<Buffer, Buffer>(join(data, 'level'), bytes)
  const again = await readPieces(writeBackup([await db.iterator().all()]))
  await db.close()
  expect([again.end.sha256, again.end.entries]).toEqual([sha256, entries.length])
})
