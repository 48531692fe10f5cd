import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { createQuotaPersistence } from '../src/quota/quota-persistence.ts'

/** A persistence whose writes end when the test resolves them. */
function setUp() {
  const writes: PromiseWithResolvers<void>[] = []
  const faults: unknown[] = []
  const quotaPersistence = createQuotaPersistence(
    () => {
      const write = Promise.withResolvers<void>()
      writes.push(write)
      return write.promise
    },
    (fault) => void faults.push(fault),
  )
  return { quotaPersistence, writes, faults }
}

it('persists a count no older than the call, and concurrent callers share a write', async () => {
  const { quotaPersistence, writes } = setUp()
  const saved: number[] = []
  const save = (reader: number) => quotaPersistence().then(() => void saved.push(reader))
  const all = [save(1)]
  await nextTurn()
  all.push(save(2), save(3))
  expect(writes).toHaveLength(1)
  writes[0]!.resolve()
  await all[0]
  // Counted while the first write was in flight.
  expect([writes.length, saved]).toEqual([2, [1]])
  writes[1]!.resolve()
  await Promise.all(all)
  expect([writes.length, saved]).toEqual([2, [1, 2, 3]])
})

it('reports a failure once, does not wait during an outage, and reports the next one', async () => {
  const { quotaPersistence, writes, faults } = setUp()
  const first = quotaPersistence()
  await nextTurn()
  writes[0]!.reject('down')
  await first
  expect(faults).toEqual(['down'])
  // This call does not wait, and fails too.
  await quotaPersistence()
  await nextTurn()
  writes[1]!.reject('still down')
  await nextTurn()
  expect(faults).toEqual(['down'])
  await quotaPersistence()
  await nextTurn()
  writes[2]!.resolve()
  await nextTurn()
  const again = quotaPersistence()
  await nextTurn()
  writes[3]!.reject('down again')
  await again
  expect(faults).toEqual(['down', 'down again'])
})
