import type { AnswerBlock } from '../core/answer-block.ts'
import type { AnswerChange } from './answer-table.ts'

/** The data that a reply needs for each row, as one thread reads it. Synchronous. */
export interface AnswerStore {
  /** Returns the block that contains the answer of a row. */
  getBlock(row: number): AnswerBlock
  /** Returns a store with the answers after a change. This store stays unchanged until it is closed. */
  with(change: AnswerChange): AnswerStore
  /** Idempotent. */
  close(): Promise<void>
}

/** The storage of pages. */
export interface PageStore {
  /** Returns the content of a page at the time the store was created. */
  read(number: number): Uint8Array
  /** Returns a store that reads the current state. */
  renew(): PageStore
  /** Idempotent. */
  close(): Promise<void>
}

export interface AnswerStoreOptions {
  /** All answers, if the store holds them in memory. */
  readonly answers: AnswerChange
  readonly store: PageStore
  /** Cache size of a store that evicts pages (bytes). */
  readonly cacheBytes: number
}
