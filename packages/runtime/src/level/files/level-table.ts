import { readBlock, TRAILER_BYTES } from './table-block.ts'
import { ByteReader } from './byte-reader.ts'
import { computeCrc32c, maskCrc } from './crc32c.ts'
import { KEY_SUFFIX_BYTES, toUserKey } from './level-manifest.ts'

// A table of LevelDB (table/format.cc) contains blocks and a footer with the position of the index. Each block is
// followed by its kind (1 byte), and by the checksum of the block and its kind (4 bytes). The blocks are data blocks, a
// filter block, the index of filters and the index of data.

export const FOOTER_BYTES = 48
export const MAGIC_NUMBER = 0xdb47_7524_8b80_fb57n
/** Bytes per read. */
const SLICE_BYTES = 262_144

export interface BlockHandle {
  readonly offset: number
  readonly bytes: number
}

export interface DataBlock extends BlockHandle {
  /** A key that is not less than any key of the block, and less than all keys of the next block. */
  readonly separator: Buffer
}

export interface DamagedPart {
  readonly problem: string
  /**
   * For a damaged data block: its position, and the range of its keys, from after `after` up to and including `upTo`.
   */
  readonly block?: { readonly offset: number; readonly bytes: number; readonly after?: Buffer; readonly upTo: Buffer }
}

export interface TableReport {
  readonly damaged: readonly DamagedPart[]
  /** `undefined` if the footer or the index is damaged. */
  readonly blocks: readonly DataBlock[] | undefined
}

/** Request of a check for bytes of the file. The caller of the check decides how to read them. */
export interface ReadRequest {
  readonly offset: number
  readonly bytes: number
}

export type TableCheck<T> = Generator<ReadRequest, T, Buffer>

/** Checks every byte of a table. Reports damage, and does not throw because of it. */
export function* checkTable(fileBytes: number): TableCheck<TableReport> {
  if (fileBytes < FOOTER_BYTES) return { damaged: [{ problem: 'it is too short for a table' }], blocks: undefined }
  const window = new TableWindow(fileBytes)
  const footer = yield* window.read(fileBytes - FOOTER_BYTES, FOOTER_BYTES)
  if (footer.readBigUInt64LE(FOOTER_BYTES - 8) !== MAGIC_NUMBER) return createBrokenReport('its footer is damaged')
  let blocks: DataBlock[]
  const damaged: DamagedPart[] = []
  const handles: BlockHandle[] = []
  try {
    const reader = new ByteReader(footer)
    const meta = readHandle(reader)
    const index = readHandle(reader)
    if (reader.take(FOOTER_BYTES - 8 - reader.offset).some(Boolean)) throw new RangeError('its footer is damaged')
    blocks = (yield* readIndex(window, index)).map(([separator, handle]) => ({ ...handle, separator }))
    handles.push(index, meta, ...blocks)
    try {
      for (const [, filter] of yield* readIndex(window, meta)) {
        handles.push(filter)
        if (!(yield* isSound(window, filter)))
          damaged.push({ problem: `its filter at byte ${filter.offset} is damaged` })
      }
    } catch (error) {
      damaged.push({ problem: `the index of its filters is damaged (${(error as Error).message})` })
    }
  } catch (error) {
    return createBrokenReport(`its index is damaged (${(error as Error).message})`)
  }
  let after: Buffer | undefined
  for (const { offset, bytes, separator } of blocks) {
    const upTo = toUserKey(separator)
    if (!(yield* isSound(window, { offset, bytes }))) {
      const problem = `its block at byte ${offset} (${bytes} bytes) is damaged`
      damaged.push({ problem, block: { offset, bytes, upTo, ...(after && { after }) } })
    }
    after = upTo
  }
  if (damaged.length === 0 && !isContiguous(handles, fileBytes - FOOTER_BYTES))
    damaged.push({ problem: 'it has bytes that belong to no block' })
  return { damaged, blocks }
}

const createBrokenReport = (problem: string): TableReport => ({ damaged: [{ problem }], blocks: undefined })

