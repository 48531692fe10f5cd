import type { AnswerWords } from '@influencer-stats/prices/core/answer-words'
import { CatalogDraft } from '@influencer-stats/prices/core/catalog-draft'
import { Terms } from '@influencer-stats/prices/core/terms'
import type { PriceIndex, Segments } from '@influencer-stats/prices/index/price-index'
import { parts } from '@influencer-stats/prices/parts'
import { generatePrices, type CatalogPlan } from '../load/requests/catalogs.ts'
import type { IndexName } from '../load/requests/searches.ts'

/** A catalog and one index over it, as in a serving thread. */
export interface OpenCatalog {
  readonly terms: Terms
  /** By term: 1 if at least one row has it. */
  readonly usedTerms: Uint8Array
  readonly words: AnswerWords
  readonly blocks: CatalogDraft['blocks']
  /** In memory that threads share. */
  readonly segments: Segments
  readonly index: PriceIndex
  /** Another thread's view of the same segments. */
  reopen(): PriceIndex
}

/** Builds a catalog and its index in this process. @throws Error if a price is invalid */
export async function openCatalog(plan: CatalogPlan, name: IndexName): Promise<OpenCatalog> {
  const kind = await parts.index[name]()
  const draft = new CatalogDraft(new Terms())
  for (const price of generatePrices(plan)) {
    const fault = draft.put(price)
    if (fault) throw new Error(fault.code)
  }
  const { terms, words, blocks } = draft
  const segments = await kind.build(draft.buildTable())
  const usedTerms = new Uint8Array(terms.list.length).fill(1)
  const reopen = () => kind.read(segments)
  return { terms, usedTerms, words, blocks, segments, index: reopen(), reopen }
}
