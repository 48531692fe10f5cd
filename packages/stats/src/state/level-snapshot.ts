import type { SnapshotCodec } from '@influencer-stats/log/level-state-machine'
import type { SharedLevel } from '@influencer-stats/runtime/shared-level'

// Snapshot of a database: the name of the format, then a line per key with its value, as JSON. The last line is the key
// with the log position of the snapshot.

/** Key of the database's log position. */
export const POSITION_KEY = 'log'

const SNAPSHOT_HEADER = 'influencer-stats stats snapshot 1'
const SLICE_ENTRIES = 1_000
const SLICE_BYTES = 256 * 1_024

type StatsDb = SharedLevel['db']

const toLine = (entry: readonly [key: string, value: string]) => `${JSON.stringify(entry)}\n`

/**
 * Yields the whole content that a database has when the first chunk is read.
 * @param onPosition called with the value of `POSITION_KEY` before the first chunk, unless it is missing
 */
export async function* createSnapshotChunks(
  db: StatsDb,
  onPosition: (value: string) => void = () => {},
): AsyncGenerator<Buffer> {
  const snapshot = db.snapshot()
  const iterator = db.iterator({ snapshot, fillCache: false, highWaterMarkBytes: SLICE_BYTES })
  try {
    const position = await db.get(POSITION_KEY, { snapshot })
    if (position !== undefined) onPosition(position)
    yield Buffer.from(`${SNAPSHOT_HEADER}\n`)
    for (;;) {
      const entries = await iterator.nextv(SLICE_ENTRIES)
      if (entries.length === 0) break
      yield Buffer.from(
        entries
          .filter(([key]) => key !== POSITION_KEY)
          .map(toLine)
          .join(''),
      )
    }
    if (position !== undefined) yield Buffer.from(toLine([POSITION_KEY, position]))
  } finally {
    await iterator.close()
    await snapshot.close()
  }
}

/** Creates the snapshots of a database. */
export const createStatsSnapshots = (db: StatsDb): SnapshotCodec => ({
  write: (onRow) => createSnapshotChunks(db, onRow),
  read: (chunks) => restoreSnapshot(chunks, db),
})

/**
 * Writes a snapshot's entries into an empty database. Returns the value of `POSITION_KEY`.
 * @throws Error if the chunks are no snapshot, or a truncated one
 */
export async function restoreSnapshot(chunks: AsyncIterable<Buffer>, db: StatsDb): Promise<string> {
  let position: string | undefined
  let isBegun = false
  for await (const lines of readLines(chunks)) {
    if (!isBegun && lines.length > 0) {
      if (lines.shift() !== SNAPSHOT_HEADER) throw new Error('this version does not know the format of the snapshot')
      isBegun = true
    }
    const entries = lines.map((line) => JSON.parse(line) as [key: string, value: string])
    for (const [key, value] of entries) if (key === POSITION_KEY) position = value
    const rows = entries.filter(([key]) => key !== POSITION_KEY)
    await db.batch(rows.map(([key, value]) => ({ type: 'put' as const, key, value })))
  }
  if (position === undefined) throw new Error('the snapshot is truncated')
  return position
}

/**
 * Yields the complete lines of each chunk.
 * @throws Error if the last line is incomplete
 */
async function* readLines(chunks: AsyncIterable<Buffer>): AsyncGenerator<string[]> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of chunks) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
    rest = lines.pop()!
    yield lines
  }
  if (rest !== '') throw new Error('the snapshot is truncated')
}
