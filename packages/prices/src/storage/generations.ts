import { StartError } from '@influencer-stats/runtime/errors'
import type { SharedLevel } from '@influencer-stats/runtime/shared-level'
import type { Level } from 'level'
import type { FastifyBaseLogger } from 'fastify'
import {
  AnswerBlock,
  toBlockNumber,
  PAGE_BYTES,
  PAGE_ROWS,
  toPageNumber,
  createSharedBlock,
  type AnswerKind,
} from '../core/answer-block.ts'
import { AnswerKinds, type CatalogDraft } from '../core/catalog-draft.ts'
import { decodeRow, RowTable, type PriceRow } from '../core/row-table.ts'
import { Terms, type Term } from '../core/terms.ts'
import { FORMAT } from './database.ts'
import { yieldTurn } from '../event-loop-turns.ts'
import {
  toAnswersKey,
  toGenerationPrefix,
  toKindKey,
  META_KEY,
  toRowsKey,
  STAGED_RANGE,
  toStagedKey,
  toTermKey,
} from './page-store.ts'
import type { LogCheckpoint, OpenImport } from './log-checkpoint.ts'

/** The current generation and its size. */
export interface CatalogMeta {
  readonly generation: number
  readonly rows: number
  readonly terms: number
  readonly kinds: number
  /** The position in the log, on a node of a cluster. */
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
  readonly kinds: AnswerKinds
  readonly table: RowTable
  readonly blocks: AnswerBlock[]
}

/** The data that a change of single prices writes. */
export interface CatalogWrite {
  readonly meta: CatalogMeta
  /** The new terms, and how many there were before. */
  readonly terms: readonly Term[]
  readonly firstTerm: number
  readonly kinds: readonly AnswerKind[]
  readonly firstKind: number
  /** Pages by their number. */
  readonly answers: ReadonlyMap<number, Uint8Array>
  readonly rows: ReadonlyMap<number, Uint8Array>
}

interface BatchPut {
  readonly type: 'put'
  readonly key: string
  readonly value: string | Uint8Array
  readonly valueEncoding: 'utf8' | 'view'
}

export type ErrorLog = Pick<FastifyBaseLogger, 'error'>

const MAX_BATCH_PUTS = 2_048
/** Maximum pages and bytes of one read. */
const MAX_READ_PAGES = 256
const MAX_READ_BYTES = 262_144
const FIRST_GENERATION_KEY = toGenerationPrefix(0)

const put = (key: string, value: string | Uint8Array): BatchPut => ({
  type: 'put',
  key,
  value,
  valueEncoding: typeof value === 'string' ? 'utf8' : 'view',
})
const putText = (key: string, value: unknown) => put(key, JSON.stringify(value))
const createDamagedError = (cause: unknown) =>
  new StartError('DATA_DAMAGED', `prices: the catalog cannot be read (${(cause as Error).message})`)
const encodeMeta = (meta: CatalogMeta) => JSON.stringify({ ...meta, format: FORMAT })

type LevelSnapshot = ReturnType<Level['snapshot']>

/** The catalogs in LevelDB. Each catalog is a generation, and the value of the key `meta` names the current one. */
export class Generations {
  readonly #level: SharedLevel
  readonly #db: Level
  readonly #log: ErrorLog
  readonly #snapshot: LevelSnapshot | undefined

  constructor(level: SharedLevel, log: ErrorLog, snapshot?: LevelSnapshot) {
    this.#level = level
    this.#db = level.db
    this.#log = log
    this.#snapshot = snapshot
  }

