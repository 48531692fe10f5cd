import { expect, it, vi } from 'vitest'
import { parts } from '../src/parts.ts'
import type { KvLevel } from '../src/store/commit.ts'
import type { KvWrite } from '../src/store/store.ts'
import { openLevelStore } from './support/level-store.ts'

const put = (key: string, durable: boolean) => ({
  ops: [{ type: 'put' as const, key: Buffer.from(key), value: Buffer.from('x') }],
  durable,
})
const isHeld = (revision: string | undefined) => revision !== undefined

/** Opens a store. `prepare` gets the database that it writes to. */
async function openStore(prepare: (level: KvLevel) => void) {
  return openLevelStore({
    createCommit(options) {
      prepare(options.level)
      return parts.commit.group(options)
    },
  })
}

it('syncs the disk only for an effective write that requests it', async () => {
  const syncs: unknown[] = []
  const store = await openStore(({ db }) => {
    const real = db.put.bind(db) as (...args: unknown[]) => Promise<void>
    vi.spyOn(db, 'put').mockImplementation((...args: unknown[]) => {
      syncs.push((args[2] as { sync: boolean }).sync)
      return real(...args)
    })
  })
  for (const durable of [false, true, false]) await store.write(put('k', durable), isHeld)
  expect(syncs).toEqual([false, true, false])
  await store.close()
})

it.each(['group', 'single'] as const)(
  'syncs the disk once for a durable write with an idempotency key: %s',
  async (commit) => {
    let syncs = 0
    const store = await openLevelStore({
      createCommit(options) {
        const { level } = options
        const createBatch = level.db.batch.bind(level.db) as () => {
          write(options?: { sync?: boolean }): Promise<void>
        }
        vi.spyOn(level.db, 'batch').mockImplementation((() => {
          const batch = createBatch()
          const write = batch.write.bind(batch)
          batch.write = (...[batchOptions]) => {
            if (batchOptions?.sync) syncs++
            return write(batchOptions)
          }
          return batch
        }) as never)
        const sync = level.sync.bind(level)
        vi.spyOn(level, 'sync').mockImplementation(() => (syncs++, sync()))
        return parts.commit[commit](options)
      },
    })
    async function countSyncs(write: Partial<KvWrite>): Promise<number> {
      syncs = 0
      await store.write({ ...put('k', true), isSpecial: true, ...write }, isHeld)
      return syncs
    }
    const refused = { condition: { match: '*' }, idempotencyKey: 'refused' } as const
    expect(await countSyncs(refused)).toBe(1)
    expect(await countSyncs({ idempotencyKey: 'applied' })).toBe(1)
    // A repetition stores nothing, but the first write may not be durable.
    expect(await countSyncs(refused)).toBe(1)
    // The key belongs to another write.
    expect(await countSyncs({ idempotencyKey: 'refused' })).toBe(0)
    await store.close()
  },
)

it('closes only after its last write has succeeded', async () => {
  const certain = Promise.withResolvers<void>()
  const isWritten = Promise.withResolvers<void>()
  let close: () => unknown = () => undefined
  const store = await openStore((level) => {
    const write = level.writeAhead.bind(level)
    vi.spyOn(level, 'writeAhead').mockImplementation(async (run) => {
      await write(run)
      isWritten.resolve()
      return () => certain.promise
    })
    close = vi.spyOn(level, 'close')
  })
  const writing = store.write(put('k', false), isHeld)
  await isWritten.promise
  const closing = store.close()
  for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve))
  expect(close).not.toHaveBeenCalled()
  certain.resolve()
  expect(await writing).toBe(true)
  await closing
  expect(close).toHaveBeenCalledOnce()
})

it.each([
  { what: '10,000 changes', changes: 1_000, size: 1, together: 10 },
  { what: '8 MiB', changes: 1, size: 1_000_000, together: 8 },
])('puts at most $what into one batch', async ({ changes, size, together }) => {
  const groups: number[] = []
  const store = await openLevelStore({ onCommit: (writes) => groups.push(writes), maxBytes: 1e9 })
  const value = Buffer.alloc(size, 'x')
  const ops = Array.from({ length: changes }, (_, i) => ({ type: 'put' as const, key: Buffer.from(`k${i}`), value }))
  await Promise.all(Array.from({ length: 2 * together + 1 }, () => store.write({ ops, durable: false }, isHeld)))
  expect(groups).toEqual([together, together, 1])
  await store.close()
})
