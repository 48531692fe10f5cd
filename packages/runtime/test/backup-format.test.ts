import { Level } from 'level'
import * as fc from 'fast-check'
import { randomBytes } from 'node:crypto'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { expect, onTestFinished, test, vi } from 'vitest'
import {
  BackupDamagedError,
  BackupWriter,
  readBackup,
  type BackupEntry,
  type DatabaseHead,
} from '../src/backup/backup-format.ts'
import { restoreBackup, verifyBackup } from '../src/backup/restore-backup.ts'
import { Utf8Level } from '../src/level/utf8-level.ts'
import { createTemporaryFolder } from './support/temporary-folder.ts'

const bytes = fc.uint8Array({ maxLength: 40 }).map((array) => Buffer.from(array))
const backupEntry: fc.Arbitrary<BackupEntry> = fc.tuple(bytes, bytes)

function writeBackup(groups: readonly (readonly BackupEntry[])[]): Buffer {
  const writer = new BackupWriter()
  const pieces = [
    writer.writeHead({ backup: 1, service: 'kv', format: 2 }),
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
    onHead: (head) => void (service = `${head.service} ${(head as DatabaseHead).format}`),
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

/** A backup of 4 MB in chunks of 64 KiB. `pulled` counts the chunks that were read. */
function readDamagedLength(added: number, size?: number) {
  const whole = writeBackup([
    Array.from({ length: 64 }, (_, i): BackupEntry => [Buffer.of(i), Buffer.alloc(65_536, i)]),
  ])
  const first = whole.indexOf('\n') + 1
  whole.writeUInt32LE(whole.readUInt32LE(first + 4) + added, first + 4)
  let pulled = 0
  async function* pull() {
    for (let at = 0; at < whole.length; at += 65_536) {
      pulled++
      yield whole.subarray(at, at + 65_536)
    }
  }
  const read = readBackup(pull(), { onHead() {}, onEntry: () => undefined }, size === undefined ? size : whole.length)
  return { read, getPulled: () => pulled, size: whole.length }
}

test.each([0x4000_0000, 0x8000_0000])('detects a length that grew by %i before it reads the value', async (added) => {
  for (const size of [undefined, 1]) {
    const { read, getPulled } = readDamagedLength(added, size)
    await expect(read).rejects.toBeInstanceOf(BackupDamagedError)
    expect(getPulled()).toBe(1)
  }
})

test('copies each byte a few times at most, even if a length is damaged', async () => {
  const concat = vi.spyOn(Buffer, 'concat')
  onTestFinished(() => void concat.mockRestore())
  const { read, size } = readDamagedLength(0x1000_0000)
  concat.mockClear()
  await expect(read).rejects.toBeInstanceOf(BackupDamagedError)
  const copied = concat.mock.results.reduce((sum, { value }) => sum + (value as Buffer).length, 0)
  expect(copied).toBeLessThan(2 * size)
})

test('rejects a file that is not a backup', async () => {
  const file = join(createTemporaryFolder(), 'a')
  writeFileSync(file, 'x'.repeat(10_000))
  await expect(readPieces(readFileSync(file))).rejects.toBeInstanceOf(BackupDamagedError)
})

test('does not restore the backup of a cluster into a folder, and names the command that restores it', async () => {
  const folder = createTemporaryFolder()
  const [file, data] = [join(folder, 'kv.backup'), join(folder, 'data')]
  const writer = new BackupWriter()
  const head = { backup: 2, service: 'kv', position: { epoch: 'e', seq: 7, check: 1 } } as const
  const chunk = Buffer.from('snapshot')
  writeFileSync(
    file,
    Buffer.concat([writer.writeHead(head), writer.writeEntries([[Buffer.alloc(0), chunk]]), writer.writeEnd('1.2.3')]),
  )
  expect(await verifyBackup(file)).toMatchObject({ head, end: { entries: 1 } })
  await expect(restoreBackup('kv', file, data)).rejects.toMatchObject({
    code: 'BACKUP_OF_CLUSTER',
    message: expect.stringContaining(`\`pnpm cluster rescue kv --from ${file} --cluster`),
  })
  expect(readdirSync(folder)).toEqual(['kv.backup'])
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
  const { sha256 } = (await restoreBackup('kv', file, data)).end
  const bytes = { keyEncoding: 'buffer', valueEncoding: 'buffer' } as const
  const db = new Level<Buffer, Buffer>(join(data, 'level'), bytes)
  const again = await readPieces(writeBackup([await db.iterator().all()]))
  await db.close()
  expect([again.end.sha256, again.end.entries]).toEqual([sha256, entries.length])
})

test('a failed restore leaves no folder and no file', async () => {
  const folder = createTemporaryFolder()
  const file = join(folder, 'kv.backup')
  writeFileSync(file, writeBackup([[[Buffer.from('key'), Buffer.from('value')]]]))
  vi.spyOn(Utf8Level.prototype, 'batch').mockImplementation(() => {
    throw new Error('IO error: No space left on device')
  })
  onTestFinished(() => void vi.restoreAllMocks())
  await expect(restoreBackup('kv', file, join(folder, 'new', 'deep', 'kv'))).rejects.toThrow('No space left')
  expect(readdirSync(folder)).toEqual(['kv.backup'])
})
