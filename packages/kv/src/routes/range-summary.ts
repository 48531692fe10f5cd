import { yieldTurn } from '../core/turn.ts'
import type { Range, Scan, Snapshot } from '../store/store.ts'

/** Largest page that has a cursor (entries): its keys are read ahead of it, 0.3 us each. */
const MAX_PAGE_ENTRIES = 1_000

/** Counts the entries of a range, in slices. @param isAborted whether the client has left: then the count is of no use */
export async function countEntries(snapshot: Snapshot, range: Range, isAborted: () => boolean): Promise<number> {
  let count = 0
  await eachSlice(snapshot.scan({ ...range, keysOnly: true }), async (length) => {
    count += length
    await yieldTurn()
    return !isAborted()
  })
  return count
}

/** The last key of a page, where entries follow it. */
export async function nextCursor(snapshot: Snapshot, range: Range): Promise<string | undefined> {
  const { limit } = range
  if (limit === undefined || limit > MAX_PAGE_ENTRIES) return undefined
  const keys: string[] = []
  await eachSlice(snapshot.scan({ ...range, limit: limit + 1, keysOnly: true }), async (_, slice) => {
    for (const [key] of slice) keys.push(key)
    return true
  })
  return keys.length > limit ? keys[limit - 1] : undefined
}

type Slice = Awaited<ReturnType<Scan['next']>>

async function eachSlice(scan: Scan, take: (length: number, slice: Slice) => Promise<boolean>): Promise<void> {
  try {
    for (let slice = await scan.next(); slice.length > 0; slice = await scan.next())
      if (!(await take(slice.length, slice))) return
  } finally {
    await scan.close()
  }
}
