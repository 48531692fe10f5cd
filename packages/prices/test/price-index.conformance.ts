import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import type { AnswerStore } from '../src/answer-store/answer-store.ts'
import { FIRST_DAY, LAST_DAY } from '../src/core/dates.ts'
import { SearchQuery } from '../src/core/search-query.ts'
import { RowTable, type PriceRow } from '../src/core/row-table.ts'
import {
  FacetCounts,
  GROUPS_FACET,
  OFFERINGS_FACET,
  SPECS_FACET,
  type FacetSelection,
} from '../src/core/facet-selection.ts'
import {
  toAmbiguous,
  NO_MATCH,
  findRows,
  type RowFinder,
  type IndexKind,
  type RowChange,
  type Segments,
} from '../src/index/price-index.ts'
import { CatalogIndexes } from '../src/catalog/catalog-indexes.ts'
import { packChanges, unpackChanges } from '../src/index/packed-changes.ts'
import { NO_ANSWERS } from '../src/answer-store/answer-table.ts'
import { createCatalogView, type CatalogView } from '../src/search/catalog-view.ts'
import { scaleRuns } from '@influencer-stats/runtime/testing/scale-runs'

// Terms of a small domain, so that rows and queries overlap: offerings 0-2, groups 10-12, specs 20-21, values from 70
// on.
const CHAR_COUNT = 4
const VALUE_COUNT = 3
const toTerm = (char: number, value: number) => 70 + char * VALUE_COUNT + value
const getChar = (term: number) => Math.floor((term - 70) / VALUE_COUNT)
const value = fc.integer({ min: 0, max: VALUE_COUNT - 1 })
const offering = fc.integer({ min: 0, max: 2 })
const group = fc.integer({ min: 10, max: 12 })
const spec = fc.integer({ min: 20, max: 21 })
const day = fc.integer({ min: -3, max: 3 })

const row: fc.Arbitrary<PriceRow> = fc
  .record({
    offering,
    group,
    spec,
    chosen: fc.array(fc.option(value, { nil: undefined }), { minLength: CHAR_COUNT, maxLength: CHAR_COUNT }),
    isDefault: fc.boolean().map((one) => one),
    dates: fc.option(fc.tuple(day, day), { nil: undefined, freq: 3 }),
  })
  .map(({ chosen, dates, ...rest }) => ({
    ...rest,
    values: chosen.flatMap((one, char) => (one === undefined ? [] : [toTerm(char, one)])),
    from: dates ? dates[0] : FIRST_DAY,
    to: dates ? dates[1] : LAST_DAY,
  }))

/** A query as plain data. */
interface QueryFields {
  readonly offering: number
  readonly group: number
  readonly spec: number
  readonly values: readonly number[]
  /** A characteristic and its accepted values. */
  readonly choices: readonly (readonly [char: number, accepted: readonly number[]])[]
  readonly at: number | undefined
}

const anyTerm = fc
  .tuple(fc.integer({ min: 0, max: CHAR_COUNT - 1 }), fc.integer({ min: 0, max: VALUE_COUNT }))
  .map(([c, v]) =>
    // One value that no row has.
    v === VALUE_COUNT ? 9_000 : toTerm(c, v),
  )
const searched: fc.Arbitrary<QueryFields> = fc.record({
  offering: fc.integer({ min: 0, max: 3 }),
  group: fc.integer({ min: 10, max: 13 }),
  spec,
  values: fc.array(anyTerm, { maxLength: 5 }),
  choices: fc.array(fc.tuple(fc.integer({ min: 0, max: CHAR_COUNT }), fc.array(anyTerm, { maxLength: 8 })), {
    maxLength: 3,
  }),
  at: fc.option(day, { nil: undefined }),
})

const createConditions = ({ group: g, spec: s, choices, at }: QueryFields): ((one: PriceRow) => boolean)[] => [
  (one) => one.group === g,
  (one) => one.spec === s,
  ...choices.map(
    ([char, accepted]) =>
      (one: PriceRow) =>
        [...one.values].some((term) => getChar(term) === char && accepted.includes(term)),
  ),
  ...(at === undefined ? [] : [(one: PriceRow) => one.from <= at && at <= one.to]),
]

/**
 * The oracle: a plain filter.
 * @returns the matches, and how many rows remain after each condition
 */
function filter(
  rows: readonly (PriceRow | undefined)[],
  query: QueryFields,
): { found: number; fitting: number[]; left: number[] } {
  let fitting = rows.flatMap((one, number) => (one?.offering === query.offering ? [number] : []))
  const left = [fitting.length]
  for (const fits of createConditions(query)) {
    fitting = fitting.filter((number) => fits(rows[number]!))
    left.push(fitting.length)
  }
  fitting = fitting.filter((number) => query.values.every((term) => rows[number]!.values.includes(term)))
  if (fitting.length === 0) return { found: NO_MATCH, fitting, left }
  const chosen = fitting.length === 1 ? fitting[0] : fitting.find((number) => rows[number]!.isDefault)
  return { found: chosen ?? toAmbiguous(fitting.length), fitting, left }
}

function toQuery({ values, choices, at, ...rest }: QueryFields): SearchQuery {
  const query = new SearchQuery()
  query.reset(rest.offering, rest.group, rest.spec)
  values.forEach((term, i) => (query.values[i] = term))
  query.count = values.length
  query.choices = choices.map(([char, accepted]) => ({ char, getChar, accepts: (term) => accepted.includes(term) }))
  query.at = at
  return query
}

