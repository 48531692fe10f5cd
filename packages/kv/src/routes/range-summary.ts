import { yieldTurn } from '@influencer-stats/runtime/async/yield'
import type { KvRange, KvScan, KvSnapshot } from '../store/store.ts'

/** Maximum size of a page with a cursor (entries). */
const MAX_PAGE_ENTRIES = 1_000

/**
 * Counts the entries of a range, in slices.
 * @param isAborted returns true if the client has disconnected; the count then ends
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

/**
 * Opens the scan of a page. `next` is the last key of the page if more entries follow. It is absent if `limit` is above
 * 1,000 or absent.
 */
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
  // `next` is a header, so it must be known before the entries are sent. A page of several slices is too large to hold
  // in memory. So its keys are read first, without values.
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

/** Returns a scan of entries that are already in memory. */
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

/** Reads a scan to its end, or until `onSlice` resolves with false, and closes it. */
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
