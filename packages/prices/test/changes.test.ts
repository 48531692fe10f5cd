import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { temporaryFolder } from '@influencer-stats/runtime/testing/temporary'
import { createLruLevelCatalog } from '../src/catalog/lru-level.ts'
import { createMemoryCatalog } from '../src/catalog/memory.ts'
import { BLOCK_ROWS, PAGE_BYTES } from '../src/core/answers.ts'
import { Draft } from '../src/core/draft.ts'
import { keptPrice, type Price } from '../src/core/price.ts'
import { Terms } from '../src/core/terms.ts'
import { openPricesLevel } from '../src/database.ts'
import type { IndexKind } from '../src/index/index.ts'
import { loadIndexes } from '../src/load-indexes.ts'
import type { State } from '../src/messages.ts'
import { CatalogOwner } from '../src/owner/catalog-owner.ts'
import { createPageStore } from '../src/page-store.ts'
import { namesOf, SHARED_CATALOGS, type parts } from '../src/parts.ts'
import { PriceLineReader } from '../src/price-line-reader.ts'
import { Searcher } from '../src/searcher.ts'
import { createView, type View } from '../src/view.ts'
import { INDEXES } from './support/indexes.ts'
import { priceOf, searchOf, uuid } from './support/prices.ts'
import { runs } from '@influencer-stats/runtime/testing/runs'

// Whatever is put, removed and imported, every index of every view finds what a plain list of the prices would.

const IDS = 40
const names = INDEXES
const indexes = await loadIndexes({ indexes: names })
const searcher = new Searcher()

const price = fc.record({
  id: fc.integer({ min: 1, max: IDS }).map(uuid),
  offeringId: fc.constantFrom('a', 'a', 'a', 'b'),
  groupId: fc.constantFrom('g1', 'g2'),
  charValues: fc
    .tuple(fc.integer({ min: 0, max: 2 }), fc.option(fc.constantFrom('x', 'y'), { nil: undefined }))
    .map(([n, m]) => [{ char: 'n', value: n }, ...(m === undefined ? [] : [{ char: 'm', value: m }])]),
  value: fc.integer({ min: -5, max: 5 }),
  default: fc.boolean(),
})
const id = fc.integer({ min: 1, max: IDS }).map(uuid)
const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ put: fc.array(price, { minLength: 1, maxLength: 25 }) }) },
  { weight: 4, arbitrary: fc.record({ cost: fc.array(fc.tuple(id, fc.integer()), { minLength: 1, maxLength: 9 }) }) },
  { weight: 2, arbitrary: fc.record({ remove: fc.array(id, { minLength: 1, maxLength: 9 }) }) },
  { weight: 2, arbitrary: fc.record({ lines: fc.array(price, { maxLength: 30 }), replace: fc.boolean() }) },
  { weight: 1, arbitrary: fc.constant({ reopen: true as const }) },
)

/** All prices in the order of their rows: the oracle. */
class Plain {
  readonly prices = new Map<string, Price>()

  put(one: Price): void {
    // A price of another offering goes and comes again.
    if (this.prices.get(one.id)?.offeringId !== one.offeringId) this.prices.delete(one.id)
    this.prices.set(one.id, one)
  }

  /** What a search for all that a price has gives: its answer, or the code of a refusal. */
  find(asked: Price): unknown {
    const fitting = [...this.prices.values()].filter(
      (one) =>
        one.offeringId === asked.offeringId &&
        one.groupId === asked.groupId &&
        asked.charValues.every(({ char, value }) =>
          one.charValues.some((other) => other.char === char && other.value === value),
        ),
    )
    const found = fitting.length === 1 ? fitting[0] : fitting.find((one) => one.default)
    if (!found) return fitting.length === 0 ? 'NOTHING' : `${fitting.length} prices fit`
    return { id: found.id, spec: 'MRC', value: found.value, currency: 'USD' }
  }
}

const uniqBySearch = (prices: readonly Price[]) => [
  ...new Map(prices.map((one) => [JSON.stringify(searchOf(one)), one])).values(),
]

function answerOf(view: View, name: string, asked: Price): unknown {
  try {
    return JSON.parse(searcher.answer(Buffer.from(JSON.stringify(searchOf(asked))), view, view.indexes.get(name)!))
  } catch (error) {
    const { code, detail } = error as { code: string; detail: string }
    return code === 'PRICES_AMBIGUOUS' ? detail : code.endsWith('_NOT_FOUND') ? 'NOTHING' : error
  }
}