function createTable(rows: readonly (PriceRow | undefined)[]): RowTable {
  const table = new RowTable(1, 1)
  for (const one of rows) table.push(one)
  return table
}

/** A selection: some of the offerings, groups, specs and values, possibly repeated. */
interface SelectionFields {
  readonly offerings: readonly number[] | undefined
  readonly groups: readonly number[] | undefined
  readonly specs: readonly number[] | undefined
  readonly choices: QueryFields['choices']
  readonly at: number | undefined
}

const some = (of: fc.Arbitrary<number>) => fc.option(fc.array(of, { maxLength: 3 }), { nil: undefined, freq: 2 })
const chosen: fc.Arbitrary<SelectionFields> = fc.record({
  offerings: some(fc.integer({ min: 0, max: 3 })),
  groups: some(group),
  specs: some(spec),
  choices: fc.array(fc.tuple(fc.integer({ min: 0, max: CHAR_COUNT }), fc.array(anyTerm, { maxLength: 8 })), {
    maxLength: 2,
  }),
  at: fc.option(day, { nil: undefined }),
})

const TERM_COUNT = 100
function getFacet(term: number): number {
  if (term >= 70) return getChar(term)
  if (term >= 20) return SPECS_FACET
  return term >= 10 ? GROUPS_FACET : OFFERINGS_FACET
}

function toSelection({ offerings, groups, specs, choices, at }: SelectionFields): FacetSelection {
  const lists = [
    [OFFERINGS_FACET, offerings] as const,
    [GROUPS_FACET, groups] as const,
    [SPECS_FACET, specs] as const,
    ...choices,
  ]
  return {
    chosen: new Map(lists.flatMap(([facet, list]) => (list ? [[facet, (term: number) => list.includes(term)]] : []))),
    at,
    getFacet,
  }
}

/** The oracle: each facet separately, with plain filters. */
function countPlainly(rows: readonly (PriceRow | undefined)[], { chosen: searched, at }: FacetSelection): FacetCounts {
  const counts = new FacetCounts(TERM_COUNT)
  const listTerms = (one: PriceRow) => [one.offering, one.group, one.spec, ...one.values]
  const valid = rows.filter((one) => one && (at === undefined || (one.from <= at && at <= one.to))) as PriceRow[]
  const left = (except?: number) =>
    valid.filter((one) =>
      [...searched].every(
        ([facet, accepts]) =>
          facet === except || listTerms(one).some((term) => getFacet(term) === facet && accepts(term)),
      ),
    )
  counts.total = left().length
  for (let term = 0; term < TERM_COUNT; term++)
    counts.byTerm[term] = left(getFacet(term)).filter((one) => listTerms(one).includes(term)).length
  return counts
}

async function expectCounts(
  index: RowFinder,
  rows: readonly (PriceRow | undefined)[],
  some: readonly SelectionFields[],
) {
  for (const one of some) {
    const selection = toSelection(one)
    const counts = new FacetCounts(TERM_COUNT)
    await index.count(selection, counts)
    expect(counts).toEqual(countPlainly(rows, selection))
  }
}

function expectAgreement(
  index: RowFinder,
  rows: readonly (PriceRow | undefined)[],
  queries: readonly QueryFields[],
): void {
  for (const query of queries) {
    const { found, fitting, left } = filter(rows, query)
    const searched = toQuery(query)
    expect(index.find(searched)).toBe(found)
    expect(index.explain(searched, searched.choices)).toEqual(left)
    expect(findRows(index, searched).sort((a, b) => a - b)).toEqual(fitting)
  }
}

/** Queries with matches: each names a part of some row. */
const createMatchingQueries = (rows: readonly (PriceRow | undefined)[], mask: number): QueryFields[] =>
  rows.flatMap((one) =>
    one ? [{ ...one, values: [...one.values].filter((_, i) => (mask >> i) & 1), choices: [], at: undefined }] : [],
  )

const step = fc.oneof(
  fc.record({ op: fc.constant('add' as const), row }),
  fc.record({ op: fc.constant('change' as const), at: fc.nat(), row }),
  fc.record({ op: fc.constant('remove' as const), at: fc.nat() }),
)
type RowStep = typeof step extends fc.Arbitrary<infer T> ? T : never

/** The result of some steps. A removed row does not return, and a row never changes its offering. */
function applySteps(rows: readonly (PriceRow | undefined)[], steps: readonly RowStep[]) {
  const after = [...rows]
  const changes = new Map<number, RowChange>()
  for (const one of steps) {
    const number = one.op === 'add' || after.length === 0 ? after.length : one.at % after.length
    const old = after[number]
    if (one.op !== 'add' && !old) continue
    after[number] =
      one.op === 'remove' ? undefined : { ...one.row, ...(one.op === 'change' && { offering: old!.offering }) }
    changes.set(number, { row: number, before: rows[number], after: after[number] })
  }
  return { after, changes: [...changes.values()].filter(({ before, after: is }) => before ?? is) }
}

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
              for (const [key, bytes] of changed) segments.set(key, bytes)
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
              const state = { terms: [], kinds: [], rows: indexes.pending }
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
                kinds: [],
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
