import { TermCounts } from '../../src/catalog/term-counts.ts'
import { CatalogDraft } from '../../src/core/catalog-draft.ts'
import { NO_ANSWERS } from '../../src/answer-store/answer-table.ts'
import type { Price } from '../../src/core/price.ts'
import { Terms } from '../../src/core/terms.ts'
import { parts } from '../../src/parts.ts'
import { createCatalogView } from '../../src/search/catalog-view.ts'

/** Returns a catalog as a thread sees it, without a service. */
export async function createTestView(prices: Iterable<Price>, name: keyof typeof parts.index = 'bitset') {
  const kind = await parts.index[name]()
  const draft = new CatalogDraft(new Terms())
  for (const price of prices) {
    const fault = draft.put(price)
    if (fault) throw new Error(fault.code)
  }
  const table = draft.buildTable()
  const index = kind.read(await kind.build(table))
  const blocks = new Map(draft.blocks.map(({ bytes }, number) => [number, bytes]))
  const view = createCatalogView(
    { terms: draft.terms.list, words: draft.words.list, rows: [] },
    {
      usedTerms: (await TermCounts.fromTable(table, draft.terms)).getUsedTerms(),
      answerStore: await parts.catalog.memory({
        answers: { ...NO_ANSWERS, blocks },
        store: undefined as never,
        cacheBytes: 0,
      }),
      indexes: new Map([[name, index]]),
    },
  )
  return { view, index }
}

/** Returns the processor time of a function (s). */
export async function measureCpuSeconds(work: () => unknown): Promise<number> {
  const before = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1e6
}
