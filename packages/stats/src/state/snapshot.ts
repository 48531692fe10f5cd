import type { SharedLevel } from '@influencer-stats/runtime/shared-level'

// A snapshot of a base: its format's name, then a line for each key and what is kept under it, as JSON; last the key that
// says what it is of.

/** Where a base keeps how far in the log it is. */
export const OWN_KEY = 'log'

const HEAD = 'influencer-stats stats snapshot 1'
const SLICE = 1_000
const SLICE_BYTES = 256 * 1_024

type Db = SharedLevel['db']

const lineOf = (entry: readonly [key: string, value: string]) => `${JSON.stringify(entry)}\n`

/** All of a base, as it is now. */
export async function* snapshotPieces(db: Db): AsyncGenerator<Buffer> {
  const snapshot = db.snapshot()
  const iterator = db.iterator({ snapshot, fillCache: false, highWaterMarkBytes: SLICE_BYTES })
  try {
    yield Buffer.from(`${HEAD}\n`)
    for (;;) {
      const entries = await iterator.nextv(SLICE)
      if (entries.length === 0) break
      yield Buffer.from(
        entries
          .filter(([key]) => key !== OWN_KEY)
          .map(lineOf)
          .join(''),
      )
    }
    const own = await db.get(OWN_KEY, { snapshot })
    if (own !== undefined) yield Buffer.from(lineOf([OWN_KEY, own]))
  } finally {
    await iterator.close()
    await snapshot.close()
  }
}

/** Puts a snapshot's entries into an empty base. Gives what the base's own key is to hold. @throws Error where it is none, or cut */
export async function readSnapshot(pieces: AsyncIterable<Buffer>, db: Db): Promise<string> {
  let own: string | undefined
  let isBegun = false
  for await (const lines of linesOf(pieces)) {
    if (!isBegun && lines.length > 0) {
      if (lines.shift() !== HEAD) throw new Error('this is no snapshot that this version knows')
      isBegun = true
    }
    const entries = lines.map((line) => JSON.parse(line) as [key: string, value: string])
    for (const [key, value] of entries) if (key === OWN_KEY) own = value
    const rows = entries.filter(([key]) => key !== OWN_KEY)
    await db.batch(rows.map(([key, value]) => ({ type: 'put' as const, key, value })))
  }
  if (own === undefined) throw new Error('the snapshot is cut')
  return own
}

/** Whole lines, as many as each piece ends. @throws Error where the last one has no end */
async function* linesOf(pieces: AsyncIterable<Buffer>): AsyncGenerator<string[]> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const piece of pieces) {
    const lines = (rest + decoder.decode(piece, { stream: true })).split('\n')
    rest = lines.pop()!
    yield lines
  }
  if (rest !== '') throw new Error('the snapshot is cut')
}
