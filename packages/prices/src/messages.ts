import type { LevelShare } from '@influencer-stats/runtime/level-health'
import type { Blocks } from './catalog/catalog.ts'
import type { AnswerKind } from './core/answers.ts'
import type { Price } from './core/price.ts'
import type { Term } from './core/terms.ts'
import type { RowChange, Segments } from './index/index.ts'

/** What becomes of the prices there are. */
export interface ImportOptions {
  /** Begin with an empty catalog. */
  readonly replace: boolean
  /** Even if nothing is imported. */
  readonly empty: boolean
}

/** What threads ask of main, which owns the catalog. */
export type ToMain = {
  get(id: string): Price | undefined
  /** Resolves when it is durable and every thread sees it. */
  put(price: Price): PutPrice
  /** Whether it was there. */
  remove(id: string): boolean
  /** @returns a number that the other import calls name it by */
  importStart(options: ImportOptions): number
  importChunk(token: number, bytes: Uint8Array): void
  importEnd(token: number): { imported: number; prices: number }
  importAbort(token: number): void
}

/** A price as it is kept, and whether it is new. */
export interface PutPrice {
  readonly price: Price
  readonly created: boolean
}

/** The catalog as threads view it; its bytes are shared memory that never changes. */
export interface State {
  readonly generation: number
  readonly terms: readonly Term[]
  readonly kinds: readonly AnswerKind[]
  /** By term: 0 where no row has it; of a characteristic, its type. */
  readonly live: Uint8Array
  readonly blocks: Blocks
  /** By the name of the index. */
  readonly segments: ReadonlyMap<string, Segments>
  /** Changes of rows that the segments do not have yet. */
  readonly rows: readonly RowChange[]
}

/** What a thread is started with. */
export interface Shared {
  readonly state: State
  /** Its part in the database. */
  readonly share: LevelShare
}

/** What an update changed: new terms, kinds and changes of rows, and what takes the place of older bytes. */
export interface Change extends Omit<State, 'generation'> {
  /** Offerings whose segments have all changes of their rows that came before these. */
  readonly folded: readonly number[]
}

/** What main tells all threads. */
export type ToThread = {
  change(change: Change): void
  replace(state: State): void
}
