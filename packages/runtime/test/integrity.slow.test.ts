import fc from 'fast-check'
import { cpSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync, appendFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { computeCrc32c } from '../src/level/files/crc32c.ts'
import { listLevel } from '../src/level/files/level-files.ts'
import { readRecords, writeRecords, type LogRecord } from '../src/level/files/log-records.ts'
import { UNLIMITED_OPTIONS } from '../src/level/integrity/folder-verification.ts'
import { verifyFolder } from '../src/level/integrity/verify-folder.ts'
import { readWitness } from '../src/level/integrity/witness.ts'
import { createDataHealth } from '../src/level/write-health.ts'
import { createTemporaryFolder } from './support/temporary-folder.ts'
import { waitUntil } from './support/wait-until.ts'
import { noZeros, openByteLevel } from './support/byte-level.ts'

const findingsIn = (folder: string) => verifyFolder(folder, UNLIMITED_OPTIONS).findings
const filesIn = (folder: string) => readdirSync(join(folder, 'level'))
const logIn = (folder: string) => join(folder, 'level', [...listLevel(join(folder, 'level')).logs.values()].at(-1)!)

function copyLevel(folder: string): string {
  const copy = createTemporaryFolder()
  cpSync(folder, copy, { recursive: true })
  return copy
}

describe('a closed folder', () => {
  let closed: string
  beforeAll(async () => {
    closed = createTemporaryFolder()
    for (let life = 0; life < 2; life++) {
      const level = await openByteLevel(closed)
      for (let i = 0; i < 60; i++) await level.write((db) => db.put(Buffer.from(`${life} ${i}`), noZeros(2_000, i)))
      if (life === 0) await level.flush()
      await level.close()
    }
  })
  const names = () => filesIn(closed).filter((name) => !/^(?:LOCK|LOG|identity|state)/.test(name))

  it('is sound', () => {
    expect(verifyFolder(closed, UNLIMITED_OPTIONS)).toMatchObject({ findings: [], lostChanges: 0, unread: [] })
    expect(readWitness(closed)).toMatchObject({ isClean: true, failedLogs: [] })
  })

  it('is damaged by any flipped bit of any file', () => {
    const copy = copyLevel(closed)
    fc.assert(
      fc.property(fc.nat(), fc.nat(), fc.nat(7), (which, at, bit) => {
        const name = names()[which % names().length]!
        const file = join(copy, 'level', name)
        const bytes = readFileSync(file)
        bytes[at % bytes.length]! ^= 1 << bit
        writeFileSync(file, bytes)
        const findings = findingsIn(copy)
        cpSync(join(closed, 'level', name), file)
        expect(findings).not.toEqual([])
      }),
      { numRuns: 300 },
    )
  })

  it('is damaged by truncation of any file at any position', () => {
    const copy = copyLevel(closed)
    fc.assert(
      fc.property(fc.nat(), fc.nat(), (which, at) => {
        const name = names()[which % names().length]!
        const file = join(copy, 'level', name)
        truncateSync(file, at % readFileSync(file).length)
        const findings = findingsIn(copy)
        cpSync(join(closed, 'level', name), file)
        expect(findings).not.toEqual([])
      }),
      { numRuns: 300 },
    )
  })

  it('is damaged if a record of a log is removed, even with all sizes unknown', () => {
    for (const hasWitness of [true, false]) {
      const copy = copyLevel(closed)
      const records = [...readRecords(readFileSync(logIn(copy)))] as LogRecord[]
      if (!hasWitness) rmSync(join(copy, 'level', 'state.json'))
      writeFileSync(logIn(copy), writeRecords(records.filter((_, i) => i !== 30).map(({ payload }) => payload)))
      const { findings, lostChanges } = verifyFolder(copy, UNLIMITED_OPTIONS)
      // Without `state.json` a power cut cannot be excluded, so the loss is only counted.
      if (hasWitness) expect(findings).not.toEqual([])
      else expect([findings, lostChanges]).toEqual([[], 1])
    }
  })
})

describe('a folder of a killed process', () => {
  let killed: string
  beforeAll(async () => {
    const folder = createTemporaryFolder()
    const level = await openByteLevel(folder)
    for (let i = 0; i < 100; i++) await level.write((db) => db.put(Buffer.from(`${i}`), noZeros(2_000, i)))
    // The files of an open database are the files after a kill.
    await waitUntil(() => Object.values(readWitness(folder)?.logs ?? {})[0] === readFileSync(logIn(folder)).length)
    killed = copyLevel(folder)
    await level.close()
  })
  const record = () => writeRecords([Buffer.concat([Buffer.alloc(12, 1), noZeros(20_000, 7)])])

  it('is sound with a partial record of the interrupted write at its end', () => {
    expect(findingsIn(killed)).toEqual([])
    fc.assert(
      fc.property(fc.nat(record().length - 1), (length) => {
        const copy = copyLevel(killed)
        const left = 32_768 - (readFileSync(logIn(copy)).length % 32_768)
        appendFileSync(logIn(copy), record().subarray(0, Math.min(length, left)))
        const findings = findingsIn(copy)
        rmSync(copy, { recursive: true })
        expect(findings).toEqual([])
      }),
      { numRuns: 30 },
    )
  })

  it('is damaged by a flipped bit in its log, including the last record', () => {
    const bytes = readFileSync(logIn(killed))
    const copy = copyLevel(killed)
    const { offset } = [...readRecords(bytes)].at(-1)!
    const header = Array.from({ length: 20 }, (_, i) => offset + i)
    for (const at of [0, 4, 5, 6, bytes.length >> 1, ...header, bytes.length - 1]) {
      const wrong = Buffer.from(bytes)
      wrong[at]! ^= 4
      writeFileSync(logIn(copy), wrong)
      expect([at, findingsIn(copy).length > 0]).toEqual([at, true])
    }
  })

  it('is damaged by truncation of its log, even at the end of a record', () => {
    const bytes = readFileSync(logIn(killed))
    const ends = [...readRecords(bytes)].map(({ end }) => end).slice(0, -1)
    for (const size of [0, ...ends.slice(-3), bytes.length - 1]) {
      const copy = copyLevel(killed)
      truncateSync(logIn(copy), size)
      expect(findingsIn(copy)).not.toEqual([])
    }
  })

  it('is sound with any bytes after a failed write in the log that recorded the failure, and in no other', async () => {
    const copy = copyLevel(killed)
    const bytes = readFileSync(logIn(copy))
    const { offset } = [...readRecords(bytes)].at(-20)!
    // A full disk leaves half a record, followed by others.
    writeFileSync(logIn(copy), Buffer.concat([bytes.subarray(0, offset + 900), bytes.subarray(offset)]))
    expect(findingsIn(copy)).not.toEqual([])
    const [state] = readFileSync(join(copy, 'level', 'state.json'), 'utf8').split(' ')
    const json = JSON.stringify({ ...JSON.parse(state!), failedLogs: [basename(logIn(copy))] })
    writeFileSync(join(copy, 'level', 'state.json'), `${json} ${computeCrc32c(Buffer.from(json)).toString(16)}\n`)
    expect(findingsIn(copy)).toEqual([])
    const level = await openByteLevel(copy)
    expect((await level.db.keys().all()).length).toBeGreaterThanOrEqual(80)
    await level.close()
  })

  describe('after a power cut', () => {
    /** Verifies a copy with a changed log and no `state.json`, as after another boot of the machine. */
    function copyAfterPowerCut(change: (bytes: Buffer) => Buffer) {
      const copy = copyLevel(killed)
      rmSync(join(copy, 'level', 'state.json'))
      writeFileSync(logIn(copy), change(readFileSync(logIn(copy))))
      return { ...verifyFolder(copy, UNLIMITED_OPTIONS), folder: copy }
    }

    it('is sound with holes and without its end, and reports the number of lost changes', async () => {
      await fc.assert(
        fc.asyncProperty(fc.nat(395), fc.nat(40), fc.boolean(), async (sector, sectors, isCut) => {
          const { findings, lostChanges, folder } = copyAfterPowerCut((bytes) =>
            isCut
              ? bytes.subarray(0, sector * 512 + sectors)
              : bytes.fill(0, sector * 512, Math.min(bytes.length, (sector + sectors) * 512)),
          )
          expect(findings).toEqual([])
          const level = await openByteLevel(folder)
          const found = await level.db.keys().all()
          const newest = found.map((key) => Number(key.toString())).reduce((max, one) => Math.max(max, one), -1)
          const reported = createDataHealth(level.memory).countLostChanges()
          await level.close()
          rmSync(folder, { recursive: true })
          expect(reported).toBe(lostChanges)
          // A loss at the end cannot be detected.
          expect(lostChanges).toBe(newest + 1 - found.length)
        }),
        { numRuns: 40 },
      )
    })

    it('is sound with half a record and zeros at the end of its manifest, and opens', async () => {
      const edit = writeRecords([noZeros(100, 3)])
      for (const length of [0, 3, 6, 7, 50, 106]) {
        const copy = copyLevel(killed)
        rmSync(join(copy, 'level', 'state.json'))
        const manifest = join(copy, 'level', [...listLevel(join(copy, 'level')).manifests.values()].at(-1)!)
        appendFileSync(manifest, Buffer.concat([edit.subarray(0, length), Buffer.alloc(107 - length)]))
        expect(findingsIn(copy)).toEqual([])
        const level = await openByteLevel(copy)
        expect(await level.db.keys().all()).toHaveLength(100)
        await level.close()
      }
    })

    it('is damaged by a flipped bit', () => {
      fc.assert(
        fc.property(fc.nat(), fc.nat(7), (at, bit) => {
          const { findings, folder } = copyAfterPowerCut((bytes) => {
            bytes[at % bytes.length]! ^= 1 << bit
            return bytes
          })
          rmSync(folder, { recursive: true })
          expect(findings).not.toEqual([])
        }),
        { numRuns: 100 },
      )
    })
  })
})
