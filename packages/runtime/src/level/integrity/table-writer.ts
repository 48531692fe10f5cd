import { blockOf, TRAILER_BYTES } from './block.ts'
import { toVarint } from './byte-reader.ts'
import { FOOTER_BYTES, MAGIC, type BlockHandle, type DataBlock } from './table.ts'

/** A table of some blocks of another one, whose bytes are taken as they are. It has no filter, which LevelDB does without. */
export function tableOf(file: Buffer, blocks: readonly DataBlock[]): Buffer {
  const pieces: Buffer[] = []
  let at = 0
  function add(piece: Buffer): BlockHandle {
    pieces.push(piece)
    const handle = { offset: at, bytes: piece.length - TRAILER_BYTES }
    at += piece.length
    return handle
  }
  const index = blocks.map(({ offset, bytes, separator }): [Buffer, Buffer] => [
    separator,
    toHandle(add(file.subarray(offset, offset + bytes + TRAILER_BYTES))),
  ])
  const meta = add(blockOf([]))
  const handles = Buffer.concat([toHandle(meta), toHandle(add(blockOf(index)))])
  const footer = Buffer.alloc(FOOTER_BYTES)
  handles.copy(footer)
  footer.writeBigUInt64LE(MAGIC, FOOTER_BYTES - 8)
  return Buffer.concat([...pieces, footer])
}

const toHandle = ({ offset, bytes }: BlockHandle) => Buffer.concat([toVarint(offset), toVarint(bytes)])
