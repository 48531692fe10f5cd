import { Serial } from '@influencer-stats/runtime/async/serial'
import type { SharedLevel } from '@influencer-stats/runtime/shared-level'
import { AnswerBlock, PAGE_ROWS, toPageNumber } from '../core/answer-block.ts'
import { AnswerKinds, CatalogDraft } from '../core/catalog-draft.ts'
import { IdTable } from '../core/id-table.ts'
import type { Price } from '../core/price.ts'
import type { PriceRow } from '../core/row-table.ts'
import { Terms } from '../core/terms.ts'
import { parseUuid } from '../core/uuid.ts'
import { errors } from '../errors.ts'
import type { PriceLineReader } from './price-line-reader.ts'
import type { IndexKind, RowChange } from '../index/price-index.ts'
import type { CatalogChange, CatalogState } from '../messages.ts'
import { forEachInTurns, yieldTurn } from '../event-loop-turns.ts'
import { SharedAnswers, StoredAnswers, type CatalogAnswers } from './catalog-answers.ts'
import type { FrozenCatalog } from './catalog-export.ts'
import { isRowChanged, applyRowEdits, toEdits, findExisting, type RowEdit, type RowLookup } from './row-edits.ts'
import { ChangeBatcher, type PendingChange } from './change-batcher.ts'
import { checkTypes, countNewPrices, translatePrices } from './merge-import.ts'
import { Generations, NO_META, type LoadedCatalog, type ErrorLog, type CatalogMeta } from '../storage/generations.ts'
import { CatalogIndexes } from './catalog-indexes.ts'
import { evaluateChanges, type PriceChange } from './evaluate-changes.ts'
import type { LogCheckpoint, OpenImport } from '../storage/log-checkpoint.ts'
import { toPrice } from './row-to-price.ts'
import { TermCounts, PendingTypes } from './term-counts.ts'

/** Options of a catalog. */
export interface PriceCatalogOptions {
  readonly level: SharedLevel
  readonly indexes: ReadonlyMap<string, IndexKind>
  /** True if the answers are in memory that threads share. */
  readonly hasSharedBlocks: boolean
  readonly log: ErrorLog
  /** Maximum number of prices. */
  readonly maxPrices: number
  readonly onChange: (change: CatalogChange) => Promise<unknown>
  readonly onReplace: (state: CatalogState) => Promise<unknown>
}

/**
 * Maximum number of imported prices that are applied as edits of the current generation. A larger import, or one with
 * `replace`, creates a new generation of the catalog.
 */
const MAX_SINGLE_PUTS = 2_000
/**
 * A start rewrites the catalog without the rows of deleted prices, if these rows outnumber both this limit and the
 * existing prices.
 */
const MAX_DELETED_ROWS = 65_536

const toRowChange = ({ row, before, after }: RowChange): RowChange => ({ row, before, after })

function readId(answers: CatalogAnswers, row: number): Uint8Array {
  const block = answers.getBlock(row)
  return block.getId(block.toSlot(row))
}

/**
 * The catalog on the main thread, its only writer. A change is first stored (standalone: synced to disk; cluster:
 * already in the log), then visible to every thread, then acknowledged.
 */
