import { expect, it } from 'vitest'
import { createQuotaPersistence } from '../src/quota-persistence.ts'

/** A keeper whose writes end when they are told to. */
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

it('keeps a count no older than the call, and those who wait at the same time share a write', async () => {
  const { quotaPersistence, writes } = setUp()
  const saved: number[] = []
  const save = (reader: number) => quotaPersistence.save().then(() => void saved.push(reader))
  const all = [save(1), save(2), save(3)]
  expect(writes).toHaveLength(1)
  writes[0]!.resolve()
  await all[0]
  // What was counted while the first was on its way.
  expect([writes.length, saved]).toEqual([2, [1]])
  writes[1]!.resolve()
  await Promise.all(all)
  expect([writes.length, saved]).toEqual([2, [1, 2, 3]])
})

it('tells once that counts cannot be kept, waits for none meanwhile, and tells of the next time', async () => {
  const { quotaPersistence, writes, faults } = setUp()
  const first = quotaPersistence.save()
  writes[0]!.reject('down')
  await first
  expect(faults).toEqual(['down'])
  // Nobody waits for this one, which fails, too.
  await quotaPersistence.save()
  writes[1]!.reject('still down')
  await writes[1]!.promise.catch(() => {})
  await new Promise((resolve) => setImmediate(resolve))
  expect(faults).toEqual(['down'])
  await quotaPersistence.save()
  writes[2]!.resolve()
  await new Promise((resolve) => setImmediate(resolve))
  const again = quotaPersistence.save()
  writes[3]!.reject('down again')
  await again
  expect(faults).toEqual(['down', 'down again'])
})
