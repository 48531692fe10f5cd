import type { ClassicLevel } from 'classic-level'
import { answersKey, META } from '../block-store.ts'
import { AnswerBlock, BLOCK_BYTES, BLOCK_ROWS, ID_BYTES } from '../core/answers.ts'

// In format 1 a block had all values first, then all kinds, then all ids.
const KINDS = BLOCK_ROWS * 8
const IDS = KINDS + BLOCK_ROWS * 4

/** A block of format 1 as one of today. */
function fromColumns(bytes: Uint8Array): Uint8Array {
  const columns = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const block = new AnswerBlock(new Uint8Array(BLOCK_BYTES))
  for (let slot = 0; slot < BLOCK_ROWS; slot++) {
    const id = bytes.subarray(IDS + ID_BYTES * slot, IDS + ID_BYTES * (slot + 1))
    block.set(slot, id, columns.getFloat64(8 * slot, true), columns.getUint32(KINDS + 4 * slot, true))
  }
  return block.bytes
}

/** Makes a catalog of format 1 one of format 2: all of it, or nothing. */
export async function fromFirstFormat(db: ClassicLevel): Promise<void> {
  const text = await db.get(META)
  if (text === undefined) return
  const meta: { generation: number; rows: number; format?: number } = JSON.parse(text)
  if (meta.format === 2) return
  const batch = db.batch().put(META, JSON.stringify({ ...meta, format: 2 }))
  for (let number = 0; number * BLOCK_ROWS < meta.rows; number++) {
    const key = answersKey(meta.generation, number)
    const columns = await db.get<string, Uint8Array>(key, { valueEncoding: 'view' })
    if (!columns) throw new Error(`${key} is missing`)
    batch.put(key, fromColumns(columns) as never, { valueEncoding: 'view' })
  }
  await batch.write()
}
