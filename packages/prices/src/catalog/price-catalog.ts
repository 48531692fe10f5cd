import { Serial } from '@influencer-stats/runtime/async/serial'
import { CatalogDraft } from '../core/catalog-draft.ts'
import type { Price } from '../core/price.ts'
import { Terms } from '../core/terms.ts'
import { checkMatchCount, errors } from '../errors.ts'
import type { IndexKind, RowChange } from '../index/price-index.ts'
import type { CatalogChange, CatalogState, PriceRemoval, RemovalResult } from '../messages.ts'
import { NO_META, type CatalogMeta, type LoadedCatalog } from '../storage/generation-reader.ts'
import { Generations, type GenerationsOptions } from '../storage/generations.ts'
import type { LogCheckpoint, OpenImport } from '../storage/log-checkpoint.ts'
import { CatalogContent } from './catalog-content.ts'
import type { FrozenCatalog } from './catalog-export.ts'
import { COMPACTION_LIMITS, CompactionTrigger, type CompactionLimits } from './compaction.ts'
import { evaluateChanges, type PendingChange } from './evaluate-changes.ts'
import type { LoggedImport } from './logged-import.ts'
import { mergeCatalog } from './merge/merge-catalog.ts'
import { checkTypes, countNewPrices, forEachKnownId, translatePrices } from './merge/merge-import.ts'
import { createPriceTest } from './price-test.ts'
import { planRemoval, withoutMatches } from './removal.ts'
import { isRowChanged, applyRowEdits, toEdits, findExisting, type RowEdit } from './row-edits.ts'
import { PendingTypes } from './term-counts.ts'

/** Options of a catalog. */
export interface PriceCatalogOptions extends GenerationsOptions {
  readonly indexes: ReadonlyMap<string, IndexKind>
  /** True if the answers are in memory that threads share. */
  readonly hasSharedBlocks: boolean
  readonly onChange: (change: CatalogChange) => Promise<unknown>
  readonly onReplace: (state: CatalogState) => Promise<unknown>
  /** By default `COMPACTION_LIMITS`. */
  readonly compaction?: CompactionLimits
  /**
   * Maximum number of prices that an import or a removal by conditions applies as edits of the current generation. A
   * larger one, or an import with `replace`, creates a new generation of the catalog.
   */
  readonly maxSinglePuts?: number
}

const MAX_SINGLE_PUTS = 2_000
/** Delay before the catalog is rewritten again after a failure (ms). */
const COMPACTION_RETRY_MS = 60_000

const toRowChange = ({ row, before, after }: RowChange): RowChange => ({ row, before, after })

/**
 * The catalog on the main thread, its only writer. A change is first stored (standalone: synced to disk; cluster:
 * already in the log), then visible to every thread, then acknowledged.
 */
export class PriceCatalog {
  readonly #options: PriceCatalogOptions
  readonly #createFirst: () => CatalogDraft
  readonly #generations: Generations
  readonly #content: CatalogContent
  readonly #compaction: CompactionTrigger
  /** The time before which the catalog is not rewritten, after a failure (ms, `performance.now`). */
  #compactAfter = 0
  /** Runs one change at a time. */
  readonly #changes = new Serial()

  /** @param createFirst creates the first catalog of a database that never had prices */
  constructor(options: PriceCatalogOptions, createFirst = () => new CatalogDraft(new Terms())) {
    this.#options = options
    this.#createFirst = createFirst
    this.#generations = new Generations(options)
    this.#content = new CatalogContent(this.#generations.reader, options.indexes, options.hasSharedBlocks)
    this.#compaction = new CompactionTrigger(this.#content, options.compaction ?? COMPACTION_LIMITS)
  }

  get size(): number {
    return this.#content.ids.size
  }

