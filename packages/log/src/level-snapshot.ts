import type { SharedLevel } from '@influencer-stats/runtime/shared-level'

// A snapshot of a base: its format's name, then of each entry u16 length of the key, u32 of what is kept under it, and
// their bytes, in the order of the keys; last, without its key, what the view keeps under its own, which says what it is of.

type Db = SharedLevel<any, any>['db']

const NAME_FIRST = 'influencer-stats '
const ENTRY_HEAD = 6
const SLICE = 2_000
const SLICE_BYTES = 256 * 1_024
const NO_KEY = Buffer.alloc(0)
const BYTES = { keyEncoding: 'buffer', valueEncoding: 'buffer' } as const

const headOf = (name: string) => Buffer.from(`${NAME_FIRST}${name}\n`)

function encode(entries: readonly (readonly [key: Buffer, value: Buffer])[]): Buffer {
  const size = entries.reduce((sum, [key, value]) => sum + ENTRY_HEAD + key.length + value.length, 0)
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

export interface SnapshotOptions {
  /** Of its format. */
  readonly name: string
  /** Under which the view keeps how far it is. */
  readonly ownKey: Buffer
  /** Which of the other keys belong to it; by default all. @param own what is under its own */
  keeps?(own: Buffer): (key: Buffer) => boolean
}

/** All of a base, as it is now. */
export async function* snapshotPieces(
  db: Db,
  { name, ownKey, keeps = () => () => true }: SnapshotOptions,
): AsyncGenerator<Buffer> {
  const snapshot = db.snapshot()
  const options = { ...BYTES, snapshot, fillCache: false }
  const iterator = db.iterator<Buffer, Buffer>({ ...options, highWaterMarkBytes: SLICE_BYTES })
  try {
    const own = await db.get<Buffer, Buffer>(ownKey, options)
    const belongs = own ? keeps(own) : () => true
    yield headOf(name)
    for (;;) {
      const entries = await iterator.nextv(SLICE)
      if (entries.length === 0) break
      yield encode(entries.filter(([key]) => !key.equals(ownKey) && belongs(key)))
    }
    if (own) yield encode([[NO_KEY, own]])
  } finally {
    await iterator.close()
    await snapshot.close()
  }
}

/**
 * Puts a snapshot's entries into an empty base. Gives what the view's own key is to hold. @param names of formats that are
 * known. @throws Error where it is none, or cut
 */
export async function readSnapshot(pieces: AsyncIterable<Buffer>, db: Db, names: readonly string[]): Promise<Buffer> {
  const heads = names.map(headOf)
  let rest: Buffer = Buffer.alloc(0)
  let isBegun = false
  let own: Buffer | undefined
  for await (const piece of pieces) {
    rest = rest.length > 0 ? Buffer.concat([rest, piece]) : piece
    if (!isBegun) {
      const head = heads.find((known) => known.subarray(0, rest.length).equals(rest.subarray(0, known.length)))
      if (!head) throw new Error('this is no snapshot that this version knows')
      if (rest.length < head.length) continue
      rest = rest.subarray(head.length)
      isBegun = true
    }
    const batch = db.batch()
    let at = 0
    while (rest.length - at >= ENTRY_HEAD) {
      const keyLength = rest.readUInt16BE(at)
      const valueAt = at + ENTRY_HEAD + keyLength
      const end = valueAt + rest.readUInt32BE(at + 2)
      if (end > rest.length) break
      const value = rest.subarray(valueAt, end)
      if (keyLength === 0) own = Buffer.from(value)
      else batch.put<Buffer, Buffer>(rest.subarray(at + ENTRY_HEAD, valueAt), value, BYTES)
      at = end
    }
    await batch.write()
    rest = rest.subarray(at)
  }
  if (!own || rest.length > 0) throw new Error('the snapshot is cut')
  return own
}
