import type { ClassicLevel } from 'classic-level'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { assertWritten, NO_KEY } from './open-level.ts'
import { fillFile, logBytes } from './room.ts'

const BALLAST = 'room.ballast'
/** For a manifest and an index besides what is in the logs (bytes). */
const MORE_BYTES = 262_144
/** Tables of so many bytes are compacted at a time: about a second. */
const PIECE_BYTES = 64 * 1_048_576
/** No range is told apart by more bytes of its keys. */
const MAX_PREFIX = 64

const BYTES = { keyEncoding: 'buffer' } as const

export interface ReclaimOptions {
  readonly folder: string
  readonly db: ClassicLevel<any, any>
  /** Runs a short write. @throws Problem if it fails */
  write(run: (db: ClassicLevel<any, any>) => Promise<void>): Promise<void>
  /** Whether to go on with the next piece. */
  isWanted(): Promise<boolean>
}

/**
 * Gives the space of deleted and overwritten entries back to the disk: flushes the logs, then compacts the base piece by piece
 * for as long as that is wanted. LevelDB writes a new table before it removes the old ones. If the disk is full meanwhile,
 * LevelDB takes no writes until it is opened again, which needs room for the logs: a ballast file reserves that.
 * @throws Problem where LevelDB could not write
 */
export async function reclaim({ folder, db, write, isWanted }: ReclaimOptions): Promise<void> {
  // A compaction is no part of a write: other writes would be acknowledged only after it.
  await db.compactRange<Buffer>(NO_KEY, NO_KEY, BYTES)
  await write(assertWritten)
  for await (const [start, end] of piecesOf(db)) {
    if (!(await isWanted()) || !(await writeBallast(folder))) return
    try {
      await db.compactRange<Buffer>(start, end, BYTES)
    } finally {
      await removeBallast(folder)
    }
    await write(assertWritten)
  }
}

/** Removes what a process that was killed has left. */
export const removeBallast = (folder: string): Promise<void> => rm(join(folder, BALLAST), { force: true })

async function writeBallast(folder: string): Promise<boolean> {
  const bytes = (await logBytes(join(folder, 'level'))) + MORE_BYTES
  try {
    await fillFile(join(folder, BALLAST), bytes)
    return true
  } catch {
    await removeBallast(folder)
    return false
  }
}

/** Ranges of keys that follow each other and cover all tables, each of about so many bytes. */
async function* piecesOf(db: ClassicLevel<any, any>): AsyncGenerator<readonly [start: Buffer, end: Buffer]> {
  let start: Buffer = Buffer.alloc(0)
  let bytes = 0
  for await (const leaf of leavesOf(db, Buffer.alloc(0))) {
    bytes += leaf.bytes
    if (bytes < PIECE_BYTES) continue
    yield [start, leaf.end]
    start = leaf.end
    bytes = 0
  }
  yield [start, AFTER_ALL]
}

const AFTER_ALL = Buffer.alloc(MAX_PREFIX, 0xff)

interface Leaf {
  readonly end: Buffer
  readonly bytes: number
}

async function* leavesOf(db: ClassicLevel<any, any>, prefix: Buffer): AsyncGenerator<Leaf> {
  for (let byte = 0; byte < 256; byte++) {
    const start = Buffer.concat([prefix, Buffer.of(byte)])
    const end = byte < 255 ? Buffer.concat([prefix, Buffer.of(byte + 1)]) : Buffer.concat([prefix, AFTER_ALL])
    const bytes = await db.approximateSize<Buffer>(start, end, BYTES)
    if (bytes < PIECE_BYTES || start.length === MAX_PREFIX) yield { end, bytes }
    else yield* leavesOf(db, start)
  }
}