  /** Returns a read-only view of the current state. Data that is deleted later stays on the disk until `close`. */
  freeze(): { readonly generations: Generations; close(): Promise<void> } {
    const snapshot = this.#db.snapshot()
    return { generations: new Generations(this.#level, this.#log, snapshot), close: () => snapshot.close() }
  }

  /**
   * Reads the current catalog or, if that cannot be read, the previous one. Returns undefined if no catalog was ever
   * complete.
   * @throws StartError `DATA_DAMAGED`
   */
  async load(): Promise<LoadedCatalog | undefined> {
    const text = await this.#db.get(META_KEY)
    if (text === undefined) return undefined
    const meta: CatalogMeta = JSON.parse(text)
    // A new database, or one whose first catalog is incomplete.
    if (meta.generation === NO_META.generation) return undefined
    try {
      return await this.#load(meta)
    } catch (error) {
      const { generation, previous } = meta
      if (!previous) throw createDamagedError(error)
      this.#log.error(
        { err: error },
        `prices: catalog ${generation} cannot be read; catalog ${previous.generation} is in use again`,
      )
      return await this.#load(previous).catch((worse: unknown) => {
        throw createDamagedError(worse)
      })
    }
  }

  async #load(meta: CatalogMeta): Promise<LoadedCatalog> {
    const { generation, rows } = meta
    const terms = new Terms(await this.#readTexts(generation, 't', meta.terms))
    const kinds = new AnswerKinds(await this.#readTexts(generation, 'k', meta.kinds))
    const table = new RowTable(rows + 1)
    const blocks: AnswerBlock[] = []
    await this.forEachPage(generation, toRowsKey, rows, (bytes) => table.decode(bytes))
    await this.forEachPage(generation, toAnswersKey, rows, (bytes, page) => {
      const first = page * PAGE_ROWS
      const block = (blocks[toBlockNumber(first)] ??= new AnswerBlock(createSharedBlock()))
      block.getPage(page).set(bytes)
    })
    if (table.size !== rows) throw new Error(`generation ${generation} has ${table.size} rows of ${rows}`)
    return { meta: { ...meta, terms: terms.list.length, kinds: kinds.list.length }, terms, kinds, table, blocks }
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

  /** Writes a change: all of it or nothing. */
  async write({ meta, terms, firstTerm, kinds, firstKind, answers, rows }: CatalogWrite): Promise<void> {
    const { generation } = meta
    const batch = [put(META_KEY, encodeMeta(meta))]
    terms.forEach((term, i) => batch.push(putText(toTermKey(generation, firstTerm + i), term)))
    kinds.forEach((kind, i) => batch.push(putText(toKindKey(generation, firstKind + i), kind)))
    for (const [page, bytes] of answers) batch.push(put(toAnswersKey(generation, page), bytes))
    for (const [page, bytes] of rows) batch.push(put(toRowsKey(generation, page), bytes))
    await this.#write(batch, !meta.log)
  }

  /**
   * Writes the position in the log and, if given, the newest piece of the open import.
   * @param sync true to sync to disk, with all earlier writes
   */
  async setCheckpoint(
    meta: CatalogMeta,
    { piece, sync = false }: { piece?: Uint8Array | undefined; sync?: boolean },
  ): Promise<void> {
    if (sync) await this.#level.flush()
    const { open } = meta.log!
    const staged = piece ? [put(toStagedKey(open!.id, open!.pieces - 1), piece)] : []
    await this.#write([put(META_KEY, encodeMeta(meta)), ...staged], sync)
  }

  /**
   * Yields the pieces of an import, in their order.
   * @throws StartError `DATA_DAMAGED`
   */
  async *readStaged({ id, pieces }: OpenImport): AsyncGenerator<Uint8Array> {
    for (let piece = 0; piece < pieces; piece++) {
      const found = await this.#db.get<string, Uint8Array>(toStagedKey(id, piece), { valueEncoding: 'view' })
      if (!found) throw createDamagedError(new Error(`${toStagedKey(id, piece)} is missing`))
      yield found
    }
  }

  /** Deletes all pieces of imports and frees their disk space. */
  async clearStaged(): Promise<void> {
    const [any] = await this.#db.keys({ ...STAGED_RANGE, limit: 1 }).all()
    if (any === undefined) return
    await this.#level.write((db) => db.clear(STAGED_RANGE))
    await this.#db.compactRange(STAGED_RANGE.gte, STAGED_RANGE.lt)
  }

  /**
   * Writes a whole catalog as the next generation. It becomes current when `meta` names it; `meta` is the last write.
   * Each write before `meta` is synced: one sync at the end does not cover LevelDB log files that were already full.
   */
  async writeAll(
    draft: CatalogDraft,
    table: RowTable,
    { previous: _older, log, ...previous }: CatalogMeta,
  ): Promise<CatalogMeta> {
    const generation = previous.generation + 1
    // A process that ended during this function may have left data of this generation.
    await this.#clear(toGenerationPrefix(generation), `${toGenerationPrefix(generation)}~`)
    let batch: BatchPut[] = []
    for (const one of listPuts(generation, draft, table)) {
      if (batch.push(one) < MAX_BATCH_PUTS) continue
      await this.#write(batch)
      batch = []
    }
    await this.#write(batch)
    const meta: CatalogMeta = {
      generation,
      rows: table.size,
      terms: draft.terms.list.length,
      kinds: draft.kinds.list.length,
      // A node of a cluster needs no fallback, because the log has all data. An empty catalog is no fallback.
      ...(log ? { log } : previous.rows > 0 && { previous }),
    }
    await this.#write([put(META_KEY, encodeMeta(meta))])
    return meta
  }

  /** Deletes all generations older than the current one and its `previous` one, and frees their disk space. */
  async clearOlder({ generation, previous }: CatalogMeta): Promise<void> {
    const end = toGenerationPrefix(previous?.generation ?? generation)
    await this.#clear(FIRST_GENERATION_KEY, end)
    // LevelDB would not compact this range itself, because these keys are never read or written again.
    await this.#db.compactRange(FIRST_GENERATION_KEY, end)
  }

  #clear(from: string, end: string): Promise<void> {
    return this.#level.write((db) => db.clear({ gte: from, lt: end }))
  }

  /** Writes a batch: all of it or nothing. Data that is also in the log needs no sync to disk. */
  #write(batch: readonly BatchPut[], sync = true): Promise<void> {
    return this.#level.write((db) => db.batch(batch as never, { sync }))
  }

  /**
   * Reads the terms (`t`) or the answer kinds (`k`) of a generation.
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

/** Yields all writes of a catalog except `meta`. */
function* listPuts(generation: number, { terms, kinds, blocks }: CatalogDraft, table: RowTable): Generator<BatchPut> {
  for (const [i, term] of terms.list.entries()) yield putText(toTermKey(generation, i), term)
  for (const [i, kind] of kinds.list.entries()) yield putText(toKindKey(generation, i), kind)
  for (let row = 0; row < table.size; row += PAGE_ROWS) {
    const page = toPageNumber(row)
    yield put(toAnswersKey(generation, page), blocks[toBlockNumber(row)]!.getPage(page))
    yield put(toRowsKey(generation, page), table.encode(row, Math.min(table.size, row + PAGE_ROWS)))
  }
}
