import fc from 'fast-check'
import { expect, it } from 'vitest'
import { ID_BYTES } from '../src/core/answer-block.ts'
import { IdTable } from '../src/core/id-table.ts'
import { parseUuid } from '../src/core/values/uuid.ts'
import { toUuid } from './support/prices.ts'

it('finds the row of each id, after any additions and deletions', () => {
  const step = fc.oneof(
    { weight: 3, arbitrary: fc.record({ op: fc.constant('add' as const), count: fc.integer({ min: 1, max: 900 }) }) },
    fc.record({ op: fc.constant('remove' as const), count: fc.integer({ min: 1, max: 500 }), from: fc.nat() }),
  )
  fc.assert(
    fc.property(fc.array(step, { maxLength: 12 }), fc.constantFrom(1, 1_024, 5_000), (steps, expected) => {
      const ids: Uint8Array[] = []
      const table = new IdTable((row) => ids[row]!, expected)
      const known = new Map<number, number>()
      for (const { op, count, ...rest } of steps) {
        if (op === 'add')
          for (let i = 0; i < count; i++) {
            const row = ids.push(parseUuid(toUuid(ids.length))) - 1
            table.add(row, ids[row]!)
            known.set(row, row)
          }
        else
          for (let i = 0; i < count && known.size > 0; i++) {
            const row = ((rest as { from: number }).from + 7 * i) % ids.length
            table.delete(ids[row]!)
            known.delete(row)
          }
        expect(table.size).toBe(known.size)
      }
      ids.forEach((id, row) => {
        if (table.find(id) !== (known.get(row) ?? -1))
          expect([row, table.find(id)]).toEqual([row, known.get(row) ?? -1])
      })
      expect(table.find(new Uint8Array(ID_BYTES))).toBe(-1)
    }),
    { numRuns: 50 },
  )
})

it('a lookup among half a million consecutive ids takes few steps, also during growth', () => {
  const idCount = 500_000
  const ids = new Uint8Array(ID_BYTES * (idCount + 1))
  const view = new DataView(ids.buffer)
  // Consecutive ids, such as ids from a counter or from the time.
  for (let row = 0; row <= idCount; row++) view.setUint32(row * ID_BYTES + 12, row)
  let read = 0
  const getId = (row: number) => {
    read++
    return ids.subarray(row * ID_BYTES, (row + 1) * ID_BYTES)
  }
  const table = new IdTable(getId)
  let maxReads = 0
  for (let row = 0; row < idCount; row++) {
    read = 0
    table.add(row, ids.subarray(row * ID_BYTES, (row + 1) * ID_BYTES))
    maxReads = Math.max(maxReads, read)
  }
  expect(maxReads).toBeLessThan(100)
})
