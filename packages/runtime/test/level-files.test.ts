import { Level } from 'level'
import fc from 'fast-check'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ByteReader, toVarint } from '../src/level/files/byte-reader.ts'
import { computeCrc32c } from '../src/level/files/crc32c.ts'
import { listLevel } from '../src/level/files/level-files.ts'
import { readManifest } from '../src/level/files/level-manifest.ts'
import { checkTableSync } from '../src/level/files/read-table.ts'
import { readRecords, writeRecords, type LogRecord } from '../src/level/files/log-records.ts'
import { readBlock } from '../src/level/files/table-block.ts'
import { buildTable } from '../src/level/files/table-writer.ts'
import { readBatchHeader } from '../src/level/files/write-batch.ts'
import { readBatch } from './support/read-batch.ts'
import { createTemporaryFolder } from './support/temporary-folder.ts'
import { byteEncoding, noZeros } from './support/byte-level.ts'

it('a varint is read as it was written, and no other bytes are read as the same number', () => {
  fc.assert(
    fc.property(
      fc.maxSafeNat().map((number) => number % 2 ** 49),
      (number) => {
        const bytes = toVarint(number)
        expect(new ByteReader(bytes).readVarint()).toBe(number)
        const longer = Buffer.concat([bytes, Buffer.of(0)])
        longer[bytes.length - 1]! |= 0x80
        expect(() => new ByteReader(longer).readVarint()).toThrow(RangeError)
      },
    ),
  )
})

it('CRC32C matches RFC 3720', () => {
  expect(computeCrc32c(Buffer.alloc(32))).toBe(0x8a91_36aa)
  expect(computeCrc32c(Buffer.alloc(32, 0xff))).toBe(0x62a8_ab43)
  expect(computeCrc32c(Buffer.from(Array.from({ length: 32 }, (_, i) => i)))).toBe(0x46dd_794e)
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 100 }), fc.nat(100), (bytes, at) => {
      expect(computeCrc32c(bytes.subarray(at), computeCrc32c(bytes.subarray(0, at)))).toBe(computeCrc32c(bytes))
    }),
  )
})

const change = fc.record({
  key: fc.uint8Array({ minLength: 1, maxLength: 40 }).map((bytes) => Buffer.from(bytes)),
  bytes: fc.option(fc.oneof(fc.nat(300), fc.nat(70_000)), { freq: 4 }),
})
type TestChange = { key: Buffer; bytes: number | null }

const toOperation = ({ key, bytes }: TestChange, seed: number) =>
  bytes === null ? { type: 'del' as const, key } : { type: 'put' as const, key, value: noZeros(bytes, seed) }

describe('data written by LevelDB', () => {
  it('is read from the log as written, and produces the same log again', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(change, { minLength: 1, maxLength: 5 }), { minLength: 1, maxLength: 12 }),
        async (batches) => {
          const folder = createTemporaryFolder()
          const db = new Level<Buffer, Buffer>(folder, byteEncoding)
          const written = batches.map((batch, i) => batch.map((one) => toOperation(one, i)))
          for (const batch of written) await db.batch(batch)
          await db.close()
          const [name] = [...listLevel(folder).logs.values()]
          const bytes = readFileSync(join(folder, name!))
          const records = [...readRecords(bytes)] as LogRecord[]
          expect(records.map(({ payload }) => readBatch(payload))).toEqual(written)
          let next = 1
          for (const { payload } of records) {
            const { sequence, count } = readBatchHeader(payload)!
            expect(sequence).toBe(next)
            next += count
          }
          expect(writeRecords(records.map(({ payload }) => payload)).equals(bytes)).toBe(true)
        },
      ),
      { numRuns: 25 },
    )
  })

  it.each([true, false])('is read from tables and manifest, compressed: %s', async (compression) => {
    const folder = createTemporaryFolder()
    const db = new Level<Buffer, Buffer>(folder, { ...byteEncoding, compression, writeBufferSize: 65_536 })
    const entries = Array.from({ length: 3_000 }, (_, i): [Buffer, Buffer] => [
      Buffer.from(`key ${100_000 + i}`),
      // One block exceeds the size of a read.
      i === 1_500 ? noZeros(600_000, i) : Buffer.from(`value ${i} `.repeat(i % 20)),
    ])
    for (const [key, value] of entries) await db.put(key, value)
    await db.compactRange(Buffer.from('a'), Buffer.from('z'))
    await db.close()
    const files = listLevel(folder)
    const manifest = readManifest(readFileSync(join(folder, [...files.manifests.values()].at(-1)!)))
    expect([...manifest.tables.keys()].toSorted()).toEqual([...files.tables.keys()].toSorted())
    const found: [Buffer, Buffer][] = []
    for (const { number, bytes, smallest, largest } of [...manifest.tables.values()].toSorted((a, b) =>
      a.smallest.compare(b.smallest),
    )) {
      const file = join(folder, files.tables.get(number)!)
      const content = readFileSync(file)
      const { damaged, blocks } = checkTableSync(file)
      expect([content.length, damaged]).toEqual([bytes, []])
      const inTable = blocks!.flatMap((block) =>
        readBlock(content.subarray(block.offset, block.offset + block.bytes + 1)).map(
          ([key, value]): [Buffer, Buffer] => [key.subarray(0, -8), value],
        ),
      )
      expect([inTable[0]![0], inTable.at(-1)![0]]).toEqual([smallest, largest])
      found.push(...inTable)
      // A table that is rebuilt from the same blocks is sound, too.
      writeFileSync(file, buildTable(content, blocks!))
      expect(checkTableSync(file)).toMatchObject({ damaged: [], blocks })
    }
    expect(found).toEqual(entries)
  })
})
