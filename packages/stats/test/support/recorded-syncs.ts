import { openLevel } from '@influencer-stats/runtime/level'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { onTestFinished, vi } from 'vitest'

/** Records for each write to any LevelDB, in order, if it waited for the disk. Ends with the test. */
export async function recordSyncs(): Promise<boolean[]> {
  const db = await openLevel(createTemporaryFolder(), { service: 'recorder', format: 1 })
  const syncs: boolean[] = []
  const record = (options: { sync?: boolean } = {}) => void syncs.push(options.sync === true)
  const recorded = [
    ...recordCalls(Object.getPrototypeOf(db), ['_put', '_del', '_batch'], record),
    ...recordCalls(Object.getPrototypeOf(db.batch()), ['_write'], record),
  ]
  await db.close()
  onTestFinished(() => {
    for (const spy of recorded) spy.mockRestore()
  })
  return syncs
}

/** The last argument of each method is its options. */
function recordCalls(owner: any, names: readonly string[], record: (options?: object) => void) {
  return names.map((name) => {
    const call = owner[name]
    return vi.spyOn(owner, name).mockImplementation(function (this: unknown, ...args) {
      record(args.at(-1) as object)
      return call.apply(this, args)
    })
  })
}
