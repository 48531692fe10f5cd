import { buildBlock, TRAILER_BYTES } from './table-block.ts'
import { toVarint } from './byte-reader.ts'
import { FOOTER_BYTES, MAGIC_NUMBER, type BlockHandle, type DataBlock } from './level-table.ts'

/**
 * Builds a table from some blocks of another table. It copies the bytes of the blocks. The new table has no filter,
 * because LevelDB does not need one.
 */
export function buildTable(file: Buffer, blocks: readonly DataBlock[]): Buffer {
  const chunks: Buffer[] = []
  let at = 0
  function add(chunk: Buffer): BlockHandle {
    chunks.push(chunk)
    const handle = { offset: at, bytes: chunk.length - TRAILER_BYTES }
    at += chunk.length
    return handle
  }
  const index = blocks.map(({ offset, bytes, separator }): [Buffer, Buffer] => [
    separator,
    encodeHandle(add(file.subarray(offset, offset + bytes + TRAILER_BYTES))),
  ])
  const meta = add(buildBlock([]))
  const handles = Buffer.concat([encodeHandle(meta), encodeHandle(add(buildBlock(index)))])
  const footer = Buffer.alloc(FOOTER_BYTES)
  handles.copy(footer)
  footer.writeBigUInt64LE(MAGIC_NUMBER, FOOTER_BYTES - 8)
  return Buffer.concat([...chunks, footer])
}

const encodeHandle = ({ offset, bytes }: BlockHandle) => Buffer.concat([toVarint(offset), toVarint(bytes)])
