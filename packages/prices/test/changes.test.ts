import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { createLruLevelStore } from '../src/answer-store/lru-level.ts'
import { createMemoryStore } from '../src/answer-store/memory.ts'
import { BLOCK_ROWS, PAGE_BYTES } from '../src/core/answer-block.ts'
import { CatalogDraft } from '../src/core/catalog-draft.ts'
import { toStoredPrice, type Price } from '../src/core/price.ts'
import { Terms } from '../src/core/terms.ts'
import { openPricesLevel } from '../src/storage/database.ts'
import type { IndexKind } from '../src/index/price-index.ts'
import { loadIndexes } from '../src/search/load-indexes.ts'
import type { CatalogState } from '../src/messages.ts'
import { createPageStore } from '../src/storage/page-store.ts'
import { listPartNames, SHARED_STORES, type parts } from '../src/parts.ts'
import { Searcher } from '../src/search/searcher.ts'
import { createCatalogView, type CatalogView } from '../src/search/catalog-view.ts'
import { INDEXES } from './support/available-indexes.ts'
import { createPrice, toSearch, toUuid } from './support/prices.ts'
import { openTestCatalog, openTestStandalone, toLines } from './support/standalone.ts'
import { scaleRuns } from '@influencer-stats/runtime/testing/scale-runs'

// After any puts, removals and imports, every index of every view finds the same prices as a plain list.

const ID_COUNT = 40
const names = INDEXES
const indexes = await loadIndexes({ indexes: names })
const searcher = new Searcher()

const price = fc.record({
  id: fc.integer({ min: 1, max: ID_COUNT }).map(toUuid),
  offeringId: fc.constantFrom('a', 'a', 'a', 'b'),
  groupId: fc.constantFrom('g1', 'g2'),
  charValues: fc
    .tuple(fc.integer({ min: 0, max: 2 }), fc.option(fc.constantFrom('x', 'y'), { nil: undefined }))
    .map(([n, m]) => [{ char: 'n', value: n }, ...(m === undefined ? [] : [{ char: 'm', value: m }])]),
  value: fc.integer({ min: -5, max: 5 }),
  default: fc.boolean(),
})
const id = fc.integer({ min: 1, max: ID_COUNT }).map(toUuid)
const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ put: fc.array(price, { minLength: 1, maxLength: 25 }) }) },
  { weight: 4, arbitrary: fc.record({ cost: fc.array(fc.tuple(id, fc.integer()), { minLength: 1, maxLength: 9 }) }) },
  { weight: 2, arbitrary: fc.record({ remove: fc.array(id, { minLength: 1, maxLength: 9 }) }) },
  { weight: 2, arbitrary: fc.record({ lines: fc.array(price, { maxLength: 30 }), replace: fc.boolean() }) },
  { weight: 1, arbitrary: fc.constant({ reopen: true as const }) },
)

/** All prices in the order of their rows: the oracle. */
class PlainCatalog {
  readonly prices = new Map<string, Price>()

  put(one: Price): void {
    // A price that changes its offering is removed and added.
    if (this.prices.get(one.id)?.offeringId !== one.offeringId) this.prices.delete(one.id)
    this.prices.set(one.id, one)
  }

  /** Returns the result of a search for all values of a price: its answer, or the code of a refusal. */
  find(searched: Price): unknown {
    const fitting = [...this.prices.values()].filter(
      (one) =>
        one.offeringId === searched.offeringId &&
        one.groupId === searched.groupId &&
        searched.charValues.every(({ char, value }) =>
          one.charValues.some((other) => other.char === char && other.value === value),
        ),
    )
    // The default price with the most characteristics, then the one that was added first.
    const [preferred] = fitting
      .filter((one) => one.default)
      .sort((one, other) => other.charValues.length - one.charValues.length)
    const found = fitting.length === 1 ? fitting[0] : preferred
    if (!found) return fitting.length === 0 ? 'NOTHING' : `${fitting.length} prices match`
    return { id: found.id, spec: 'MRC', value: found.value, currency: 'USD' }
  }
}

const uniqueBySearch = (prices: readonly Price[]) => [
  ...new Map(prices.map((one) => [JSON.stringify(toSearch(one)), one])).values(),
]

function getAnswer(view: CatalogView, name: string, searched: Price): unknown {
  try {
    return JSON.parse(searcher.answer(Buffer.from(JSON.stringify(toSearch(searched))), view, view.indexes.get(name)!))
  } catch (error) {
    const { code, detail } = error as { code: string; detail: string }
    return code === 'PRICES_AMBIGUOUS' ? detail : code.endsWith('_NOT_FOUND') ? 'NOTHING' : error
  }
}

/**
 * A catalog on the main thread and in two threads: one existing thread, and one that starts in the middle of each
 * change.
 */
