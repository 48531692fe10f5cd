import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { errors } from '../src/errors.ts'
import { toRevision, REVISION_LENGTH } from '../src/core/stored-value.ts'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { createRevisions, openRevisions } from '../src/revisions.ts'

const RESERVED_REVISIONS = 8

/** A disk with power cuts: a cut loses unsynced data, and a pending write may or may not survive. */
function createDisk(synced?: Buffer) {
  let unsynced: Buffer | undefined
  let lifeArbitrary = 0
  const disk = {
    puts: 0,
    broken: false,
    /** True if a write that is pending at a cut reaches the disk. */
    isKeptOnDisk: false,
    async put(_: Buffer, value: Buffer, { sync }: { sync: boolean }) {
      disk.puts++
      const began = lifeArbitrary
      await nextTurn()
      if (disk.broken) throw errors.DISK_FULL()
      if (began !== lifeArbitrary && !disk.isKeptOnDisk) throw new Error('the power was cut')
      unsynced = value
      if (sync) synced = value
    },
    cutPower() {
      lifeArbitrary++
      unsynced = undefined
    },
  }
  const level = {
    db: { get: async () => unsynced ?? synced },
    write: (run: (db: typeof disk) => Promise<void>) => run(disk),
  }
  return { disk, level }
}

const open = (level: object) => openRevisions(level as never, RESERVED_REVISIONS)

describe('revisions', () => {
  it('are unique over all threads and power cuts', async () => {
    const takeArbitrary = fc.record({
      thread: fc.nat(2),
      count: fc.integer({ min: 1, max: 3 * RESERVED_REVISIONS }),
      turns: fc.nat(2),
    })
    const lifeArbitrary = fc.record({ takes: fc.array(takeArbitrary, { maxLength: 12 }), isKeptOnDisk: fc.boolean() })
    await fc.assert(
      fc.asyncProperty(fc.array(lifeArbitrary, { minLength: 2, maxLength: 5 }), async (lives) => {
        const { disk, level } = createDisk(Buffer.from('0'))
        const given: number[] = []
        for (const { takes, isKeptOnDisk: keeps } of lives) {
          const owner = await open(level)
          const threads = [0, 1, 2].map(() => createRevisions(owner.memory, owner.reserve, RESERVED_REVISIONS))
          let isOver = false
          for (const { thread, count, turns } of takes) {
            const taken = threads[thread]!.take(count)
            const use = (first: number) => {
              if (!isOver) given.push(...Array.from({ length: count }, (_, i) => first + i))
            }
            if (typeof taken === 'number') use(taken)
            else taken.then(use, () => {})
            for (let i = 0; i < turns; i++) await nextTurn()
          }
          isOver = true
          disk.isKeptOnDisk = keeps
          disk.cutPower()
          await nextTurn()
          await nextTurn()
        }
        expect(new Set(given).size).toBe(given.length)
      }),
      { numRuns: 300 },
    )
  })

  it('are available at once while the disk is fast enough, with one disk write for many', async () => {
    const { disk, level } = createDisk()
    const owner = await open(level)
    const revisions = createRevisions(owner.memory, owner.reserve, RESERVED_REVISIONS)
    const taken: unknown[] = []
    for (let i = 0; i < 10 * RESERVED_REVISIONS; i++) {
      taken.push(revisions.take(1))
      await nextTurn()
    }
    expect(taken.map((one) => typeof one)).toEqual(taken.map(() => 'number'))
    expect(taken).toEqual(taken.map((_, i) => (taken[0] as number) + i))
    expect(disk.puts).toBeLessThan(4 * 10)
  })

  it('are refused while none can be reserved, and available afterwards', async () => {
    const { disk, level } = createDisk()
    const owner = await open(level)
    const revisions = createRevisions(owner.memory, owner.reserve, RESERVED_REVISIONS)
    disk.broken = true
    const first = revisions.take(RESERVED_REVISIONS)
    await expect(revisions.take(1)).rejects.toMatchObject({ code: 'DISK_FULL' })
    disk.broken = false
    expect(await revisions.take(1)).toBeGreaterThan(Number(first))
  })

  it('start at a different number in every new database', async () => {
    const firsts = await Promise.all(
      Array.from({ length: 20 }, async () => {
        const owner = await open(createDisk().level)
        return createRevisions(owner.memory, owner.reserve, RESERVED_REVISIONS).take(1)
      }),
    )
    expect(new Set(firsts).size).toBe(firsts.length)
  })

  it('are distinct texts of one length', () => {
    const number = fc.integer({ min: 0, max: 2 ** 48 - 1 })
    fc.assert(
      fc.property(number, number, (a, b) => {
        const bytes = Buffer.from(toRevision(a), 'base64url')
        expect(toRevision(a)).toHaveLength(REVISION_LENGTH)
        expect(bytes.readUIntBE(0, 6)).toBe(a)
        expect(toRevision(a) === toRevision(b)).toBe(a === b)
      }),
    )
  })
})