/** A change of a key in a table. */
export interface TableChange {
  readonly sequence: number
  /** 0 for a deletion, 1 for a put. */
  readonly kind: number
}

/** Finds the newest change of a key in a table. @throws RangeError if the table is damaged */
export function* findInTable(fileBytes: number, key: Buffer): TableCheck<TableChange | undefined> {
  const window = new TableWindow(fileBytes)
  const reader = new ByteReader(yield* window.read(fileBytes - FOOTER_BYTES, FOOTER_BYTES))
  readHandle(reader)
  const index = yield* readIndex(window, readHandle(reader))
  for (const [separator, { offset, bytes }] of index) {
    if (toUserKey(separator).compare(key) < 0) continue
    const entries = readBlock(yield* window.read(offset, bytes + 1))
    const [found] = entries.find(([one]) => toUserKey(one).compare(key) >= 0) ?? []
    // The separator may be greater than all keys of the block.
    if (!found) continue
    if (!toUserKey(found).equals(key)) return undefined
    // Newer changes of a key come first.
    const suffix = found.readBigUInt64LE(found.length - KEY_SUFFIX_BYTES)
    return { sequence: Number(suffix >> 8n), kind: Number(suffix & 0xffn) }
  }
  return undefined
}

/** The part of the file that was read last. It serves several blocks of a few KiB with one read. */
class TableWindow {
  readonly #fileBytes: number
  #start = 0
  #bytes: Buffer = Buffer.alloc(0)

  constructor(fileBytes: number) {
    this.#fileBytes = fileBytes
  }

  *read(offset: number, bytes: number): TableCheck<Buffer> {
    if (offset + bytes > this.#fileBytes) throw new RangeError('it is truncated')
    const from = offset - this.#start
    if (from >= 0 && from + bytes <= this.#bytes.length) return this.#bytes.subarray(from, from + bytes)
    this.#start = offset
    this.#bytes = yield { offset, bytes: Math.min(Math.max(bytes, SLICE_BYTES), this.#fileBytes - offset) }
    if (this.#bytes.length < bytes) throw new RangeError('it is truncated')
    return this.#bytes.subarray(0, bytes)
  }
}

function readHandle(reader: ByteReader): BlockHandle {
  const offset = reader.readVarint()
  return { offset, bytes: reader.readVarint() }
}

function* isSound(window: TableWindow, { offset, bytes }: BlockHandle): TableCheck<boolean> {
  try {
    let crc = 0
    let last: Buffer
    const end = offset + bytes + TRAILER_BYTES
    // Each slice has 4 bytes more, so that the last one contains the whole checksum.
    for (let at = offset; ; at += SLICE_BYTES) {
      last = yield* window.read(at, Math.min(SLICE_BYTES + 4, end - at))
      if (at + last.length === end) break
      crc = computeCrc32c(last.subarray(0, SLICE_BYTES), crc)
    }
    return maskCrc(computeCrc32c(last.subarray(0, -4), crc)) === last.readUInt32LE(last.length - 4)
  } catch (error) {
    if (error instanceof RangeError) return false
    throw error
  }
}

/** Reads a block whose values are handles. @throws RangeError if it is damaged */
function* readIndex(window: TableWindow, handle: BlockHandle): TableCheck<[Buffer, BlockHandle][]> {
  if (!(yield* isSound(window, handle))) throw new RangeError(`wrong checksum at byte ${handle.offset}`)
  const bytes = yield* window.read(handle.offset, handle.bytes + 1)
  return readBlock(bytes).map(([key, value]) => [key, readHandle(new ByteReader(value))])
}

/** True if the blocks, each with its trailer, cover all bytes up to `end`. */
function isContiguous(handles: readonly BlockHandle[], end: number): boolean {
  let at = 0
  for (const { offset, bytes } of handles.toSorted((a, b) => a.offset - b.offset)) {
    if (offset !== at) return false
    at = offset + bytes + TRAILER_BYTES
  }
  return at === end
}
