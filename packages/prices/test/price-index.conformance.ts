import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import type { AnswerStore } from '../src/answer-store/answer-store.ts'
import type { PriceRow } from '../src/core/row-table.ts'
import { applySegmentChanges, type IndexKind, type Segments } from '../src/index/price-index.ts'
import { CatalogIndexes } from '../src/catalog/catalog-indexes.ts'
import { packChanges, unpackChanges } from '../src/index/packed-changes.ts'
import { NO_ANSWERS } from '../src/answer-store/answer-table.ts'
import { createCatalogView, type CatalogView } from '../src/search/catalog-view.ts'
import { scaleRuns } from '@influencer-stats/runtime/testing/scale-runs'
import {
  applySteps,
  chosen,
  createMatchingQueries,
  createTable,
  expectAgreement,
  expectCounts,
  row,
  searched,
  step,
} from './support/generated-rows.ts'

const NO_BYTES = new Uint8Array(0)
const NO_STORE: AnswerStore = { getBlock: () => ({}) as never, with: () => NO_STORE, async close() {} }

/** The requirements for every index. */
export function testPriceIndex(name: string, open: () => Promise<IndexKind>): void {
  describe(`index ${name}`, () => {
    let kind: IndexKind
    beforeAll(async () => {
      kind = await open()
    })

    it('finds no rows in an empty index', async () => {
      expectAgreement(kind.read(await kind.build(createTable([]))), [], fc.sample(searched, 10))
    })

    it('agrees with a plain filter', async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(row, { maxLength: 120 }),
          fc.array(searched, { maxLength: 20 }),
          fc.nat(15),
          async (rows, queries, mask) => {
            expectAgreement(kind.read(await kind.build(createTable(rows))), rows, [
              ...queries,
              ...createMatchingQueries(rows, mask),
            ])
          },
        ),
        { numRuns: scaleRuns(60) },
      )
    })

    it('counts the terms of rows as plain filters do', async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(row, { maxLength: 120 }),
          fc.array(chosen, { maxLength: 8 }),
          async (rows, selections) => {
            await expectCounts(kind.read(await kind.build(createTable(rows))), rows, selections)
          },
        ),
        { numRuns: scaleRuns(40) },
      )
    })

    it('agrees with a plain filter after any updates, and earlier indexes stay unchanged', async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(row, { maxLength: 40 }),
          fc.array(fc.array(step, { minLength: 1, maxLength: 6 }), { maxLength: 5 }),
          fc.array(searched, { maxLength: 8 }),
          fc.nat(15),
          async (first, rounds, queries, mask) => {
            let rows: readonly (PriceRow | undefined)[] = first
            const segments: Segments = await kind.build(createTable(rows))
            let index = kind.read(segments)
            for (const steps of rounds) {
              const { after, changes } = applySteps(rows, steps)
              const changed = kind.update(segments, changes)
              const next = index.with(changed)
              expectAgreement(index, rows, [...queries, ...createMatchingQueries(rows, mask)])
              applySegmentChanges(segments, changed)
              expectAgreement(next, after, [...queries, ...createMatchingQueries(after, mask)])
              expectAgreement(kind.read(segments), after, queries)
              index = next
              rows = after
            }
          },
        ),
        { numRuns: scaleRuns(40) },
      )
    })

    it('agrees with a plain filter when it is searched together with pending changes', async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(row, { maxLength: 60 }),
          fc.array(fc.array(step, { minLength: 1, maxLength: 30 }), { maxLength: 8 }),
          fc.array(searched, { maxLength: 8 }),
          fc.array(chosen, { maxLength: 2 }),
          fc.nat(15),
          // With a low limit, segments are rebuilt after few changes.
          fc.constantFrom(0, 4, 1e6),
          async (first, rounds, queries, selections, mask, size) => {
            let rows: readonly (PriceRow | undefined)[] = first
            const kinds = new Map([[name, kind]])
            const indexes = await CatalogIndexes.build(kinds, createTable(rows), 2)
            const read = () => {
              const state = { terms: [], words: [], rows: indexes.pending }
              const of = new Map([[name, kind.read(indexes.segments.get(name)!)]])
              return createCatalogView(state, { usedTerms: NO_BYTES, answerStore: NO_STORE, indexes: of })
            }
            let view = read()
            async function expectViewAgreement(one: CatalogView, among: typeof rows): Promise<void> {
              expectAgreement(one.indexes.get(name)!, among, [...queries, ...createMatchingQueries(among, mask)])
              await expectCounts(one.indexes.get(name)!, among, selections)
            }
            const older: [CatalogView, typeof rows][] = []
            for (const steps of rounds) {
              const { after, changes } = applySteps(rows, steps)
              const rebuild = await indexes.rebuildDue()
              indexes.applyRebuild(rebuild, changes, () => size)
              older.push([view, rows])
              view = view.with({
                terms: [],
                words: [],
                usedTerms: NO_BYTES,
                answers: NO_ANSWERS,
                rows: unpackChanges(packChanges(changes)),
                ...rebuild,
              })
              rows = after
              await expectViewAgreement(view, rows)
              await expectViewAgreement(read(), rows)
            }
            for (const [one, among] of older) await expectViewAgreement(one, among)
          },
        ),
        { numRuns: scaleRuns(40) },
      )
    })

    it('is in memory that threads share', async () => {
      for (const bytes of (await kind.build(createTable(fc.sample(row, 50)))).values()) {
        expect(bytes.buffer).toBeInstanceOf(SharedArrayBuffer)
      }
    })
  })
}
