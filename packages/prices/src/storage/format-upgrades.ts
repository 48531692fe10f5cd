import type { Level } from 'level'
import { AnswerBlock, ID_BYTES, PAGE_BYTES, PAGE_ROWS, toPageNumber } from '../core/answer-block.ts'
import { AnswerWords } from '../core/answer-words.ts'
import { RowTable } from '../core/row-table.ts'
import { toAnswersKey, toGenerationPrefix, META_KEY, toRowsKey } from './page-store.ts'

// Before format 3, answers and rows lay in blocks of 512.
const OLD_BLOCK_ROWS = 512
const OLD_BLOCK_BYTES = (OLD_BLOCK_ROWS / PAGE_ROWS) * PAGE_BYTES
const OLD_ROWS_KEY_PATTERN = /^g(\d+)!r!(\d+)$/
const toOldAnswersKey = (generation: number, block: number) =>
  `${toGenerationPrefix(generation)}a!${String(block).padStart(9, '0')}`

// In format 1 a block had all values first, then all kinds, then all ids.
const KINDS_OFFSET = OLD_BLOCK_ROWS * 8
const IDS_OFFSET = KINDS_OFFSET + OLD_BLOCK_ROWS * 4

const bytesEncoding = { valueEncoding: 'view' } as const

/** Converts a block of format 1 to format 2. */
function convertBlock(bytes: Uint8Array): Uint8Array {
  const words = new AnswerWords()
  const columns = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const block = new AnswerBlock(new Uint8Array(OLD_BLOCK_BYTES))
  for (let slot = 0; slot < OLD_BLOCK_ROWS; slot++) {
    const id = bytes.subarray(IDS_OFFSET + ID_BYTES * slot, IDS_OFFSET + ID_BYTES * (slot + 1))
    block.set(slot, id, columns.getFloat64(8 * slot, true), columns.getUint32(KINDS_OFFSET + 4 * slot, true), words)
  }
  return block.bytes
}

/** Converts a catalog of format 1 to format 2: all of it, or nothing. */
export async function upgradeFromFormat1(db: Level): Promise<void> {
  const text = await db.get(META_KEY)
  if (text === undefined) return
  const meta: { generation: number; rows: number; format?: number } = JSON.parse(text)
  if (meta.format === 2) return
  const batch = db.batch().put(META_KEY, JSON.stringify({ ...meta, format: 2 }))
  for (let number = 0; number * OLD_BLOCK_ROWS < meta.rows; number++) {
    const key = toOldAnswersKey(meta.generation, number)
    const columns = await db.get<string, Uint8Array>(key, bytesEncoding)
    if (!columns) throw new Error(`${key} is missing`)
    batch.put(key, convertBlock(columns) as never, bytesEncoding)
  }
  await batch.write()
}

/**
 * Converts a catalog of format 2 to format 3, block by block. A block that still exists is not split into pages yet, so an
 * interrupted upgrade continues with it.
 */
export async function upgradeFromFormat2(db: Level): Promise<void> {
  for await (const [key, bytes] of db.iterator<string, Uint8Array>({ gte: 'g', lt: 'h', ...bytesEncoding })) {
    const [, generation, block] = (OLD_ROWS_KEY_PATTERN.exec(key) ?? []).map(Number)
    if (generation === undefined || block === undefined) continue
    const table = new RowTable(OLD_BLOCK_ROWS, 1)
    table.decode(bytes)
    const answers = await db.get<string, Uint8Array>(toOldAnswersKey(generation, block), bytesEncoding)
    const batch = db.batch().del(key).del(toOldAnswersKey(generation, block))
    for (let start = 0; start < table.size; start += PAGE_ROWS) {
      const page = toPageNumber(block * OLD_BLOCK_ROWS + start)
      const end = Math.min(table.size, start + PAGE_ROWS)
      batch.put(toRowsKey(generation, page), table.encode(start, end) as never, bytesEncoding)
      if (answers)
        batch.put(toAnswersKey(generation, page), new AnswerBlock(answers).getPage(page) as never, bytesEncoding)
    }
    await batch.write()
  }
}
