import type { Level } from 'level'
import {
  AnswerBlock,
  toBlockNumber,
  PAGE_BYTES,
  PAGE_ROWS,
  toPageNumber,
  createSharedBlock,
} from '../core/answer-block.ts'
import { AnswerWords } from '../core/answer-words.ts'
import { decodeRow, RowTable, type PriceRow } from '../core/row-table.ts'
import { Terms } from '../core/terms.ts'
import { yieldTurn } from '@influencer-stats/runtime/async/yield'
import type { LogCheckpoint } from './log-checkpoint.ts'
import { toAnswersKey, toGenerationPrefix, toRowsKey } from './page-store.ts'

/** The current generation and its size. */
export interface CatalogMeta {
  readonly generation: number
  readonly rows: number
  readonly terms: number
  /** Number of answer words. */
  readonly kinds: number
  /** The position in the log. A standalone service does not store it. */
  readonly log?: LogCheckpoint | undefined
  /** The previous generation, as it was when this one replaced it. It is stored until the next replacement. */
  readonly previous?: Omit<CatalogMeta, 'previous'> | undefined
}

/** Meta data of a database without a catalog. */
export const NO_META: CatalogMeta = { generation: 0, rows: 0, terms: 0, kinds: 0 }

/** A whole catalog, read from the database. */
export interface LoadedCatalog {
  readonly meta: CatalogMeta
  readonly terms: Terms
  readonly words: AnswerWords
  readonly table: RowTable
  readonly blocks: AnswerBlock[]
}

/** Maximum pages and bytes of one read. */
const MAX_READ_PAGES = 256
const MAX_READ_BYTES = 262_144

/** Reads catalogs from the database, or from a snapshot of it. */
export class GenerationReader {
  readonly #db: Level
  readonly #snapshot: ReturnType<Level['snapshot']> | undefined

  constructor(db: Level, snapshot?: ReturnType<Level['snapshot']>) {
    this.#db = db
    this.#snapshot = snapshot
  }

  /** Reads a whole catalog. */
  async load(meta: CatalogMeta): Promise<LoadedCatalog> {
    const { generation, rows } = meta
    const terms = new Terms(await this.#readTexts(generation, 't', meta.terms))
    const words = new AnswerWords(await this.#readTexts(generation, 'k', meta.kinds))
    const table = new RowTable(rows + 1)
    const blocks: AnswerBlock[] = []
    await this.forEachPage(generation, toRowsKey, rows, (bytes) => table.decode(bytes))
    await this.forEachPage(generation, toAnswersKey, rows, (bytes, page) => {
      const first = page * PAGE_ROWS
      const block = (blocks[toBlockNumber(first)] ??= new AnswerBlock(createSharedBlock()))
      block.getPage(page).set(bytes)
    })
    if (table.size !== rows) throw new Error(`generation ${generation} has ${table.size} rows of ${rows}`)
    return { meta: { ...meta, terms: terms.list.length, kinds: words.list.length }, terms, words, table, blocks }
  }

  /** Returns a page of answers. */
  readAnswers(generation: number, page: number): Uint8Array {
    return this.#read(toAnswersKey(generation, page))
  }

  /** Returns a page of rows. */
  readRows(generation: number, page: number): RowTable {
    const table = new RowTable(PAGE_ROWS, PAGE_BYTES)
    table.decode(this.#read(toRowsKey(generation, page)))
    return table
  }

  /** Returns a row, which must exist. */
  readRow(generation: number, row: number): PriceRow {
    return decodeRow(this.#read(toRowsKey(generation, toPageNumber(row))), row % PAGE_ROWS)
  }

  /**
   * Reads the terms (`t`) or the answer words (`k`) of a generation.
   * @param count the expected number; undefined if an older version did not store it
   */
  async #readTexts(generation: number, what: string, count: number | undefined): Promise<any[]> {
    const prefix = toGenerationPrefix(generation) + what
    const texts = await this.#db.values({ gte: `${prefix}!`, lt: `${prefix}~`, limit: count ?? -1 }).all()
    if (count !== undefined && texts.length !== count)
      throw new Error(`${prefix} has ${texts.length} texts of ${count}`)
    return texts.map((text) => JSON.parse(text))
  }

  /** Reads the pages of `rows` rows in order. It yields to the event loop between pages. */
  async forEachPage(
    generation: number,
    toKey: typeof toRowsKey,
    rows: number,
    visit: (bytes: Uint8Array, page: number) => void,
  ): Promise<void> {
    const pages = toPageNumber(rows + PAGE_ROWS - 1)
    const range = { gte: toKey(generation, 0), lt: toKey(generation, pages) }
    const options = { valueEncoding: 'view', fillCache: false, highWaterMarkBytes: MAX_READ_BYTES } as const
    const snapshot = this.#snapshot
    const iterator = this.#db.iterator<string, Uint8Array>({ ...range, ...options, snapshot })
    try {
      let page = 0
      for (let some; (some = await iterator.nextv(MAX_READ_PAGES)).length > 0;)
        for (const [key, bytes] of some) {
          if (key !== toKey(generation, page)) throw new Error(`${toKey(generation, page)} is missing`)
          visit(bytes, page++)
          await yieldTurn()
        }
      if (page < pages) throw new Error(`${toKey(generation, page)} is missing`)
    } finally {
      await iterator.close()
    }
  }

  #read(key: string): Uint8Array {
    const found = this.#db.getSync<string, Uint8Array>(key, {
      valueEncoding: 'view',
      snapshot: this.#snapshot,
    })
    if (!found) throw new Error(`${key} is missing`)
    return found
  }
}
