import { AnswerBlock, PAGE_ROWS, toPageNumber } from '../core/answer-block.ts'
import type { AnswerWords } from '../core/answer-words.ts'
import { RowOrder } from '../core/row-order.ts'
import { RowTable, type PriceRow } from '../core/row-table.ts'
import { CsvPriceWriter } from '../csv/write-csv.ts'
import type { CharValue, Price } from '../core/price.ts'
import type { Terms } from '../core/terms.ts'
import { stringifyPrice } from '../core/price-json.ts'
import type { ExportRange } from '../messages.ts'
import { toAnswersKey, toRowsKey } from '../storage/page-store.ts'
import { forEachInTurns, yieldTurn } from '@influencer-stats/runtime/async/yield'
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
 * Yields the prices of a catalog as NDJSON or CSV in the order of their ids, in pieces of about 256 KiB. Between two
 * rows it waits for the next turn of the event loop, if the current turn has used its time.
 * @param onSorted called with the number of prices when they are in order
 * @throws Problem `TOO_MANY_COLUMNS` before the first piece
 */
export async function* exportPrices(
  catalog: FrozenCatalog,
  { after, limit = Infinity, format: formatName }: ExportRange,
  onSorted?: (rows: number) => void,
): AsyncGenerator<Uint8Array> {
  const { meta, terms, words, reader } = catalog
  const usedValues = formatName === 'csv' ? new UsedValues(terms) : undefined
  const rows = await takeFirst(await readIdOrder(catalog, after, usedValues), limit)
  onSorted?.(rows.length)
  const writer = usedValues && new CsvPriceWriter(usedValues.list())
  const format = (price: Price) => writer?.format(price) ?? `${stringifyPrice(price)}\n`
  const readPage = createPageReader(reader, meta.generation)
  let text = writer?.head ?? ''
  for (const row of rows) {
    const { table, block } = readPage(toPageNumber(row))
    text += format(toPrice(row, table.get(row % PAGE_ROWS)!, block, terms, words))
    await yieldTurn()
    if (text.length < PIECE_BYTES) continue
    yield Buffer.from(text)
    text = ''
  }
  if (text !== '') yield Buffer.from(text)
}

/** Returns the first rows of an order. A list of rows takes a fifth of the memory of the order. */
async function takeFirst(order: RowOrder, limit: number): Promise<Uint32Array> {
  const rows = order.takeRows()
  const first = new Uint32Array(Math.min(order.size, limit))
  await forEachInTurns(first.length, (i) => (first[i] = rows.next().value!))
  return first
}

/** Reads the rows in the order of their ids. @param usedValues gets the values of all rows */
async function readIdOrder(
  { meta, reader, words }: FrozenCatalog,
  after: string | undefined,
  usedValues: UsedValues | undefined,
): Promise<RowOrder> {
  const { generation, rows } = meta
  const order = new RowOrder(words, after)
  const isPresent = new Uint8Array(rows)
  await reader.forEachPage(generation, toRowsKey, rows, (bytes, page) => {
    const table = decodeTable(bytes)
    for (let slot = 0; slot < table.size; slot++) {
      if (!table.has(slot)) continue
      isPresent[page * PAGE_ROWS + slot] = 1
      usedValues?.add(table.get(slot)!.values)
    }
  })
  await reader.forEachPage(generation, toAnswersKey, rows, (bytes, page) => {
    const block = new AnswerBlock(bytes)
    const first = page * PAGE_ROWS
    for (let row = first; row < Math.min(rows, first + PAGE_ROWS); row++)
      if (isPresent[row] === 1) order.add(block.getId(block.toSlot(row)), row)
  })
  return order
}

/** The values that rows have: those of a list apart from those that a characteristic has alone. */
class UsedValues {
  readonly #terms: Terms
  /** By term: 1 if a row has the value alone. */
  readonly #single: Uint8Array
  /** The characteristics of which a row has a list. */
  readonly #lists = new Set<number>()

  constructor(terms: Terms) {
    this.#terms = terms
    this.#single = new Uint8Array(terms.list.length)
  }

  /** Adds the values of a row. Those of a list are adjacent. */
  add(values: PriceRow['values']): void {
    let previous = -1
    for (let i = 0; i < values.length; i++) {
      const char = this.#terms.getChar(values[i]!)
      const isList = char === previous || (i + 1 < values.length && this.#terms.getChar(values[i + 1]!) === char)
      if (isList) this.#lists.add(char)
      else this.#single[values[i]!] = 1
      previous = char
    }
  }

  /** Yields each characteristic with its values. A list without values stands for its lists. */
  *list(): Generator<CharValue> {
    const getName = (char: number) => (this.#terms.list[char] as { text: string }).text
    for (let term = this.#single.indexOf(1); term >= 0; term = this.#single.indexOf(1, term + 1))
      yield { char: getName(this.#terms.getChar(term)), value: this.#terms.getValue(term) }
    for (const char of this.#lists) yield { char: getName(char), value: [] }
  }
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