/** A catalog on main and as threads see it: one that was there, and one that starts in the middle of each change. */
async function open(folder: string, name: keyof typeof parts.catalog) {
  const real = await openPricesLevel(folder)
  let stateNow = (): State | undefined => undefined
  let view: View
  let late: View | undefined
  const starting = () => {
    const state = stateNow()
    if (state) late = viewOf(state)
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
  function viewOf(state: State): View {
    const { generation, answers, live } = structuredClone(state)
    const store = createPageStore(real.db, generation)
    const catalog = createCatalog({ answers, store, cacheBytes: 3 * PAGE_BYTES })
    const read = new Map(Array.from(indexes, ([of, kind]) => [of, kind.read(new Map(state.segments.get(of)!))]))
    return createView(state, { live, catalog, indexes: read })
  }
  const createCatalog = name === 'memory' ? createMemoryCatalog : createLruLevelCatalog
  const fillers = Array.from({ length: BLOCK_ROWS - 20 }, (_, i) =>
    priceOf({ id: uuid(1_000 + i), offeringId: 'filler' }),
  )
  const owner = await CatalogOwner.open(
    {
      level,
      indexes: kinds,
      holdsBlocks: SHARED_CATALOGS.includes(name),
      most: 1e6,
      log: { error: () => undefined },
      async onChange(change) {
        view = view.with(structuredClone(change))
        late = late?.with(structuredClone(change))
      },
      async onReplace(state) {
        view = viewOf(state)
        late = undefined
      },
    },
    () => {
      const draft = new Draft(new Terms())
      for (const price of fillers) draft.put(price)
      return draft
    },
  )
  view = viewOf(owner.state())
  stateNow = () => owner.state()
  return { owner, views: () => (late ? [view, late] : [view]), close: () => real.close() }
}

describe.each(namesOf('catalog'))('catalog %s', (name) => {
  it('finds what is there after any changes, in every view', async () => {
    const run = async (steps: readonly (typeof step extends fc.Arbitrary<infer T> ? T : never)[]) => {
      const folder = temporaryFolder()
      const plain = new Plain()
      let opened = await open(folder, name)
      const older: { view: View; asked: Price[]; answers: unknown[] }[] = []
      for (const one of steps) {
        const { owner } = opened
        if ('reopen' in one) {
          await opened.close()
          older.length = 0
          opened = await open(folder, name)
        } else if ('lines' in one) {
          const reader = new PriceLineReader(owner.draft(one.replace), one.replace, 1e6)
          reader.take(Buffer.from(one.lines.map((line) => `${JSON.stringify(priceOf(line))}\n`).join('')))
          // An import is one change: of the lines of one price the last counts.
          const imported = new Plain()
          for (const line of one.lines) imported.put(priceOf(line))
          if (one.replace) plain.prices.clear()
          for (const last of imported.prices.values()) plain.put(last)
          await owner.take(reader)
        } else if ('remove' in one) {
          await Promise.all(one.remove.map((gone) => owner.remove(gone)))
          for (const gone of one.remove) plain.prices.delete(gone)
        } else {
          const puts = 'put' in one ? one.put.map(priceOf) : []
          for (const [known, value] of 'cost' in one ? one.cost : []) {
            const old = plain.prices.get(known)
            if (old) puts.push({ ...old, value })
          }
          await Promise.all(puts.map((put) => owner.put(put)))
          // The second change of a price is in the group behind.
          const firsts = new Set<string>()
          const later = puts.filter((put) => firsts.has(put.id) || !firsts.add(put.id))
          for (const put of puts.filter((first) => !later.includes(first))) plain.put(put)
          let rest = later
          while (rest.length > 0) {
            const seen = new Set<string>()
            const next = rest.filter((put) => seen.has(put.id) || !seen.add(put.id))
            for (const put of rest.filter((first) => !next.includes(first))) plain.put(put)
            rest = next
          }
        }
        // Each once: that many prices are alike in all that a search asks for makes no difference to it.
        const asked = uniqBySearch([
          ...plain.prices.values(),
          ...steps.flatMap((other) => ('put' in other ? other.put.map(priceOf) : [])),
        ])
        const answers = asked.map((ask) => plain.find(ask))
        const views = opened.views()
        for (const view of views)
          for (const index of names) expect(asked.map((ask) => answerOf(view, index, ask))).toEqual(answers)
        for (const { id: known, ...rest } of plain.prices.values()) {
          expect(await opened.owner.get(known)).toEqual(keptPrice({ id: known, ...rest }))
        }
        older.push({ view: views[0]!, asked, answers })
        for (const old of older.slice(-4))
          expect(old.asked.map((ask) => answerOf(old.view, names[older.length % names.length]!, ask))).toEqual(
            old.answers,
          )
      }
      await opened.close()
    }
    await fc.assert(fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 9 }), run), { numRuns: runs(8) })
  })
})
