import { AnswerBlock, PAGE_ROWS, pageOf } from '../core/answers.ts'
import type { AnswerKinds } from '../core/draft.ts'
import { IdOrder } from '../core/id-order.ts'
import { RowTable } from '../core/rows.ts'
import type { Terms } from '../core/terms.ts'
import { uuidBytes } from '../core/uuid.ts'
import type { ExportRange } from '../messages.ts'
import { answersKey, rowsKey } from '../page-store.ts'
import { yieldTurn } from '../turn.ts'
import type { Generations, Meta } from './generations.ts'
import { toPrice } from './price-of-row.ts'

const PIECE = 262_144

/** What is exported: a catalog as it was at one moment. */
export interface FrozenCatalog {
  readonly meta: Meta
  /** They only grow. */
  readonly terms: Terms
  readonly kinds: AnswerKinds
  /** Reads as of that moment. */
  readonly generations: Generations
}

/** The prices of a catalog as NDJSON in the order of their ids, in pieces of 256 KiB. Others have their turns meanwhile. */
export async function* exportPrices(catalog: FrozenCatalog, { after, limit }: ExportRange): AsyncGenerator<Uint8Array> {
  const { meta, terms, kinds, generations } = catalog
  const order = await orderOf(catalog, after)
  const pages = createPages(generations, meta.generation)
  let text = ''
  for (const row of order.rows().take(limit ?? Infinity)) {
    const { table, block } = pages(pageOf(row))
    text += `${JSON.stringify(toPrice(row, table.get(row % PAGE_ROWS)!, block, terms, kinds))}\n`
    await yieldTurn()
    if (text.length < PIECE) continue
    yield Buffer.from(text)
    text = ''
  }
  if (text !== '') yield Buffer.from(text)
}

async function orderOf({ meta, generations }: FrozenCatalog, after: string | undefined): Promise<IdOrder> {
  const { generation, rows } = meta
  const order = new IdOrder(after === undefined ? undefined : uuidBytes(after))
  const isThere = new Uint8Array(rows)
  await generations.eachPage(generation, rowsKey, rows, (bytes, page) => {
    const table = tableOf(bytes)
    for (let slot = 0; slot < table.size; slot++) if (table.has(slot)) isThere[page * PAGE_ROWS + slot] = 1
  })
  await generations.eachPage(generation, answersKey, rows, (bytes, page) => {
    const block = new AnswerBlock(bytes)
    const first = page * PAGE_ROWS
    for (let row = first; row < Math.min(rows, first + PAGE_ROWS); row++)
      if (isThere[row] === 1) order.add(block.id(block.slotOf(row)), row)
  })
  return order
}

function tableOf(bytes: Uint8Array): RowTable {
  const table = new RowTable(PAGE_ROWS)
  table.decode(bytes)
  return table
}

/** Reads pages; the last one is kept, as ids often come in the order of rows. */
function createPages(generations: Generations, generation: number) {
  let last: { page: number; table: RowTable; block: AnswerBlock } | undefined
  return (page: number) => {
    if (last?.page !== page) {
      const block = new AnswerBlock(generations.answers(generation, page))
      last = { page, table: generations.rows(generation, page), block }
    }
    return last
  }
}
