import type { StoredEntry } from '../core/entry-chunks.ts'
import { USER_KEYS_END, toExpiryKey, fromExpiryKey, decodeTime } from '../core/internal-keys.ts'
import { getValue, type StoredValue } from '../core/stored-value.ts'
import type { KvDatabase } from './commit.ts'
import type { KvRange, KvScan } from './store.ts'

type ScannedEntry = [key: string, stored: StoredValue, expiresAt?: number]

export type LevelSnapshot = ReturnType<KvDatabase['snapshot']>

const SLICE_ENTRIES = 10_000
// A scan reads at most one slice ahead of the client. With 64 KiB an entry costs 15 % more.
const SLICE_BYTES = 256 * 1_024

export interface LevelScanOptions {
  readonly snapshot: LevelSnapshot
  /** True for a value that had expired when the snapshot was taken; absent if no value in it expires. */
  readonly isPast?: ((expiresAt: number) => boolean) | undefined
}

/** Replacement character, which a decoded string has for bytes that are not UTF-8. */
export const REPLACED_VALUE = '\ufffd'

/**
 * Scans a range and reads values as strings. With a string an entry of LevelDB costs 0.4 us of the event loop, with a
 * Buffer 1.0 us. From the first slice with a value that may not be text, the scan reads Buffers.
 */
export function createLevelScan(
  db: KvDatabase,
  { start, end, limit = Infinity, reverse = false, keysOnly = false }: KvRange,
  { snapshot, isPast }: LevelScanOptions,
): KvScan {
  /** @param from first key to read, if it is not the first of the range */
  const open = <Value>(valueEncoding: 'utf8' | 'buffer', from?: string) =>
    db.iterator<string, Value>({
      gte: (reverse ? undefined : from) ?? start.toString(),
      ...(reverse && from !== undefined ? { lte: from } : { lt: end?.toString() ?? USER_KEYS_END }),
      reverse,
      values: !keysOnly,
      // The limit excludes expired entries, whose number is known only later.
      limit: remaining === Infinity || isPast ? -1 : remaining,
      snapshot,
      keyEncoding: 'utf8',
      valueEncoding,
      // A scan of all keys must not evict blocks that reads need.
      fillCache: false,
      highWaterMarkBytes: SLICE_BYTES,
    })
  let remaining = limit
  /** Number of entries per read. */
  let size = Math.min(SLICE_ENTRIES, limit)
  const texts = open<string>('utf8')
  let bytes: ReturnType<typeof open<Buffer>> | undefined

  async function readSlice(): Promise<ScannedEntry[]> {
    if (bytes) return bytes.nextv(size)
    const entries = await texts.nextv(size)
    if (keysOnly || !entries.some(([, value]) => value.includes(REPLACED_VALUE))) return entries
    bytes = open<Buffer>('buffer', entries[0]![0])
    return bytes.nextv(size)
  }

  /**
   * Returns the entries that have not expired, with their times. Another key range contains the times, in the same
   * order.
   */
  async function toLive(entries: ScannedEntry[], isPast: (expiresAt: number) => boolean): Promise<ScannedEntry[]> {
    const keys = [entries[0]!, entries.at(-1)!].map(([key]) => toExpiryKey(Buffer.from(key)))
    const [gte, lte] = reverse ? keys.toReversed() : keys
    const found = await db
      .iterator<Buffer, Buffer>({ gte: gte!, lte: lte!, snapshot, keyEncoding: 'buffer', valueEncoding: 'buffer' })
      .all()
    const times = new Map(found.map(([key, time]) => [fromExpiryKey(key).toString(), decodeTime(time)]))
    if (times.size === 0) return entries
    return entries.filter((entry) => {
      const time = times.get(entry[0])
      if (time !== undefined) entry[2] = time
      return time === undefined || !isPast(time)
    })
  }

  return {
    async next(): Promise<readonly StoredEntry[]> {
      while (remaining > 0) {
        const all = await readSlice()
        if (all.length === 0) return all
        const entries = isPast ? (await toLive(all, isPast)).slice(0, remaining) : all
        // Larger slices read many expired entries in few steps, even with a small limit.
        if (entries.length < all.length) size = Math.min(SLICE_ENTRIES, 2 * size)
        remaining -= entries.length
        for (const entry of entries) entry[1] = keysOnly ? '' : getValue(entry[1])
        if (entries.length > 0) return entries
      }
      return []
    },
    close: async () => void (await Promise.all([texts.close(), bytes?.close()])),
  }
}
