import { AnswerBlock, PAGE_ROWS, toPageNumber } from '../core/answer-block.ts'
import type { AnswerWords } from '../core/answer-words.ts'
import { IdOrder } from './id-order.ts'
import { RowTable } from '../core/row-table.ts'
import type { Terms } from '../core/terms.ts'
import { stringifyPrice } from '../core/price-json.ts'
import type { ExportRange } from '../messages.ts'
import { toAnswersKey, toRowsKey } from '../storage/page-store.ts'
import { yieldTurn } from '@influencer-stats/runtime/async/yield'
import type { GenerationReader, CatalogMeta } from '../storage/generation-reader.ts'
import { toPrice } from './row-to-price.ts'

const PIECE_BYTES = 262_144

/** The state of a catalog at one moment, for an export. */
export interface FrozenCatalog {
  readonly meta: CatalogMeta
  /** Terms and words are only added, so a later dictionary contains all of this moment. */
  readonly terms: Terms
  readonly words: AnswerWords
  /** Reads the state of that moment. */
  readonly reader: GenerationReader
}

/**
 * Yields the prices of a catalog as NDJSON in the order of their ids, in pieces of about 256 KiB. Between two rows it
 * waits for the next turn of the event loop, if the current turn has used its time.
 */
export async function* exportPrices(catalog: FrozenCatalog, { after, limit }: ExportRange): AsyncGenerator<Uint8Array> {
  const { meta, terms, words, reader } = catalog
  const order = await readIdOrder(catalog, after)
  const readPage = createPageReader(reader, meta.generation)
  let text = ''
  for (const row of order.takeRows().take(limit ?? Infinity)) {
    const { table, block } = readPage(toPageNumber(row))
    text += `${stringifyPrice(toPrice(row, table.get(row % PAGE_ROWS)!, block, terms, words))}\n`
    await yieldTurn()
    if (text.length < PIECE_BYTES) continue
    yield Buffer.from(text)
    text = ''
  }
  if (text !== '') yield Buffer.from(text)
}

async function readIdOrder({ meta, reader, words }: FrozenCatalog, after: string | undefined): Promise<IdOrder> {
  const { generation, rows } = meta
  const order = new IdOrder(words, after)
  const isPresent = new Uint8Array(rows)
  await reader.forEachPage(generation, toRowsKey, rows, (bytes, page) => {
    const table = decodeTable(bytes)
    for (let slot = 0; slot < table.size; slot++) if (table.has(slot)) isPresent[page * PAGE_ROWS + slot] = 1
  })
  await reader.forEachPage(generation, toAnswersKey, rows, (bytes, page) => {
    const block = new AnswerBlock(bytes)
    const first = page * PAGE_ROWS
    for (let row = first; row < Math.min(rows, first + PAGE_ROWS); row++)
      if (isPresent[row] === 1) order.add(block.getId(block.toSlot(row)), row)
  })
  return order
}

function decodeTable(bytes: Uint8Array): RowTable {
  const table = new RowTable(PAGE_ROWS)
  table.decode(bytes)
  return table
}

/** Reads pages and caches the last one, because ids often come in the order of rows. */
function createPageReader(reader: GenerationReader, generation: number) {
  let last: { page: number; table: RowTable; block: AnswerBlock } | undefined
  return (page: number) => {
    if (last?.page !== page) {
      const block = new AnswerBlock(reader.readAnswers(generation, page))
      last = { page, table: reader.readRows(generation, page), block }
    }
    return last
  }
}