async function open(folder: string, name: keyof typeof parts.catalog, isCompacted: boolean) {
  const real = await openPricesLevel(folder)
  let stateNow = (): CatalogState | undefined => undefined
  let view: CatalogView
  let late: CatalogView | undefined
  const starting = () => {
    const state = stateNow()
    if (state) late = readView(state)
  }
  const level = new Proxy(real, {
    get(target: any, key) {
      if (key !== 'write') return target[key]
      return async (run: unknown) => {
        await target.write(run)
        starting()
      }
    },
  })
  const kinds = new Map(
    Array.from(indexes, ([of, kind]): [string, IndexKind] => [
      of,
      {
        ...kind,
        update(segments, changes) {
          starting()
          return kind.update(segments, changes)
        },
      },
    ]),
  )
  function readView(state: CatalogState): CatalogView {
    const { generation, answers, usedTerms } = structuredClone(state)
    const store = createPageStore(real.db, generation)
    const catalog = createCatalog({ answers, store, cacheBytes: 3 * PAGE_BYTES })
    const read = new Map(Array.from(indexes, ([of, kind]) => [of, kind.read(new Map(state.segments.get(of)!))]))
    return createCatalogView(state, { usedTerms, answerStore: catalog, indexes: read })
  }
  let replacements = 0
  const createCatalog = name === 'memory' ? createMemoryStore : createLruLevelStore
  const fillers = Array.from({ length: isCompacted ? 0 : BLOCK_ROWS - 20 }, (_, i) =>
    createPrice({ id: toUuid(1_000 + i), offeringId: 'filler' }),
  )
  const catalog = await openTestCatalog(
    level,
    {
      indexes: kinds,
      hasSharedBlocks: SHARED_STORES.includes(name),
      async onChange(change) {
        view = view.with(structuredClone(change))
        late = late?.with(structuredClone(change))
      },
      async onReplace(state) {
        view = readView(state)
        late = undefined
        replacements++
      },
      ...(isCompacted && { compaction: { unused: 2, deletedRows: 2, perUsed: 0 }, maxSinglePuts: 5 }),
    },
    () => {
      const draft = new CatalogDraft(new Terms())
      for (const price of fillers) draft.put(price)
      return draft
    },
  )
  view = readView(catalog.getState())
  stateNow = () => catalog.getState()
  const standalone = await openTestStandalone(catalog, level)
  replacements = 0
  return {
    ...standalone,
    owner: catalog,
    views: () => (late ? [view, late] : [view]),
    countReplacements: () => replacements,
    close: () => real.close(),
  }
}

describe.each(listPartNames('catalog'))('catalog %s', (name) => {
  it.each([
    ['', false],
    [' and with rewrites of the catalog', true],
  ])('finds all prices after any changes%s, in every view', async (_, isCompacted) => {
    let rewrites = 0
    const run = async (steps: readonly (typeof step extends fc.Arbitrary<infer T> ? T : never)[]) => {
      const folder = createTemporaryFolder()
      const plain = new PlainCatalog()
      let opened = await open(folder, name, isCompacted)
      const older: { view: CatalogView; searched: Price[]; answers: unknown[] }[] = []
      for (const one of steps) {
        const before = 'reopen' in one ? 0 : opened.countReplacements()
        if ('reopen' in one) {
          await opened.close()
          older.length = 0
          opened = await open(folder, name, isCompacted)
        } else if ('lines' in one) {
          await opened.import([toLines(one.lines.map(createPrice))], one.replace)
          // An import is one change. If several lines have one id, the last one counts.
          const imported = new PlainCatalog()
          for (const line of one.lines) imported.put(createPrice(line))
          if (one.replace) plain.prices.clear()
          for (const last of imported.prices.values()) plain.put(last)
        } else if ('remove' in one) {
          await Promise.all(one.remove.map((removedId) => opened.remove(removedId)))
          for (const removedId of one.remove) plain.prices.delete(removedId)
        } else {
          const puts = 'put' in one ? one.put.map(createPrice) : []
          for (const [known, value] of 'cost' in one ? one.cost : []) {
            const old = plain.prices.get(known)
            if (old) puts.push({ ...old, value })
          }
          await Promise.all(puts.map((put) => opened.put(put)))
          // The order of the calls is the order of the changes.
          for (const put of puts) plain.put(put)
        }
        if (!('lines' in one)) rewrites += opened.countReplacements() - before
        // Each search runs once: prices with equal conditions have the same result.
        const searched = uniqueBySearch([
          ...plain.prices.values(),
          ...steps.flatMap((other) => ('put' in other ? other.put.map(createPrice) : [])),
        ])
        const answers = searched.map((query) => plain.find(query))
        const views = opened.views()
        for (const view of views)
          for (const index of names) expect(searched.map((query) => getAnswer(view, index, query))).toEqual(answers)
        for (const { id: known, ...rest } of plain.prices.values()) {
          expect(await opened.owner.get(known)).toEqual(toStoredPrice({ id: known, ...rest }))
        }
        older.push({ view: views[0]!, searched, answers })
        for (const old of older.slice(-4))
          expect(old.searched.map((query) => getAnswer(old.view, names[older.length % names.length]!, query))).toEqual(
            old.answers,
          )
      }
      await opened.close()
    }
    await fc.assert(fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 9 }), run), { numRuns: scaleRuns(8) })
    // Enough deleted prices for a rewrite, whatever the random steps are.
    const puts = Array.from({ length: 8 }, (_, i) => createPrice({ id: toUuid(1 + i), offeringId: `deleted ${i}` }))
    const remove = puts.map((one) => one.id)
    await run([{ put: puts }, { remove }, { put: puts.slice(0, 1) }] as never)
    expect(rewrites > 0).toBe(isCompacted)
  })
})
