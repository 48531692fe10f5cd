import type { StoredEntry } from '../lines/entry-chunks.ts'
import { USER_KEYS_END, toExpiryKey, fromExpiryKey, decodeTime } from '../core/internal-keys.ts'
import { getValue, type StoredValue } from '../core/stored-value.ts'
import type { KvDatabase } from './commit.ts'
import type { KvRange, KvScan } from './store.ts'

type ScannedEntry = [key: string, stored: StoredValue, expiresAt?: number]

export type LevelSnapshot = ReturnType<KvDatabase['snapshot']>

const SLICE_ENTRIES = 10_000
/**
 * Size of a slice (bytes). A scan reads one slice while the previous one is sent. With 64 KiB an entry costs 15 % more.
 */
const SLICE_BYTES = 256 * 1_024

export interface LevelScanOptions {
  readonly snapshot: LevelSnapshot
  /** Returns true if a value had expired when the snapshot was taken; absent if no value in the snapshot expires. */
  readonly isPast?: ((expiresAt: number) => boolean) | undefined
}

/** Character that the UTF-8 decoder returns for invalid bytes. A string without it was valid UTF-8. */
export const REPLACEMENT_CHARACTER = '\ufffd'

/**
 * Scans a range. It reads values as strings first: an entry then takes 0.4 us of the event loop, with a Buffer 1.0 us.
 * From the first slice with a value that may not be text, it reads Buffers.
 */
export function createLevelScan(
  db: KvDatabase,
  { start, end, limit = Infinity, reverse = false, keysOnly = false }: KvRange,
  { snapshot, isPast }: LevelScanOptions,
): KvScan {
  /**
   * Opens an iterator.
   * @param from key to begin with, in the direction of the scan; by default the first key of the range
   */
  const open = <Value>(valueEncoding: 'utf8' | 'buffer', from?: string) =>
    db.iterator<string, Value>({
      gte: (reverse ? undefined : from) ?? start.toString(),
      ...(reverse && from !== undefined ? { lte: from } : { lt: end?.toString() ?? USER_KEYS_END }),
      reverse,
      values: !keysOnly,
      // Expired entries do not count towards the limit. Their number is not known here.
      limit: remaining === Infinity || isPast ? -1 : remaining,
      snapshot,
      keyEncoding: 'utf8',
      valueEncoding,
      // A large scan must not evict the blocks that other reads need.
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
    if (keysOnly || !entries.some(([, value]) => value.includes(REPLACEMENT_CHARACTER))) return entries
    bytes = open<Buffer>('buffer', entries[0]![0])
    return bytes.nextv(size)
  }

  /**
   * Returns the entries that have not expired, with their expiry times. The times are in another range of keys, in the
   * same order.
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
        // If entries had expired, the next read is larger. Otherwise a scan with a small limit would need many reads.
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
