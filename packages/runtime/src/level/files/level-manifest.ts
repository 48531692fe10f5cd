import { ByteReader } from './byte-reader.ts'
import { readRecords, type Drop } from './log-records.ts'

/** A table that LevelDB reads from. */
export interface LiveTable {
  readonly number: number
  readonly bytes: number
  /** User keys, without the suffix that LevelDB adds. */
  readonly smallest: Buffer
  readonly largest: Buffer
}

/** State of a folder as recorded in its manifest. */
export interface LevelManifest {
  readonly tables: ReadonlyMap<number, LiveTable>
  /** Logs from this number on contain changes that no table has. 0 if no log is required. */
  readonly logNumber: number
  /**
   * Last sequence number when the manifest first named the log `logNumber`. LevelDB may have written to that log
   * before. So the first record of the log has the next number or a lower one.
   */
  readonly sequenceAtLog: number
  /** Last sequence number at the last write of the manifest. */
  readonly lastSequence: number
  /** Bytes of the manifest that are not records. */
  readonly drops: readonly Drop[]
}

// Tags of the fields of a record, as in LevelDB's db/version_edit.cc.
const COMPARATOR = 1
const LOG_NUMBER = 2
const NEXT_FILE = 3
const LAST_SEQUENCE = 4
const COMPACT_POINTER = 5
const DELETED_FILE = 6
const NEW_FILE = 7
const PREV_LOG_NUMBER = 9

/** Bytes after each key of a table: the sequence number and the kind of the change. */
export const KEY_SUFFIX_BYTES = 8

export const toUserKey = (internalKey: Buffer): Buffer => internalKey.subarray(0, -KEY_SUFFIX_BYTES)

interface ManifestFields {
  logNumber: number | undefined
  lastSequence: number | undefined
  sequenceAtLog: number
  hasNextFile: boolean
}

/**
 * Reads a whole manifest.
 * @throws Error if a record does not belong in a manifest, or if the manifest is incomplete
 */
export function readManifest(bytes: Buffer): LevelManifest {
  const tables = new Map<number, LiveTable>()
  const drops: Drop[] = []
  const fields: ManifestFields = { logNumber: undefined, lastSequence: undefined, sequenceAtLog: 0, hasNextFile: false }
  for (const piece of readRecords(bytes)) {
    if (piece.kind === 'drop') drops.push(piece)
    else applyEdit(piece.payload, tables, fields)
  }
  const { logNumber, lastSequence, sequenceAtLog, hasNextFile } = fields
  if (logNumber === undefined || lastSequence === undefined || !hasNextFile)
    throw new Error(bytes.length === 0 ? 'it is empty' : 'its beginning is missing')
  return { tables, logNumber, sequenceAtLog, lastSequence, drops }
}

function applyEdit(payload: Buffer, tables: Map<number, LiveTable>, fields: ManifestFields): void {
  const reader = new ByteReader(payload)
  const added: LiveTable[] = []
  const { logNumber } = fields
  while (!reader.isAtEnd) {
    const tag = reader.readVarint()
    if (tag === COMPARATOR) reader.readPrefixed()
    else if (tag === LOG_NUMBER) fields.logNumber = reader.readVarint()
    else if (tag === PREV_LOG_NUMBER) reader.readVarint()
    else if (tag === NEXT_FILE) fields.hasNextFile = reader.readVarint() > 0
    else if (tag === LAST_SEQUENCE) fields.lastSequence = reader.readVarint()
    else if (tag === COMPACT_POINTER) {
      reader.readVarint()
      reader.readPrefixed()
    } else if (tag === DELETED_FILE) {
      reader.readVarint()
      tables.delete(reader.readVarint())
    } else if (tag === NEW_FILE) {
      reader.readVarint()
      const [number, size] = [reader.readVarint(), reader.readVarint()]
      added.push({
        number,
        bytes: size,
        smallest: toUserKey(reader.readPrefixed()),
        largest: toUserKey(reader.readPrefixed()),
      })
    } else throw new Error('it has a record that does not belong to a manifest')
  }
  // A table that moves to another level is deleted and added in one record.
  for (const table of added) tables.set(table.number, table)
  if (fields.logNumber !== logNumber) fields.sequenceAtLog = fields.lastSequence ?? 0
}
