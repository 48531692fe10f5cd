import { crc32 } from 'node:zlib'
import { FrameError } from '../errors.ts'

// Format of the log: see the README.

/** Version of the format. Every change of the format increases it, and nodes that do not know it apply no more entries. */
export const FORMAT_VERSION = 1

const MAGIC = 0x4c
const PART_HEADER_BYTES = 10
const FRAME_HEADER_BYTES = 14
const ENTRY_HEADER_BYTES = 11
const WRITER_BYTES = 8

/** Maximum number of parts of a frame: the server's limit of an atomic batch. */
export const MAX_PARTS = 1_000

/** Reserve for the headers of a message (bytes), which count towards the server's limit. */
export const MESSAGE_OVERHEAD_BYTES = 512

/** One entry, as it is in a frame. */
export interface FrameEntry {
  /** Type of the body, defined by the state machine, or `LEASE_KIND`. */
  readonly kind: number
  /** Term that the lease must have when the entry is applied; 0 if it needs no lease. */
  readonly term: number
  readonly body: Buffer
}

/** Kind of a request for the lease. State machines use 0 to 254. */
export const LEASE_KIND = 255

/** Entries that a node sends together. */
export interface Frame {
  /**
   * Random id of the writer (16 hex digits). A node takes a new one at each start, and after an unknown outcome or an
   * ignored frame.
   */
  readonly writer: string
  /** Number of the frame among those of its writer, from 1. */
  readonly number: number
  readonly entries: readonly FrameEntry[]
}

/** Size of a message that contains a whole frame, without the entries (bytes). */
export const FRAME_OVERHEAD_BYTES = PART_HEADER_BYTES + FRAME_HEADER_BYTES

/** Returns the size of an entry in a frame (bytes). */
export const getEntrySize = ({ body }: FrameEntry): number => ENTRY_HEADER_BYTES + body.length

/** Encodes a frame as messages of at most `limit` bytes. */
export function encodeFrame({ writer, number, entries }: Frame, limit: number): Buffer[] {
  let size = FRAME_HEADER_BYTES
  for (const entry of entries) size += getEntrySize(entry)
  const maxPieceBytes = limit - PART_HEADER_BYTES
  const parts = Math.max(1, Math.ceil(size / maxPieceBytes))
  // The header of each part precedes its piece of the frame. A frame of one part is copied only once.
  const body = parts === 1 ? Buffer.allocUnsafe(PART_HEADER_BYTES + size) : Buffer.allocUnsafe(size)
  let at = parts === 1 ? PART_HEADER_BYTES : 0
  at += body.write(writer, at, WRITER_BYTES, 'hex')
  at = body.writeUIntBE(number, at, 6)
  for (const { kind, term, body: bytes } of entries) {
    at = body.writeUInt8(kind, at)
    at = body.writeUIntBE(term, at, 6)
    at = body.writeUInt32BE(bytes.length, at)
    body.set(bytes, at)
    at += bytes.length
  }
  if (parts === 1) return [sealPart(body, 0, 1)]
  return Array.from({ length: parts }, (_, part) => {
    const piece = body.subarray(part * maxPieceBytes, (part + 1) * maxPieceBytes)
    const message = Buffer.allocUnsafe(PART_HEADER_BYTES + piece.length)
    message.set(piece, PART_HEADER_BYTES)
    return sealPart(message, part, parts)
  })
}

function sealPart(message: Buffer, part: number, parts: number): Buffer {
  message[0] = MAGIC
  message[1] = FORMAT_VERSION
  message.writeUInt16BE(part, 2)
  message.writeUInt16BE(parts, 4)
  message.writeUInt32BE(computeChecksum(message), 6)
  return message
}

const computeChecksum = (message: Buffer) => crc32(message.subarray(PART_HEADER_BYTES), crc32(message.subarray(0, 6)))

/**
 * True if a message may be a part of this writer's frame. Only the first part of a frame names the writer, so the
 * result is true for every frame of several parts.
 */
export const canBeFrom = (writer: string, message: Buffer): boolean =>
  message.length < FRAME_OVERHEAD_BYTES ||
  message.readUInt16BE(4) > 1 ||
  message.toString('hex', PART_HEADER_BYTES, PART_HEADER_BYTES + WRITER_BYTES) === writer

/** Decoded message: one part of a frame. */
export interface FramePart {
  /** Index of the part, from 0. */
  readonly part: number
  /** Number of parts of the frame. */
  readonly parts: number
  /** Checksum of the message. */
  readonly check: number
  /** Bytes of the frame in this part. */
  readonly piece: Buffer
}

/**
 * Decodes a message and checks it.
 * @throws FrameError `LOG_FORMAT_UNKNOWN` for an intact message of another version, otherwise `LOG_FOREIGN` or
 * `LOG_DAMAGED`
 */
export function readPart(message: Buffer): FramePart {
  if (message[0] !== MAGIC) throw new FrameError('LOG_FOREIGN', 'is not a frame')
  if (message.length < PART_HEADER_BYTES) throw new FrameError('LOG_DAMAGED', 'is truncated')
  const check = message.readUInt32BE(6)
  if (check !== computeChecksum(message)) throw new FrameError('LOG_DAMAGED', 'has a wrong checksum')
  if (message[1] !== FORMAT_VERSION)
    throw new FrameError('LOG_FORMAT_UNKNOWN', `has format ${message[1]}; this version knows ${FORMAT_VERSION}`)
  const part = message.readUInt16BE(2)
  const parts = message.readUInt16BE(4)
  if (part >= parts) throw new FrameError('LOG_DAMAGED', `is part ${part} of ${parts}`)
  return { part, parts, check, piece: message.subarray(PART_HEADER_BYTES) }
}

/** Returns the checksum that identifies a message: the one in its header, or that of the whole message without a valid one. */
export const getMessageCheck = (message: Buffer): number =>
  message.length >= PART_HEADER_BYTES && message[0] === MAGIC && message.readUInt32BE(6) === computeChecksum(message)
    ? message.readUInt32BE(6)
    : crc32(message)

/** Decodes the joined pieces of a frame. @throws FrameError */
export function decodeFrame(bytes: Buffer): Frame {
  try {
    const writer = bytes.toString('hex', 0, WRITER_BYTES)
    const number = bytes.readUIntBE(WRITER_BYTES, 6)
    const entries: FrameEntry[] = []
    for (let at = FRAME_HEADER_BYTES; at < bytes.length;) {
      const kind = bytes.readUInt8(at)
      const term = bytes.readUIntBE(at + 1, 6)
      const end = at + ENTRY_HEADER_BYTES + bytes.readUInt32BE(at + 7)
      if (end > bytes.length) throw new RangeError()
      entries.push({ kind, term, body: bytes.subarray(at + ENTRY_HEADER_BYTES, end) })
      at = end
    }
    return { writer, number, entries }
  } catch {
    throw new FrameError('LOG_DAMAGED', 'ends within its last entry')
  }
}
