import { yieldTurn } from '../core/yield-turn.ts'
import type { KvRange, KvScan, KvSnapshot } from '../store/store.ts'

/** Maximum size of a page with a cursor (entries). */
const MAX_PAGE_ENTRIES = 1_000

/**
 * Counts the entries of a range, in slices.
 * @param isAborted true if the client has disconnected, which ends the count
 */
export async function countEntries(snapshot: KvSnapshot, range: KvRange, isAborted: () => boolean): Promise<number> {
  let count = 0
  await readSlices(snapshot.scan({ ...range, keysOnly: true }), async (length) => {
    count += length
    await yieldTurn()
    return !isAborted()
  })
  return count
}

/** Opens the scan of a page. `next` is the last key of the page if more entries follow. */
export async function openPage(
  snapshot: KvSnapshot,
  range: KvRange,
): Promise<{ scan: KvScan; next?: string | undefined }> {
  const { limit } = range
  if (limit === undefined || limit > MAX_PAGE_ENTRIES) return { scan: snapshot.scan(range) }
  const scan = snapshot.scan({ ...range, limit: limit + 1 })
  try {
    const entries = await scan.next()
    if (entries.length > limit) return { scan: toScan(entries.slice(0, limit)), next: entries[limit - 1]![0] }
    if ((await scan.next()).length === 0) return { scan: toScan(entries) }
  } finally {
    await scan.close()
  }
  // A page of several slices is too large to buffer until its end is known. Its keys are read first, without values.
  const next = await findLastKey(snapshot, range, limit)
  return { scan: snapshot.scan(range), next }
}

async function findLastKey(snapshot: KvSnapshot, range: KvRange, limit: number): Promise<string | undefined> {
  const keys: string[] = []
  await readSlices(snapshot.scan({ ...range, limit: limit + 1, keysOnly: true }), async (_, slice) => {
    for (const [key] of slice) keys.push(key)
    return true
  })
  return keys.length > limit ? keys[limit - 1] : undefined
}

/** Returns a scan over entries that were read before. */
function toScan(entries: ScanSlice): KvScan {
  let remaining = entries
  return {
    async next() {
      const slice = remaining
      remaining = []
      return slice
    },
    async close() {},
  }
}

type ScanSlice = Awaited<ReturnType<KvScan['next']>>

async function readSlices(
  scan: KvScan,
  onSlice: (length: number, slice: ScanSlice) => Promise<boolean>,
): Promise<void> {
  try {
    for (let slice = await scan.next(); slice.length > 0; slice = await scan.next())
      if (!(await onSlice(slice.length, slice))) return
  } finally {
    await scan.close()
  }
}