export class PriceCatalog {
  readonly #options: PriceCatalogOptions
  readonly #generations: Generations
  /** The state that is stored in the database. */
  #meta = NO_META
  #terms = new Terms()
  #kinds = new AnswerKinds()
  #counts = new TermCounts(this.#terms)
  #answers: CatalogAnswers = new SharedAnswers([])
  #indexes: CatalogIndexes
  // Created here: a closure created where a catalog is loaded would retain all loaded data, 40 MB.
  readonly #readId = (row: number): Uint8Array => readId(this.#answers, row)
  readonly #readPage = (page: number): Uint8Array => this.#generations.readAnswers(this.#meta.generation, page)
  #ids = new IdTable(this.#readId)
  /** Runs one change at a time. */
  readonly #serial = new Serial()
  readonly #batcher = new ChangeBatcher<PriceChange, boolean>(
    (run) => this.#serial.run(run),
    (group) => this.#commit(group),
  )

  private constructor(options: PriceCatalogOptions) {
    this.#options = options
    this.#generations = new Generations(options.level, options.log)
    this.#indexes = CatalogIndexes.createEmpty(options.indexes)
  }

  /**
   * Opens the catalog in the database.
   * @param first creates the first catalog of a database that never had prices
   * @throws StartError `DATA_DAMAGED`
   */
  static async open(options: PriceCatalogOptions, first = () => new CatalogDraft(new Terms())): Promise<PriceCatalog> {
    const catalog = new PriceCatalog(options)
    const loaded = await catalog.#generations.load()
    if (loaded) await catalog.#loadCompact(loaded)
    else await catalog.#adopt(first())
    return catalog
  }

  get size(): number {
    return this.#ids.size
  }

  /** The position in the log, on a node of a cluster. */
  get checkpoint(): LogCheckpoint | undefined {
    return this.#meta.log
  }

  getState(): CatalogState {
    return {
      generation: this.#meta.generation,
      // Terms of changes that are still being written are sent with those changes.
      terms: this.#terms.list.slice(0, this.#meta.terms),
      kinds: this.#kinds.list.slice(0, this.#meta.kinds),
      usedTerms: this.#counts.getUsedTerms(),
      answers: this.#answers.shared,
      segments: this.#indexes.segments,
      rows: this.#indexes.pending,
    }
  }

  async get(id: string): Promise<Price | undefined> {
    const row = this.#ids.find(parseUuid(id))
    if (row < 0) return undefined
    return toPrice(row, this.#readRow(row), this.#answers.getBlock(row), this.#terms, this.#kinds)
  }

  /**
   * Adds or replaces a price.
   * @returns true if the price is new
   * @throws Problem `CATALOG_FULL`, `TYPE_CONFLICT`, `DUPLICATE_CHARACTERISTIC`, `INVALID_DATE_RANGE`, `DISK_FULL`,
   * `STORE_FAILED`
   */
  put(price: Price): Promise<boolean> {
    return this.#batcher.submit({ key: price.id.toLowerCase(), price })
  }

  /**
   * Removes a price.
   * @returns true if the price existed
   * @throws Problem `DISK_FULL`, `STORE_FAILED`
   */
  remove(id: string): Promise<boolean> {
    return this.#batcher.submit({ key: id.toLowerCase() })
  }

  /** Returns the catalog at a moment without a running change. It is readable until `close`. */
  freeze(): Promise<FrozenCatalog & { close(): Promise<void> }> {
    return this.#serial.run(async () => {
      const { generations, close } = this.#generations.freeze()
      return { meta: this.#meta, terms: this.#terms, kinds: this.#kinds, generations, close }
    })
  }

  /** Returns a draft for an import. The draft has a separate dictionary, so a failed import leaves no terms. */
  createDraft(replace: boolean): CatalogDraft {
    if (replace) return new CatalogDraft(new Terms())
    return new CatalogDraft(new Terms(this.#terms.list), new AnswerKinds(this.#kinds.list), this.#counts.types)
  }

  /**
   * Applies a whole import.
   * @returns the number of prices after the import
   * @throws Problem `CATALOG_FULL`, `TYPE_CONFLICT`, `DISK_FULL`, `STORE_FAILED`
   */
  takeImport({ draft, replace, maxPrices }: PriceLineReader, log?: LogCheckpoint): Promise<number> {
    return this.#serial.run(async () => {
      if (replace) await this.#adopt(draft, log)
      else await this.#merge(draft, maxPrices, log)
      return this.size
    })
  }

  /**
   * Applies changes of different prices in their order, together with the checkpoint.
   * @throws Problem `DISK_FULL`, `STORE_FAILED`
   */
  applyChanges(group: readonly PendingChange<PriceChange, boolean>[], log: LogCheckpoint): Promise<void> {
    return this.#serial.run(() => this.#makeChanges(group, log))
  }

  /**
   * Writes the position in the log.
   * @param options.piece the newest piece of the open import; @param options.sync also syncs all earlier writes
   */
  setCheckpoint(log: LogCheckpoint, options: { piece?: Uint8Array; sync?: boolean } = {}): Promise<void> {
    return this.#serial.run(() => this.#checkpoint(log, options))
  }

  /**
   * Yields the pieces of the open import.
   * @throws StartError `DATA_DAMAGED`
   */
  readStaged(open: OpenImport): AsyncGenerator<Uint8Array> {
    return this.#generations.readStaged(open)
  }

  /** Deletes all pieces of imports, which are no longer needed. */
  clearStaged(): Promise<void> {
    return this.#generations.clearStaged()
  }

  /**
   * Loads the catalog from the disk after a fault, or after a snapshot was restored. A change whose write failed may or
   * may not be in the loaded catalog.
   */
  reload(): Promise<void> {
    return this.#serial.run(async () => {
      const loaded = await this.#generations.load()
      if (loaded) await this.#load(loaded)
      await this.#options.onReplace(this.getState())
    })
  }

  /** Resolves when all changes that run or wait at the time of the call have ended. */
  waitUntilIdle(): Promise<void> {
    return this.#serial.waitUntilIdle()
  }

  /** Applies changes of different prices. All accepted ones are applied, or none. */
  async #commit(group: readonly PendingChange<PriceChange, boolean>[]): Promise<void> {
    try {
      await this.#makeChanges(group)
    } catch (error) {
      // Refused changes are settled already.
      for (const { reject } of group) reject(error)
    }
  }

  async #makeChanges(group: readonly PendingChange<PriceChange, boolean>[], log?: LogCheckpoint): Promise<void> {
    const { edits, settle } = evaluateChanges(group, {
      ...this.#rowLookup(),
      terms: this.#terms,
      kinds: this.#kinds,
      types: new PendingTypes(this.#counts),
      checkCapacity: (added, maxPrices) => this.#checkCapacity(added, maxPrices),
    })
    if (edits.length > 0) await this.#apply(edits, log)
    else if (log) await this.#checkpoint(log)
    settle()
  }

  async #checkpoint(log: LogCheckpoint, options: { piece?: Uint8Array; sync?: boolean } = {}): Promise<void> {
    const meta = { ...this.#meta, log }
    await this.#generations.setCheckpoint(meta, options)
    this.#meta = meta
  }

  /** @throws Problem `CATALOG_FULL` */
  #checkCapacity(added: number, maxPrices = this.#options.maxPrices): void {
    if (this.size + added > maxPrices) throw errors.CATALOG_FULL(`more than ${maxPrices} prices`)
  }

  #rowLookup(): RowLookup {
    return {
      find: (id) => this.#ids.find(id),
      readRow: (row) => this.#readRow(row),
      rows: this.#meta.rows,
    }
  }

  async #apply(edits: readonly RowEdit[], log = this.#meta.log): Promise<void> {
    const { generation, terms: firstTerm, kinds: firstKind, rows: oldRows } = this.#meta
    // Edits of more than a value or kind. The other edits affect neither the indexes nor the stored rows.
    const found = edits.filter(isRowChanged)
    const answers = this.#answers.applyEdits(edits, oldRows)
    const rows = applyRowEdits(found, oldRows, (page) => this.#generations.readRows(generation, page))
    const terms = this.#terms.list.slice(firstTerm)
    const kinds = this.#kinds.list.slice(firstKind)
    const meta: CatalogMeta = {
      ...this.#meta,
      rows: edits.reduce((max, { row }) => Math.max(max, row + 1), oldRows),
      terms: this.#terms.list.length,
      kinds: this.#kinds.list.length,
      log,
    }
    await this.#generations.write({ meta, terms, firstTerm, kinds, firstKind, answers: answers.pages, rows })
    const rebuild = await this.#indexes.rebuildDue()
    // No await from here to the message to the threads: a new thread gets this change from `getState`, or receives it
    // as a message.
    this.#meta = meta
    // Deleted ids are looked up in the old answers, added ids in the new answers.
    for (const { before, after, id } of found) if (before && !after) this.#ids.delete(id)
    this.#answers.commitEdits(answers)
    for (const { row, before, after, id } of found) {
      this.#counts.add(before, -1)
      this.#counts.add(after, 1)
      if (after && !before) this.#ids.add(row, id)
    }
    const changes = found.map(toRowChange)
    this.#indexes.applyRebuild(rebuild, changes, (offering) => this.#counts.getCount(offering))
    const usedTerms = this.#counts.getUsedTerms()
    await this.#options.onChange({ terms, kinds, usedTerms, answers: answers.change, rows: changes, ...rebuild })
  }

  async #merge(draft: CatalogDraft, maxPrices: number, log?: LogCheckpoint): Promise<void> {
    // Both checks come before `translatePrices`, so a refused import adds no terms to the dictionary.
    const table = draft.buildTable()
    this.#checkCapacity(await countNewPrices(draft, table, this.#ids), maxPrices)
    await checkTypes(draft, table, this.#terms, this.#counts.types)
    const translated = await translatePrices(draft, table, this.#terms, this.#kinds)
    if (translated.length <= MAX_SINGLE_PUTS) {
      const rowLookup = this.#rowLookup()
      const puts = translated.map((one) => ({ ...one, ...findExisting(one.id, rowLookup) }))
      if (puts.length > 0) await this.#apply(toEdits(puts, rowLookup.rows), log)
      else if (log) await this.#checkpoint(log)
      return
    }
    const whole = await this.#toDraft()
    await forEachInTurns(translated.length, (i) => {
      const { id, row, value, kind } = translated[i]!
      whole.add(id, row, value, kind)
    })
    await this.#adopt(whole, log)
  }

  async #toDraft(): Promise<CatalogDraft> {
    const draft = new CatalogDraft(this.#terms, this.#kinds)
    const { generation, rows } = this.#meta
    for (let first = 0; first < rows; first += PAGE_ROWS) {
      const page = this.#generations.readRows(generation, toPageNumber(first))
      const answers = new AnswerBlock(this.#generations.readAnswers(generation, toPageNumber(first)))
      for (let i = 0; i < page.size; i++) {
        const row = page.get(i)
        if (row) draft.add(answers.getId(i), row, answers.getValue(i), answers.getKind(i))
      }
      await yieldTurn()
    }
    return draft
  }

  /** Replaces the catalog with a draft. The draft is first written as a new generation. */
  async #adopt(draft: CatalogDraft, log = this.#meta.log): Promise<void> {
    const table = draft.buildTable()
    const meta = await this.#generations.writeAll(draft, table, { ...this.#meta, log })
    const { terms, kinds, blocks, ids } = draft
    await this.#replaceState({ meta, terms, kinds, blocks, table }, ids)
    await this.#options.onReplace(this.getState())
    await this.#generations.clearOlder(meta)
  }

  async #load(loaded: LoadedCatalog): Promise<void> {
    const { blocks, table } = loaded
    const answers = new SharedAnswers(blocks)
    const idOf = (row: number) => readId(answers, row)
    const ids = new IdTable(idOf, table.size)
    await forEachInTurns(table.size, (row) => {
      if (table.has(row)) ids.add(row, idOf(row))
    })
    await this.#replaceState(loaded, ids)
  }

  /** Loads a catalog, and rewrites it without the rows of deleted prices if they are many. */
  async #loadCompact(loaded: LoadedCatalog): Promise<void> {
    await this.#load(loaded)
    if (this.#meta.rows - this.size > Math.max(MAX_DELETED_ROWS, this.size)) await this.#adopt(await this.#toDraft())
  }

  async #replaceState({ meta, terms, kinds, table, blocks }: LoadedCatalog, ids: IdTable): Promise<void> {
    const { hasSharedBlocks, indexes } = this.#options
    const counts = await TermCounts.fromTable(table, terms)
    const built = await CatalogIndexes.build(indexes, table)
    // No await from here: every reader sees one consistent catalog.
    this.#meta = meta
    this.#terms = terms
    this.#kinds = kinds
    this.#answers = hasSharedBlocks ? new SharedAnswers(blocks) : new StoredAnswers(this.#readPage)
    this.#ids = ids
    ids.setIdReader(this.#readId)
    this.#counts = counts
    this.#indexes = built
  }

  #readRow(row: number): PriceRow {
    return this.#generations.readRow(this.#meta.generation, row)
  }
}
