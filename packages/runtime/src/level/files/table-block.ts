import { ByteReader, toVarint } from './byte-reader.ts'
import { computeCrc32c, maskCrc } from './crc32c.ts'
import { decodeSnappy } from './snappy.ts'

// A block of a table contains entries and restarts (table/block.cc). Each entry omits the prefix that its key shares
// with the previous key. A restart is the offset of an entry with a complete key. The block is followed by its kind (1
// byte), and by the checksum of the block and its kind (4 bytes).

export const TRAILER_BYTES = 5
const SNAPPY_KIND = 1

/**
 * Returns the entries of a block.
 * @param bytes the block, followed by its kind
 * @throws RangeError if it is not a block
 */
export function readBlock(bytes: Buffer): [Buffer, Buffer][] {
  const content = bytes.subarray(0, -1)
  const block = bytes.at(-1) === SNAPPY_KIND ? decodeSnappy(content) : content
  if (block.length < 4) throw new RangeError('a block is too short')
  const restarts = block.readUInt32LE(block.length - 4)
  const reader = new ByteReader(block.subarray(0, Math.max(0, block.length - 4 - 4 * restarts)))
  const entries: [Buffer, Buffer][] = []
  let key = Buffer.alloc(0)
  while (!reader.isAtEnd) {
    const [shared, own, length] = [reader.readVarint(), reader.readVarint(), reader.readVarint()]
    key = Buffer.concat([key.subarray(0, shared), reader.take(own)])
    entries.push([key, reader.take(length)])
  }
  return entries
}

/** Builds a block with its trailer. Each entry has its complete key. */
export function buildBlock(entries: readonly [Buffer, Buffer][]): Buffer {
  const chunks: Buffer[] = []
  const restarts: number[] = []
  let at = 0
  for (const [key, value] of entries) {
    const head = Buffer.concat([toVarint(0), toVarint(key.length), toVarint(value.length)])
    restarts.push(at)
    chunks.push(head, key, value)
    at += head.length + key.length + value.length
  }
  // A block without entries has one restart, too.
  if (restarts.length === 0) restarts.push(0)
  const tail = Buffer.alloc(4 * restarts.length + 5)
  restarts.forEach((offset, i) => tail.writeUInt32LE(offset, 4 * i))
  tail.writeUInt32LE(restarts.length, 4 * restarts.length)
  const content = Buffer.concat([...chunks, tail])
  const crc = Buffer.alloc(4)
  crc.writeUInt32LE(maskCrc(computeCrc32c(content)))
  return Buffer.concat([content, crc])
}
