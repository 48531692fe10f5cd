import type { ClassicLevel } from 'classic-level'
import { AnswerBlock, ID_BYTES, PAGE_BYTES, PAGE_ROWS, pageOf } from '../core/answers.ts'
import { RowTable } from '../core/rows.ts'
import { answersKey, generationPrefix, META, rowsKey } from '../page-store.ts'

// Until format 2 answers and rows lay in blocks of so many.
const OLD_ROWS = 512
const OLD_BYTES = (OLD_ROWS / PAGE_ROWS) * PAGE_BYTES
const OLD_ROWS_KEY = /^g(\d+)!r!(\d+)$/
const oldAnswersKey = (generation: number, block: number) =>
  `${generationPrefix(generation)}a!${String(block).padStart(9, '0')}`

// In format 1 a block had all values first, then all kinds, then all ids.
const KINDS = OLD_ROWS * 8
const IDS = KINDS + OLD_ROWS * 4

const asBytes = { valueEncoding: 'view' } as const

/** A block of format 1 as one of format 2. */
function fromColumns(bytes: Uint8Array): Uint8Array {
  const columns = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const block = new AnswerBlock(new Uint8Array(OLD_BYTES))
  for (let slot = 0; slot < OLD_ROWS; slot++) {
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
  for (let number = 0; number * OLD_ROWS < meta.rows; number++) {
    const key = oldAnswersKey(meta.generation, number)
    const columns = await db.get<string, Uint8Array>(key, asBytes)
    if (!columns) throw new Error(`${key} is missing`)
    batch.put(key, fromColumns(columns) as never, asBytes)
  }
  await batch.write()
}

/** Makes a catalog of format 2 one of format 3, block by block: a block that is still there is yet to be split into pages. */
export async function fromSecondFormat(db: ClassicLevel): Promise<void> {
  for await (const [key, bytes] of db.iterator<string, Uint8Array>({ gte: 'g', lt: 'h', ...asBytes })) {
    const [, generation, block] = (OLD_ROWS_KEY.exec(key) ?? []).map(Number)
    if (generation === undefined || block === undefined) continue
    const table = new RowTable(OLD_ROWS, 1)
    table.decode(bytes)
    const answers = await db.get<string, Uint8Array>(oldAnswersKey(generation, block), asBytes)
    const batch = db.batch().del(key).del(oldAnswersKey(generation, block))
    for (let start = 0; start < table.size; start += PAGE_ROWS) {
      const page = pageOf(block * OLD_ROWS + start)
      const end = Math.min(table.size, start + PAGE_ROWS)
      batch.put(rowsKey(generation, page), table.encode(start, end) as never, asBytes)
      if (answers) batch.put(answersKey(generation, page), new AnswerBlock(answers).page(page) as never, asBytes)
    }
    await batch.write()
  }
}
