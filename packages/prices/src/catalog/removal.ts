import type { CatalogContent } from './catalog-content.ts'
import type { ExistingCatalog } from './merge/merge-catalog.ts'
import type { PriceTest } from './price-test.ts'
import type { RowEdit } from './row-edits.ts'

/** The prices to remove. */
export interface RemovalPlan {
  readonly matched: number
  /** The edits that remove them; undefined if there are too many of them for edits. */
  readonly edits: readonly RowEdit[] | undefined
}

/** Finds the prices that match. It yields to the event loop meanwhile. @param maxEdits maximum number of edits */
export async function planRemoval(
  content: Pick<CatalogContent, 'forEachPrice'>,
  matches: PriceTest,
  maxEdits: number,
): Promise<RemovalPlan> {
  let matched = 0
  let edits: RowEdit[] | undefined = []
  await content.forEachPrice((row, block, slot, number) => {
    if (!matches(row, block, slot)) return
    if (++matched > maxEdits) edits = undefined
    // Copies: a page would stay in memory as long as a part of it.
    const before = { ...row, values: [...row.values] }
    edits?.push({ row: number, before, after: undefined, id: block.getId(slot).slice(), value: 0, kind: 0 })
  })
  return { matched, edits }
}

/** Returns a view of a catalog without the prices that match. @param matched their number */
export const withoutMatches = (content: CatalogContent, matches: PriceTest, matched: number): ExistingCatalog => ({
  terms: content.terms,
  words: content.words,
  size: content.size - matched,
  forEachPrice: (visit) =>
    content.forEachPrice((row, block, slot) => {
      if (!matches(row, block, slot)) visit(row, block, slot)
    }),
})
