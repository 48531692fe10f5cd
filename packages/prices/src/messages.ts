import type { LevelShare } from '@influencer-stats/runtime/level-health'
import type { WireError } from '@influencer-stats/runtime/problems'
import type { AnswerWord } from './core/answer-words.ts'
import type { AnswerChange } from './answer-store/answer-table.ts'
import type { Price } from './core/price.ts'
import type { PriceBatch } from './core/price-batch.ts'
import type { Term } from './core/terms.ts'
import type { RowChange, SegmentChanges, Segments } from './index/price-index.ts'
import type { PackedChanges } from './index/packed-changes.ts'
import type { SearchConditions } from './search/search-request.ts'

/** Options of an import: its effect on the existing prices. */
export interface ImportOptions {
  /** True to begin with an empty catalog. */
  readonly replace: boolean
  /** True to replace even if no price is imported. */
  readonly empty: boolean
}

/** The result of an import. */
export interface ImportResult {
  /** Number of imported prices; a repeated id counts each time. */
  readonly imported: number
  /** Number of prices after the import. */
  readonly prices: number
}

/** A piece of an import: its prices, or in a cluster lines with prices. */
export type ImportedPrices = PriceBatch | Uint8Array

/** The prices to export. */
export interface ExportRange {
  /** Only prices with a higher id than this one. */
  readonly after?: string | undefined
  /** Maximum number of prices. */
  readonly limit?: number | undefined
  /** Format of the lines; by default NDJSON. */
  readonly format?: PriceFormat | undefined
}

/** Formats of imports and exports. */
export type PriceFormat = 'ndjson' | 'csv'

/** A price to put. */
export interface PricePut {
  /** The id of the price. */
  readonly key: string
  /** A validated price as JSON, which may omit its id. */
  readonly body: string
}

/** The price after a patch. */
export interface PatchedPrice {
  readonly price: Price
}

/** The prices to remove: all that match the conditions, whose `at` is not `now`. */
export interface PriceRemoval {
  readonly conditions: SearchConditions
  /** The number of prices that must match. */
  readonly expected?: number
}

/** The result of a removal, or of its dry run. */
export interface RemovalResult {
  /** Number of prices that match. */
  readonly matched: number
  /** Number of removed prices. */
  readonly deleted: number
}

/** Messages from threads to the main thread, which owns the catalog. */
export type PricesMainMessage = {
  get(id: string): Price | undefined
  /** Returns the prices of these ids in their order. */
  getMany(ids: readonly string[]): (Price | undefined)[]
  /**
   * Resolves when all accepted prices are durable and visible to every thread. The result has, for each price in order,
   * true if it is new, false if it replaced a price, or the reason of its refusal.
   */
  put(puts: readonly PricePut[]): (boolean | WireError)[]
  /**
   * Applies a JSON merge patch to a price.
   * @param patch the id of the price, and the validated patch as JSON
   */
  patch(patch: PricePut): PatchedPrice
  /** Resolves with true if the price existed. */
  remove(id: string): boolean
  removeWhere(removal: PriceRemoval): RemovalResult
  /** @returns the token of the import for the other calls */
  importStart(options: ImportOptions): number
  importPiece(token: number, prices: ImportedPrices): void
  importEnd(token: number): ImportResult
  importAbort(token: number): void
  /** @returns the token of the export for the other calls */
  exportStart(range: ExportRange): number
  /** Returns the next lines; undefined at the end. */
  exportNext(token: number): Uint8Array | undefined
  exportEnd(token: number): void
  /** Resolves when this node has applied the log up to this sequence. */
  waitForSequence(sequence: number): void
  /**
   * Resolves when this node has applied all entries that were in the log at the time of the call.
   * @param waiting number of callers that wait for it
   */
  barrier(waiting: number): void
}

/** The catalog as threads view it. Its blocks and segments are shared memory that never changes. */
export interface CatalogState {
  readonly generation: number
  readonly terms: readonly Term[]
  readonly words: readonly AnswerWord[]
  /** See `TermCounts.getUsedTerms`. */
  readonly usedTerms: Uint8Array
  readonly answers: AnswerChange
  /** Segments by the name of the index. */
  readonly segments: ReadonlyMap<string, Segments>
  /** Changes of rows that the segments do not contain yet. */
  readonly rows: readonly RowChange[]
}

/** The data with which a thread starts. */
export interface PricesSharedState {
  readonly state: CatalogState
  /** The thread's share of the database. */
  readonly share: LevelShare
  /** Memory with this node's position in the log, on a node of a cluster. */
  readonly logState?: SharedArrayBuffer
}

/** A change of the catalog: new terms, words and changes of rows, and rebuilt blocks and segments. */
export interface CatalogChange extends Omit<CatalogState, 'generation' | 'segments'> {
  readonly segments: ReadonlyMap<string, SegmentChanges>
  /** Offerings whose segments contain all earlier changes of their rows. */
  readonly rebuilt: readonly number[]
}

/** Messages from the main thread to all threads. */
export type PricesThreadMessage = {
  change(change: Omit<CatalogChange, 'rows'>, rows: PackedChanges): void
  replace(state: CatalogState): void
}
