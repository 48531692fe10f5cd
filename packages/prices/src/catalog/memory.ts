import { HeldAnswers, type AnswerChange } from '../core/held-answers.ts'
import type { Catalog, CatalogOptions } from './catalog.ts'

/** All answers in memory that the threads share: 28 bytes a price, once for all of them. */
export const createMemoryCatalog = ({ answers }: CatalogOptions): Catalog =>
  memoryCatalog(HeldAnswers.of([]).with(answers))

const memoryCatalog = (held: HeldAnswers): Catalog => ({
  blockWith: (row) => held.blockWith(row),
  with: (changed: AnswerChange) => memoryCatalog(held.with(changed)),
  async close() {},
})
