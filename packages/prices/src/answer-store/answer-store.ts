import type { AnswerBlock } from '../core/answer-block.ts'
import type { AnswerChange } from '../core/answer-table.ts'

/** What is needed to answer with a row, as one thread reads it. Synchronous. */
export interface AnswerStore {
  /** Where the answer of a row lies. */
  getBlock(row: number): AnswerBlock
  /** The same catalog after a change. This one goes on as it was until it is closed. */
  with(change: AnswerChange): AnswerStore
  /** Idempotent. */
  close(): Promise<void>
}

/** Where pages are kept. */
export interface PageStore {
  /** The content of a page, as of the moment the store was made. */
  read(number: number): Uint8Array
  /** A store that reads as of now. */
  renew(): PageStore
  /** Idempotent. */
  close(): Promise<void>
}

export interface AnswerStoreOptions {
  /** All of them, where it holds them in memory. */
  readonly answers: AnswerChange
  readonly store: PageStore
  /** How much an evicting catalog keeps (bytes). */
  readonly cacheBytes: number
}
