import { AnswerTable, type AnswerChange } from './answer-table.ts'
import type { AnswerStore, AnswerStoreOptions } from './answer-store.ts'

/**
 * All answers in memory that the threads share: 28 bytes per price, once for all threads. Each thread holds recent
 * edits separately (see `AnswerTable`).
 */
export const createMemoryStore = ({ answers }: AnswerStoreOptions): AnswerStore =>
  createStore(AnswerTable.fromBlocks([]).with(answers))

const createStore = (answers: AnswerTable): AnswerStore => ({
  getBlock: (row) => answers.getBlock(row),
  with: (changed: AnswerChange) => createStore(answers.with(changed)),
  async close() {},
})
