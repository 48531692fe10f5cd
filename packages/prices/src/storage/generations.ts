import { statfs } from 'node:fs/promises'
import { StartError } from '@influencer-stats/runtime/errors'
import type { SharedLevel } from '@influencer-stats/runtime/shared-level'
import type { Level } from 'level'
import type { FastifyBaseLogger } from 'fastify'
import { toBlockNumber, PAGE_ROWS, toPageNumber } from '../core/answer-block.ts'
import type { AnswerWord } from '../core/answer-words.ts'
import type { CatalogDraft } from '../core/catalog-draft.ts'
import type { RowTable } from '../core/row-table.ts'
import type { Term } from '../core/terms.ts'
import { FORMAT } from './database.ts'
import { GenerationReader, NO_META, type CatalogMeta, type LoadedCatalog } from './generation-reader.ts'
import {
  toAnswersKey,
  toGenerationPrefix,
  toWordKey,
  META_KEY,
  toRowsKey,
  STAGED_RANGE,
  toStagedKey,
  toTermKey,
} from './page-store.ts'
import type { OpenImport } from './log-checkpoint.ts'

/** The data that a change of single prices writes. */
export interface CatalogWrite {
  readonly meta: CatalogMeta
  /** The new terms, and how many there were before. */
  readonly terms: readonly Term[]
  readonly firstTerm: number
  readonly words: readonly AnswerWord[]
  readonly firstWord: number
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

/** Options of the catalogs in a database. */
export interface GenerationsOptions {
  readonly level: SharedLevel
  readonly log: ErrorLog
  /**
   * True for a node of a cluster. It stores its position in the log, which has all data: so it neither syncs changes to
   * the disk nor stores the previous catalog.
   */
  readonly isReplica: boolean
}

const MAX_BATCH_PUTS = 2_048
/** Free space that a voluntary write of a whole catalog leaves on the disk (bytes). */
const SPARE_BYTES = 67_108_864
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

/** Returns the value of the key `meta`. */
export const formatMeta = (meta: CatalogMeta): string => JSON.stringify({ ...meta, format: FORMAT })

/** The catalogs in LevelDB. Each catalog is a generation, and the value of the key `meta` names the current one. */
export class Generations {
  readonly reader: GenerationReader
  readonly #level: SharedLevel
  readonly #db: Level
  readonly #log: ErrorLog
  readonly #isReplica: boolean

  constructor({ level, log, isReplica }: GenerationsOptions) {
    this.reader = new GenerationReader(level.db)
    this.#level = level
    this.#db = level.db
    this.#log = log
    this.#isReplica = isReplica
  }

  /** Returns a reader of the current state. Data that is deleted later stays on the disk until `close`. */
  freeze(): { readonly reader: GenerationReader; close(): Promise<void> } {
    const snapshot = this.#db.snapshot()
    return { reader: new GenerationReader(this.#db, snapshot), close: () => snapshot.close() }
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
      return await this.reader.load(meta)
    } catch (error) {
      const { generation, previous } = meta
      if (!previous) throw createDamagedError(error)
      this.#log.error(
        { err: error },
        `prices: catalog ${generation} cannot be read; catalog ${previous.generation} is in use again`,
      )
      return await this.reader.load(previous).catch((worse: unknown) => {
        throw createDamagedError(worse)
      })
    }
  }

  /** Writes a change: all of it or nothing. */
  async write({ meta, terms, firstTerm, words, firstWord, answers, rows }: CatalogWrite): Promise<void> {
    const { generation } = meta
    const batch = [this.#putMeta(meta)]
    terms.forEach((term, i) => batch.push(putText(toTermKey(generation, firstTerm + i), term)))
    words.forEach((word, i) => batch.push(putText(toWordKey(generation, firstWord + i), word)))
    for (const [page, bytes] of answers) batch.push(put(toAnswersKey(generation, page), bytes))
    for (const [page, bytes] of rows) batch.push(put(toRowsKey(generation, page), bytes))
    await this.#write(batch, !this.#isReplica)
  }

  /** Writes the position in the log of a node and, if given, the newest piece of the open import. */
  async setCheckpoint(meta: CatalogMeta, piece?: Uint8Array): Promise<void> {
    if (!this.#isReplica) return
    const { open } = meta.log!
    const staged = piece ? [put(toStagedKey(open!.id, open!.pieces - 1), piece)] : []
    await this.#write([this.#putMeta(meta), ...staged], false)
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
      kinds: draft.words.list.length,
      log,
      // An empty catalog is no fallback.
      ...(!this.#isReplica && previous.rows > 0 && { previous }),
    }
    await this.#write([this.#putMeta(meta)])
    return meta
  }

  /**
   * Checks that the disk has space for another generation of this size.
   * @throws Error if it has not
   */
  async checkSpace({ generation }: CatalogMeta): Promise<void> {
    const prefix = toGenerationPrefix(generation)
    const size = await this.#db.approximateSize(prefix, `${prefix}~`)
    const { bavail, bsize } = await statfs(this.#db.location)
    if (bavail * bsize < 2 * size + SPARE_BYTES)
      throw new Error(`the disk has too little space for another catalog of ${size} bytes`)
  }

  /** Deletes all generations older than the current one and its `previous` one, and frees their disk space. */
  async clearOlder({ generation, previous }: CatalogMeta): Promise<void> {
    const end = toGenerationPrefix(previous?.generation ?? generation)
    await this.#clear(FIRST_GENERATION_KEY, end)
    // LevelDB would not compact this range itself, because these keys are never read or written again.
    await this.#db.compactRange(FIRST_GENERATION_KEY, end)
  }

  #putMeta({ log, ...meta }: CatalogMeta): BatchPut {
    return put(META_KEY, formatMeta({ ...meta, ...(this.#isReplica && { log }) }))
  }

  #clear(from: string, end: string): Promise<void> {
    return this.#level.write((db) => db.clear({ gte: from, lt: end }))
  }

  /** Writes a batch: all of it or nothing. */
  #write(batch: readonly BatchPut[], sync = true): Promise<void> {
    return this.#level.write((db) => db.batch(batch as never, { sync }))
  }
}

/** Yields all writes of a catalog except `meta`. */
function* listPuts(generation: number, { terms, words, blocks }: CatalogDraft, table: RowTable): Generator<BatchPut> {
  for (const [i, term] of terms.list.entries()) yield putText(toTermKey(generation, i), term)
  for (const [i, word] of words.list.entries()) yield putText(toWordKey(generation, i), word)
  for (let row = 0; row < table.size; row += PAGE_ROWS) {
    const page = toPageNumber(row)
    yield put(toAnswersKey(generation, page), blocks[toBlockNumber(row)]!.getPage(page))
    yield put(toRowsKey(generation, page), table.encode(row, Math.min(table.size, row + PAGE_ROWS)))
  }
}
