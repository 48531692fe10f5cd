import type { Level } from 'level'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { assertWritten, NO_KEY } from './open-level.ts'
import { fillFile, getLogBytes } from '../free-space.ts'

/** `room` in the file name means free space. Earlier versions use the same name. */
const BALLAST_FILE = 'room.ballast'
/** Space for a manifest and an index, in addition to the data of the logs (bytes). */
const OVERHEAD_BYTES = 262_144
/** Bytes of tables per compaction, which take about a second. */
const RANGE_BYTES = 64 * 1_048_576
/** Maximum length of the prefix by which keys are split into ranges (bytes). An end key may be longer. */
const MAX_PREFIX_BYTES = 64

const KEY_ENCODING = { keyEncoding: 'buffer' } as const

export interface ReclaimOptions {
  readonly folder: string
  readonly db: Level<any, any>
  /** Runs a short write. @throws Problem if it fails */
  write(run: (db: Level<any, any>) => Promise<void>): Promise<void>
  /** Returns true if the next range should be compacted. */
  shouldContinue(): Promise<boolean>
}

/**
 * Frees the disk space of deleted and overwritten entries: flushes the logs, then compacts the database range by range
 * while `shouldContinue` returns true. LevelDB writes a new table before it removes the old ones. If the disk is full
 * at that moment, LevelDB accepts no writes until it is reopened. The reopening needs space for the logs, which a
 * ballast file reserves.
 * @throws Problem if LevelDB could not write
 */
export async function reclaimSpace({ folder, db, write, shouldContinue }: ReclaimOptions): Promise<void> {
  // The compaction is not part of a write: otherwise other writes would be acknowledged only after it.
  await db.compactRange<Buffer>(NO_KEY, NO_KEY, KEY_ENCODING)
  await write(assertWritten)
  for await (const [start, end] of splitIntoRanges(db)) {
    if (!(await shouldContinue()) || !(await writeBallast(folder))) return
    try {
      await db.compactRange<Buffer>(start, end, KEY_ENCODING)
    } finally {
      await removeBallast(folder)
    }
    await write(assertWritten)
  }
}

/** Removes the ballast file, which a killed process may have left. */
export const removeBallast = (folder: string): Promise<void> => rm(join(folder, BALLAST_FILE), { force: true })

/** Reserves space for the logs. Resolves with false if the disk has too little. */
async function writeBallast(folder: string): Promise<boolean> {
  const bytes = (await getLogBytes(join(folder, 'level'))) + OVERHEAD_BYTES
  try {
    await fillFile(join(folder, BALLAST_FILE), bytes)
    return true
  } catch {
    await removeBallast(folder)
    return false
  }
}

/** Yields consecutive ranges of keys that cover all tables. Each except the last has at least `RANGE_BYTES`. */
async function* splitIntoRanges(db: Level<any, any>): AsyncGenerator<readonly [start: Buffer, end: Buffer]> {
  let start: Buffer = Buffer.alloc(0)
  let bytes = 0
  for await (const range of walkRanges(db, Buffer.alloc(0))) {
    bytes += range.bytes
    if (bytes < RANGE_BYTES) continue
    yield [start, range.end]
    start = range.end
    bytes = 0
  }
  yield [start, END_KEY]
}

const END_KEY = Buffer.alloc(MAX_PREFIX_BYTES, 0xff)

interface SizedRange {
  readonly end: Buffer
  readonly bytes: number
}

/**
 * Yields consecutive ranges of the keys with this prefix. A range has more than `RANGE_BYTES` only if its keys share
 * their first `MAX_PREFIX_BYTES` bytes.
 */
async function* walkRanges(db: Level<any, any>, prefix: Buffer): AsyncGenerator<SizedRange> {
  for (let byte = 0; byte < 256; byte++) {
    const start = Buffer.concat([prefix, Buffer.of(byte)])
    const end = byte < 255 ? Buffer.concat([prefix, Buffer.of(byte + 1)]) : Buffer.concat([prefix, END_KEY])
    const bytes = await db.approximateSize<Buffer>(start, end, KEY_ENCODING)
    if (bytes < RANGE_BYTES || start.length === MAX_PREFIX_BYTES) yield { end, bytes }
    else yield* walkRanges(db, start)
  }
}
