import { ClassicLevel } from 'classic-level'
import * as fc from 'fast-check'
import { randomBytes } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { expect, test } from 'vitest'
import { BackupDamaged, BackupWriter, readBackup, type Entry } from '../src/backup/format.ts'
import { restoreBackup } from '../src/backup/restore.ts'
import { temporaryFolder } from './support/temporary.ts'

const bytes = fc.uint8Array({ maxLength: 40 }).map((array) => Buffer.from(array))
const entry: fc.Arbitrary<Entry> = fc.tuple(bytes, bytes)

function backupOf(groups: readonly (readonly Entry[])[]): Buffer {
  const writer = new BackupWriter()
  const pieces = [writer.head('kv', 2), ...groups.map((group) => writer.entries(group)), writer.end('1.2.3')]
  return Buffer.concat(pieces)
}

/** What is read of it, wherever it is cut into pieces. */
async function read(backup: Buffer, cuts: readonly number[] = []) {
  const at = [0, ...cuts.map((cut) => cut % (backup.length + 1)).toSorted((a, b) => a - b), backup.length]
  const pieces = at.slice(1).map((end, i) => backup.subarray(at[i], end))
  const found: Entry[] = []
  let service = ''
  const end = await readBackup(Readable.from(pieces), {
    head: (head) => void (service = `${head.service} ${head.format}`),
    entry(key, value) {
      found.push([Buffer.from(key), Buffer.from(value)])
      return undefined
    },
  })
  return { found, service, end }
}

test('a backup is read as it was written, in whatever pieces it comes', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.array(entry)), fc.array(fc.nat()), async (groups, cuts) => {
      const { found, service, end } = await read(backupOf(groups), cuts)
      expect([service, found]).toEqual(['kv 2', groups.flat()])
      expect(end).toMatchObject({ entries: found.length, version: '1.2.3' })
      expect((await read(backupOf([groups.flat()]))).end.sha256).toBe(end.sha256)
    }),
    { numRuns: 50 },
  )
})

test('one that is cut, changed or longer is damaged, wherever that is', async () => {
  const whole = backupOf([[[Buffer.from('key'), Buffer.from('value')]], [[Buffer.from('l'), Buffer.alloc(0)]]])
  const lastLine = whole.lastIndexOf('{"entries"')
  for (let at = 0; at < whole.length; at++) {
    await expect(read(whole.subarray(0, at)), `cut at ${at}`).rejects.toThrow()
    if (at >= lastLine) continue
    for (const flip of [1, 0x80]) {
      const changed = Buffer.from(whole)
      changed[at]! ^= flip
      await expect(read(changed), `changed at ${at}`).rejects.toBeInstanceOf(BackupDamaged)
    }
  }
  await expect(read(Buffer.concat([whole, whole]))).rejects.toBeInstanceOf(BackupDamaged)
})

test('what is no backup is none', async () => {
  const file = join(temporaryFolder(), 'a')
  writeFileSync(file, 'x'.repeat(10_000))
  await expect(read(readFileSync(file))).rejects.toBeInstanceOf(BackupDamaged)
})

test('what is restored of a backup is what it was made of, to the byte', async () => {
  const folder = temporaryFolder()
  const [file, data] = [join(folder, 'kv.backup'), join(folder, 'data')]
  const entries = Array.from({ length: 5_000 }, (_, i): Entry => [
    Buffer.from(`key ${String(i).padStart(5, '0')}`),
    randomBytes(i % 3_000),
  ])
  const backup = backupOf([entries])
  writeFileSync(file, backup)
  const { sha256 } = await restoreBackup('kv', file, data)
  const bytes = { keyEncoding: 'buffer', valueEncoding: 'buffer' } as const
  const db = new ClassicLevel<Buffer, Buffer>(join(data, 'level'), bytes)
  const again = await read(backupOf([await db.iterator().all()]))
  await db.close()
  expect([again.end.sha256, again.end.entries]).toEqual([sha256, entries.length])
})
