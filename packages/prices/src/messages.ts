import type { LevelShare } from '@influencer-stats/runtime/level-health'
import type { WireError } from '@influencer-stats/runtime/problems'
import type { AnswerKind } from './core/answer-block.ts'
import type { AnswerChange } from './core/answer-table.ts'
import type { Price } from './core/price.ts'
import type { Term } from './core/terms.ts'
import type { RowChange, Segments } from './index/price-index.ts'
import type { PackedChanges } from './index/packed-changes.ts'

/** What becomes of the prices there are. */
export interface ImportOptions {
  /** Begin with an empty catalog. */
  readonly replace: boolean
  /** Even if nothing is imported. */
  readonly empty: boolean
}

/** What became of an import. */
export interface ImportResult {
  /** Lines that were prices. */
  readonly imported: number
  /** Prices there are now. */
  readonly prices: number
}

/** Takes imports, on main. All or nothing. */
export interface ImportHandler {
  /** @returns a number that the other calls name it by. @throws Problem `IMPORT_RUNNING` */
  start(options: ImportOptions): number | Promise<number>
  addChunk(token: number, bytes: Uint8Array): void | Promise<void>
  end(token: number): Promise<ImportResult>
  abort(token: number): void | Promise<void>
}

/** Which prices are exported. */
export interface ExportRange {
  /** Those with a higher id than this one. */
  readonly after?: string | undefined
  /** At most so many. */
  readonly limit?: number | undefined
}

/** A price to put. */
export interface PricePut {
  /** Its id. */
  readonly key: string
  /** A price as JSON, checked; its id may be left out. */
  readonly body: string
}

/** What threads ask of main, which owns the catalog. */
export type PricesMainMessage = {
  get(id: string): Price | undefined
  /** Resolves when all that can be put is durable and every thread sees it: with whether each is new, or why it is refused. */
  put(puts: readonly PricePut[]): (boolean | WireError)[]
  /** Whether it was there. */
  remove(id: string): boolean
  /** @returns a number that the other import calls name it by */
  importStart(options: ImportOptions): number
  importChunk(token: number, bytes: Uint8Array): void
  importEnd(token: number): ImportResult
  importAbort(token: number): void
  /** @returns a number that the other export calls name it by */
  exportStart(range: ExportRange): number
  /** The next lines; nothing at the end. */
  exportNext(token: number): Uint8Array | undefined
  exportEnd(token: number): void
  /** Answered once this node has applied the log up to this place. */
  reached(sequence: number): void
  /** Answered once this node has applied all that was in the log when it was asked. */
  barrier(waiting: number): void
}

/** The catalog as threads view it; its bytes are shared memory that never changes. */
export interface CatalogState {
  readonly generation: number
  readonly terms: readonly Term[]
  readonly kinds: readonly AnswerKind[]
  /** By term: 0 where no row has it; of a characteristic, its type. */
  readonly live: Uint8Array
  readonly answers: AnswerChange
  /** By the name of the index. */
  readonly segments: ReadonlyMap<string, Segments>
  /** Changes of rows that the segments do not have yet. */
  readonly rows: readonly RowChange[]
}

/** What a thread is started with. */
export interface PricesSharedState {
  readonly state: CatalogState
  /** Its part in the database. */
  readonly share: LevelShare
  /** How far the log is, where there is one that many machines share. */
  readonly logState?: SharedArrayBuffer
}

/** What an update changed: new terms, kinds and changes of rows, and what takes the place of older bytes. */
export interface CatalogChange extends Omit<CatalogState, 'generation'> {
  /** Offerings whose segments have all changes of their rows that came before these. */
  readonly folded: readonly number[]
}

/** What main tells all threads. */
export type PricesThreadMessage = {
  change(change: Omit<CatalogChange, 'rows'>, rows: PackedChanges): void
  replace(state: CatalogState): void
}
