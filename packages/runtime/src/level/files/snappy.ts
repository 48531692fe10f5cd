import { ByteReader } from './byte-reader.ts'

const MAX_BLOCK_BYTES = 2 ** 31

/** Decompresses a block of Snappy. @throws RangeError if the bytes are not such a block */
export function decodeSnappy(bytes: Buffer): Buffer {
  const reader = new ByteReader(bytes)
  const length = reader.readVarint()
  if (length > MAX_BLOCK_BYTES) throw new RangeError('a block is too long')
  const expanded = Buffer.alloc(length)
  let at = 0
  while (!reader.isAtEnd) {
    const tag = reader.readByte()
    const kind = tag & 3
    if (kind === 0) {
      const short = tag >>> 2
      const count = (short < 60 ? short : readFixed(reader, short - 59)) + 1
      if (at + count > length) throw new RangeError('a block is longer than its header states')
      at += reader.take(count).copy(expanded, at)
      continue
    }
    const count = kind === 1 ? ((tag >>> 2) & 7) + 4 : (tag >>> 2) + 1
    const back = kind === 1 ? ((tag >>> 5) << 8) | reader.readByte() : readFixed(reader, kind === 2 ? 2 : 4)
    if (back === 0 || back > at || at + count > length)
      throw new RangeError('a back reference points outside its block')
    // Byte by byte, because a copy may overlap its own output.
    for (const end = at + count; at < end; at++) expanded[at] = expanded[at - back]!
  }
  if (at !== length) throw new RangeError('a block is shorter than its header states')
  return expanded
}

const readFixed = (reader: ByteReader, bytes: number) => reader.take(bytes).readUIntLE(0, bytes)
