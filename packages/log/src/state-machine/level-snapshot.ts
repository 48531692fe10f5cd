import type { SharedLevel } from '@influencer-stats/runtime/shared-level'
import type { SnapshotCodec } from './level-state-machine.ts'

// Layout of a snapshot: a header with the name of the format, then the entries of the database, sorted by their keys.
// An entry has the length of the key (u16), the length of the value (u32), the key and the value.
// The last entry has an empty key. Its value is the position of the state machine.

type SnapshotDatabase = SharedLevel<any, any>['db']

const HEADER_PREFIX = 'influencer-stats '
const ENTRY_HEADER_BYTES = 6
// Maximum size of one read of the database (entries, bytes).
const SLICE_ENTRIES = 2_000
const SLICE_BYTES = 256 * 1_024
const NO_KEY = Buffer.alloc(0)
const BUFFER_ENCODING = { keyEncoding: 'buffer', valueEncoding: 'buffer' } as const

const toHeader = (name: string) => Buffer.from(`${HEADER_PREFIX}${name}\n`)

function encodeEntries(entries: readonly (readonly [key: Buffer, value: Buffer])[]): Buffer {
  const size = entries.reduce((sum, [key, value]) => sum + ENTRY_HEADER_BYTES + key.length + value.length, 0)
  const bytes = Buffer.allocUnsafe(size)
  let at = 0
  for (const [key, value] of entries) {
    at = bytes.writeUInt16BE(key.length, at)
    at = bytes.writeUInt32BE(value.length, at)
    bytes.set(key, at)
    at += key.length
    bytes.set(value, at)
    at += value.length
  }
  return bytes
}

export interface LevelSnapshotFormat {
  /** Name and version of the format. `restoreSnapshot` compares it with the names that its caller can read. */
  readonly name: string
  /** Key under which the state machine stores its position. */
  readonly positionKey: Buffer
  /**
   * Creates a function that returns true for each key to include; `positionKey` is always included. By default all keys
   * are.
   * @param position value of `positionKey`
   */
  createFilter?(position: Buffer): (key: Buffer) => boolean
}

/**
 * Yields a consistent snapshot of a database, in chunks of any size.
 * @param onPosition called with the value of `positionKey` before the first chunk, unless it is missing
 */
export async function* createSnapshotChunks(
  db: SnapshotDatabase,
  { name, positionKey, createFilter = () => () => true }: LevelSnapshotFormat,
  onPosition: (value: Buffer) => void = () => {},
): AsyncGenerator<Buffer> {
  const snapshot = db.snapshot()
  const options = { ...BUFFER_ENCODING, snapshot, fillCache: false }
  const iterator = db.iterator<Buffer, Buffer>({ ...options, highWaterMarkBytes: SLICE_BYTES })
  try {
    const position = await db.get<Buffer, Buffer>(positionKey, options)
    const isIncluded = position ? createFilter(position) : () => true
    if (position) onPosition(position)
    yield toHeader(name)
    for (;;) {
      const entries = await iterator.nextv(SLICE_ENTRIES)
      if (entries.length === 0) break
      yield encodeEntries(entries.filter(([key]) => !key.equals(positionKey) && isIncluded(key)))
    }
    if (position) yield encodeEntries([[NO_KEY, position]])
  } finally {
    await iterator.close()
    await snapshot.close()
  }
}

/**
 * Writes the entries of a snapshot into an empty database, except the position. Returns the value of `positionKey`: the
 * caller writes it last, so that an incomplete snapshot is never used.
 * @param names names of the formats that the caller can read
 * @throws Error if the format is unknown or the snapshot is truncated
 */
export async function restoreSnapshot(
  chunks: AsyncIterable<Buffer>,
  db: SnapshotDatabase,
  names: readonly string[],
): Promise<Buffer> {
  const headers = names.map(toHeader)
  let remainder: Buffer = Buffer.alloc(0)
  let hasHeader = false
  let position: Buffer | undefined
  for await (const chunk of chunks) {
    remainder = remainder.length > 0 ? Buffer.concat([remainder, chunk]) : chunk
    if (!hasHeader) {
      const header = headers.find((expected) =>
        expected.subarray(0, remainder.length).equals(remainder.subarray(0, expected.length)),
      )
      if (!header) throw new Error('this version does not know the format of the snapshot')
      if (remainder.length < header.length) continue
      remainder = remainder.subarray(header.length)
      hasHeader = true
    }
    const batch = db.batch()
    let at = 0
    while (remainder.length - at >= ENTRY_HEADER_BYTES) {
      const keyLength = remainder.readUInt16BE(at)
      const valueAt = at + ENTRY_HEADER_BYTES + keyLength
      const end = valueAt + remainder.readUInt32BE(at + 2)
      if (end > remainder.length) break
      const value = remainder.subarray(valueAt, end)
      if (keyLength === 0) position = Buffer.from(value)
      else batch.put<Buffer, Buffer>(remainder.subarray(at + ENTRY_HEADER_BYTES, valueAt), value, BUFFER_ENCODING)
      at = end
    }
    await batch.write()
    remainder = remainder.subarray(at)
  }
  if (!position || remainder.length > 0) throw new Error('the snapshot is truncated')
  return position
}

/** Creates the snapshots of a state machine. @param readableNames names of older formats that it can read */
export const createSnapshotCodec = (
  db: SnapshotDatabase,
  format: LevelSnapshotFormat,
  readableNames: readonly string[] = [],
): SnapshotCodec => ({
  write: (onRow) => createSnapshotChunks(db, format, (value) => onRow?.(String(value))),
  read: async (chunks) => String(await restoreSnapshot(chunks, db, [format.name, ...readableNames])),
})
