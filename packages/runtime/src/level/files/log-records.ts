import { computeCrc32c, maskCrc } from './crc32c.ts'

// LevelDB's logs and manifests are records in blocks of 32 KiB. A record that does not fit into the rest of a block is
// split into fragments. This file reads them like LevelDB (db/log_reader.cc), and also reports bytes that LevelDB skips
// silently.

const BLOCK_BYTES = 32_768
/** Checksum (4), length (2), type (1). */
const HEADER_BYTES = 7
const FULL_TYPE = 1
const FIRST_TYPE = 2
const MIDDLE_TYPE = 3
const LAST_TYPE = 4

/** Reason why bytes of a file are not a record. */
export type DropReason =
  /** The file ends in the middle of a record. */
  | 'torn'
  /** A record begins with zeros. */
  | 'zeros'
  /** A record has a wrong checksum. */
  | 'checksum'
  /** A record has a wrong length. */
  | 'length'
  /** A part of a record whose other parts are missing. */
  | 'fragment'

export interface LogRecord {
  readonly kind: 'record'
  readonly offset: number
  readonly end: number
  readonly payload: Buffer
}

/** Bytes of a file that are not a record. */
export interface Drop {
  readonly kind: 'drop'
  readonly offset: number
  readonly end: number
  readonly reason: DropReason
  /** End of the record according to its own length. */
  readonly claimedEnd: number
}

/** Yields all records and drops of a file, in order. */
export function* readRecords(bytes: Buffer): Generator<LogRecord | Drop> {
  let fragments: Buffer[] = []
  let start = -1

  function createDrop(offset: number, end: number, reason: DropReason, claimedEnd = end): Drop {
    start = -1
    return { kind: 'drop', offset, end, reason, claimedEnd }
  }

  for (let blockStart = 0; blockStart < bytes.length; blockStart += BLOCK_BYTES) {
    const blockEnd = Math.min(blockStart + BLOCK_BYTES, bytes.length)
    const isLast = blockEnd - blockStart < BLOCK_BYTES
    let at = blockStart
    while (blockEnd - at >= HEADER_BYTES) {
      const length = bytes.readUInt16LE(at + 4)
      const type = bytes[at + 6]!
      const end = at + HEADER_BYTES + length
      const from = start < 0 ? at : start
      if (end > blockEnd) {
        yield createDrop(from, blockEnd, isLast && !hasRecordInside(bytes, at, blockEnd) ? 'torn' : 'length', end)
        at = blockEnd
        break
      }
      if (type === 0 && length === 0) {
        yield createDrop(from, blockEnd, 'zeros')
        at = blockEnd
        break
      }
      if (type > LAST_TYPE || !isValid(bytes, at, end)) {
        yield createDrop(from, blockEnd, 'checksum', end)
        at = blockEnd
        break
      }
      const payload = bytes.subarray(at + HEADER_BYTES, end)
      if (type === FULL_TYPE || type === FIRST_TYPE) {
        // Early versions of LevelDB left an empty first fragment at the end of a block.
        if (start >= 0 && fragments.some((fragment) => fragment.length > 0)) yield createDrop(start, at, 'fragment')
        start = at
        fragments = [payload]
      } else if (start < 0) yield createDrop(at, end, 'fragment')
      else fragments.push(payload)
      if (start >= 0 && (type === FULL_TYPE || type === LAST_TYPE)) {
        yield { kind: 'record', offset: start, end, payload: fragments.length > 1 ? Buffer.concat(fragments) : payload }
        start = -1
      }
      at = end
    }
    // A complete block ends in up to six zeros after its last record.
    if (at < blockEnd && !isLast && bytes.subarray(at, blockEnd).some(Boolean))
      yield createDrop(at, blockEnd, 'checksum')
    if (at < blockEnd && isLast) yield createDrop(start < 0 ? at : start, blockEnd, 'torn')
  }
  if (start >= 0) yield createDrop(start, bytes.length, 'torn')
}

function isValid(bytes: Buffer, at: number, end: number): boolean {
  return maskCrc(computeCrc32c(bytes.subarray(at + 6, end))) === bytes.readUInt32LE(at)
}

/**
 * Returns true if a record that the end of the file seems to cut off is complete but has a wrong length. In that case
 * the bytes up to the end of the file have the right checksum, or complete records follow.
 */
function hasRecordInside(bytes: Buffer, at: number, fileEnd: number): boolean {
  if (isValid(bytes, at, fileEnd)) return true
  for (let from = at + HEADER_BYTES; from + HEADER_BYTES <= fileEnd; from++) {
    const type = bytes[from + 6]!
    if (type < FULL_TYPE || type > LAST_TYPE) continue
    const end = from + HEADER_BYTES + bytes.readUInt16LE(from + 4)
    if (end <= fileEnd && isValid(bytes, from, end)) return true
  }
  return false
}

/** Encodes payloads as a file of records. */
export function writeRecords(payloads: Iterable<Buffer>): Buffer {
  const chunks: Buffer[] = []
  let at = 0
  const append = (chunk: Buffer) => {
    chunks.push(chunk)
    at += chunk.length
  }
  for (const payload of payloads) {
    let taken = 0
    do {
      const left = BLOCK_BYTES - (at % BLOCK_BYTES)
      if (left < HEADER_BYTES) append(Buffer.alloc(left))
      const space = BLOCK_BYTES - (at % BLOCK_BYTES) - HEADER_BYTES
      const fragment = payload.subarray(taken, taken + space)
      const isFirst = taken === 0
      taken += fragment.length
      const isLast = taken === payload.length
      const header = Buffer.alloc(HEADER_BYTES)
      header.writeUInt16LE(fragment.length, 4)
      header[6] = isFirst ? (isLast ? FULL_TYPE : FIRST_TYPE) : isLast ? LAST_TYPE : MIDDLE_TYPE
      header.writeUInt32LE(maskCrc(computeCrc32c(fragment, computeCrc32c(header.subarray(6)))))
      append(header)
      append(fragment)
    } while (taken < payload.length)
  }
  return Buffer.concat(chunks)
}