  get #maxSinglePuts(): number {
    return this.#options.maxSinglePuts ?? MAX_SINGLE_PUTS
  }

  /** The stored state, with the position in the log. */
  get meta(): CatalogMeta {
    return this.#content.meta
  }

  getState(): CatalogState {
    return this.#content.getState()
  }

  async get(id: string): Promise<Price | undefined> {
    return this.#content.getPrice(id)
  }

  /** Returns the catalog at a moment without a running change. It is readable until `close`. */
  freeze(): Promise<FrozenCatalog & { close(): Promise<void> }> {
    return this.#changes.run(() => {
      const { meta, terms, words } = this.#content
      return { meta, terms, words, ...this.#generations.freeze() }
    })
  }

  /**
   * Applies a whole import, together with the checkpoint.
   * @returns the number of prices after the import
   * @throws Problem `CATALOG_FULL`, `TYPE_CONFLICT`, `DISK_FULL`, `STORE_FAILED`
   */
  takeImport(
    { draft, replace, maxPrices, isV1 }: Pick<LoggedImport, 'draft' | 'replace' | 'maxPrices' | 'isV1'>,
    log: LogCheckpoint,
  ): Promise<number> {
    return this.#changes.run(async () => {
      if (replace) await this.#adopt(draft, log)
      else await this.#merge(draft, maxPrices, isV1, log)
      return this.size
    })
  }

  /**
   * Applies changes of different prices in their order, together with the checkpoint. All accepted changes are applied,
   * or none.
   * @throws Problem `DISK_FULL`, `STORE_FAILED`
   */
  applyChanges(group: readonly PendingChange[], log: LogCheckpoint): Promise<void> {
    return this.#changes.run(async () => {
      await this.#compactIfDue()
      const { terms, words, counts } = this.#content
      const { edits, settle } = evaluateChanges(group, {
        rows: this.#content,
        dictionary: { terms, words, types: new PendingTypes(counts) },
        checkCapacity: (added, maxPrices) => this.#checkCapacity(added, maxPrices),
      })
      if (edits.length > 0) await this.#apply(edits, log)
      else await this.#checkpoint(log)
      settle()
    })
  }

  /**
   * Removes all prices that match conditions, together with the checkpoint: all of them, or none.
   * @throws Problem `MATCH_COUNT`, `DISK_FULL`, `STORE_FAILED`, or the reason why the conditions cannot be tested
   */
  removeWhere({ conditions, expected }: PriceRemoval, log: LogCheckpoint): Promise<RemovalResult> {
    return this.#changes.run(async () => {
      await this.#compactIfDue()
      const content = this.#content
      const { terms, words, counts } = content
      const matches = createPriceTest(conditions, { terms, words, usedTerms: counts.getUsedTerms() })
      const { matched, edits } = await planRemoval(content, matches, this.#maxSinglePuts)
      checkMatchCount(matched, expected)
      if (!edits) {
        const rest = withoutMatches(content, matches, matched)
        await this.#adopt(await mergeCatalog(rest, new CatalogDraft(new Terms())), log)
      } else if (matched > 0) await this.#apply(edits, log)
      else await this.#checkpoint(log)
      return { matched, deleted: matched }
    })
  }

  /**
   * Writes the position in the log.
   * @param piece the newest piece of the open import
   */
  setCheckpoint(log: LogCheckpoint, piece?: Uint8Array): Promise<void> {
    return this.#changes.run(() => this.#checkpoint(log, piece))
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
   * Loads the catalog from the database: at the start, after a fault, and after a snapshot was restored. A change whose
   * write failed may or may not be in the loaded catalog. At the start, it also rewrites a catalog with much unused data.
   * @throws StartError `DATA_DAMAGED`
   */
  load(): Promise<void> {
    return this.#changes.run(async () => {
      const isStart = this.meta === NO_META
      const loaded = await this.#generations.load()
      if (loaded) await this.#content.load(this.#withCheckpoint(loaded))
      else if (isStart) return this.#adopt(this.#createFirst())
      if (isStart && (await this.#compactIfDue())) return
      await this.#options.onReplace(this.getState())
    })
  }

  /** Resolves when all changes that run or wait at the time of the call have ended. */
  waitUntilIdle(): Promise<void> {
    return this.#changes.waitUntilIdle()
  }

  async #checkpoint(log: LogCheckpoint, piece?: Uint8Array): Promise<void> {
    const meta = { ...this.meta, log }
    await this.#generations.setCheckpoint(meta, piece)
    this.#content.meta = meta
  }

  /**
   * Rewrites the catalog without terms, words, rows and segments that no price has any more, if there are many. Changes
   * wait meanwhile, and searches continue. Between two changes, no snapshot is restored. A failure has no effect.
   * @returns true if it was rewritten
   */
  async #compactIfDue(): Promise<boolean> {
    if (performance.now() < this.#compactAfter || !(await this.#compaction.isDue())) return false
    try {
      await this.#generations.checkSpace(this.meta)
      await this.#adopt(await mergeCatalog(this.#content, new CatalogDraft(new Terms())))
      return true
    } catch (error) {
      this.#options.log.error({ err: error }, 'prices: unused names could not be removed; the catalog is unchanged')
      this.#compactAfter = performance.now() + COMPACTION_RETRY_MS
      return false
    }
  }

  /** @throws Problem `CATALOG_FULL` */
  #checkCapacity(added: number, maxPrices: number): void {
    if (this.size + added > maxPrices) throw errors.CATALOG_FULL(`more than ${maxPrices} prices`)
  }

  async #apply(edits: readonly RowEdit[], log: LogCheckpoint): Promise<void> {
    const content = this.#content
    const { generation, terms: firstTerm, kinds: firstWord, rows: oldRows } = content.meta
    // Edits of more than a value or kind. The other edits affect neither the indexes nor the stored rows.
    const found = edits.filter(isRowChanged)
    const answers = content.answers.applyEdits(edits, oldRows, content.words)
    const rows = applyRowEdits(found, oldRows, (page) => this.#generations.reader.readRows(generation, page))
    const terms = content.terms.list.slice(firstTerm)
    const words = content.words.list.slice(firstWord)
    const meta: CatalogMeta = {
      ...content.meta,
      rows: edits.reduce((max, { row }) => Math.max(max, row + 1), oldRows),
      terms: content.terms.list.length,
      kinds: content.words.list.length,
      log,
    }
    await this.#generations.write({ meta, terms, firstTerm, words, firstWord, answers: answers.pages, rows })
    const rebuild = await content.indexes.rebuildDue()
    // No await from here to the message to the threads: a new thread gets this change from `getState`, or receives it
    // as a message.
    content.commitEdits(meta, found, answers)
    const changes = found.map(toRowChange)
    content.indexes.applyRebuild(rebuild, changes, (offering) => content.counts.getCount(offering))
    const usedTerms = content.counts.getUsedTerms()
    await this.#options.onChange({ terms, words, usedTerms, answers: answers.change, rows: changes, ...rebuild })
  }

  async #merge(draft: CatalogDraft, maxPrices: number, isV1: boolean, log: LogCheckpoint): Promise<void> {
    const isSmall = draft.size <= this.#maxSinglePuts
    if (isSmall) await this.#compactIfDue()
    // Both checks come before a term is added to the dictionary.
    const { terms, counts, rows } = this.#content
    this.#checkCapacity(await countNewPrices(draft, this.#content), maxPrices)
    await checkTypes(draft, terms, counts.types, isV1 ? undefined : () => this.#getRemainingTypes(draft))
    if (!isSmall) return this.#adopt(await mergeCatalog(this.#content, draft), log, draft)
    const translated = await translatePrices(draft, this.#content)
    const puts = translated.map((one) => ({ ...one, ...findExisting(one.id, this.#content) }))
    if (puts.length > 0) await this.#apply(toEdits(puts, rows), log)
    else await this.#checkpoint(log)
  }

  /** Returns the types of the prices that an import does not replace. */
  async #getRemainingTypes(draft: CatalogDraft): Promise<PendingTypes> {
    const types = new PendingTypes(this.#content.counts)
    await forEachKnownId(draft, this.#content.words, (id) =>
      types.recordChange(findExisting(id, this.#content).before, undefined),
    )
    return types
  }

  /**
   * Replaces the catalog with a draft. The draft is first written as a new generation.
   * @param imported an import that the draft contains. It is released as soon as it is stored
   */
  async #adopt(draft: CatalogDraft, log = this.meta.log, imported = draft): Promise<void> {
    const table = draft.buildTable()
    const meta = await this.#generations.writeAll(draft, table, { ...this.meta, log })
    imported.release()
    const { terms, words, blocks, ids } = draft
    await this.#content.replace({ meta, terms, words, blocks, table }, ids)
    await this.#options.onReplace(this.getState())
    await this.#generations.clearOlder(meta)
  }

  /** The database of a standalone service has no checkpoint. */
  #withCheckpoint(loaded: LoadedCatalog): LoadedCatalog {
    return this.#options.isReplica ? loaded : { ...loaded, meta: { ...loaded.meta, log: this.meta.log } }
  }
}
