import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import type { Catalog } from '../src/catalog/catalog.ts'
import { FIRST_DAY, LAST_DAY } from '../src/core/dates.ts'
import { Query } from '../src/core/query.ts'
import { RowTable, type Row } from '../src/core/rows.ts'
import { FacetCounts, GROUPS, OFFERINGS, SPECS, type Selection } from '../src/core/selection.ts'
import {
  ambiguous,
  NONE,
  rowsOf,
  type Finder,
  type IndexKind,
  type RowChange,
  type Segments,
} from '../src/index/index.ts'
import { Indexes } from '../src/owner/indexes.ts'
import { packChanges, unpackChanges } from '../src/index/row-changes.ts'
import { NO_ANSWERS } from '../src/core/held-answers.ts'
import { createView, type View } from '../src/view.ts'
import { runs } from '@influencer-stats/runtime/testing/runs'

// Terms of a small world, so that rows and queries meet: offerings 0-2, groups 10-12, specs 20-21, values 70 and on.
const CHARS = 4
const VALUES = 3
const termOf = (char: number, value: number) => 70 + char * VALUES + value
const charOf = (term: number) => Math.floor((term - 70) / VALUES)
const value = fc.integer({ min: 0, max: VALUES - 1 })
const offering = fc.integer({ min: 0, max: 2 })
const group = fc.integer({ min: 10, max: 12 })
const spec = fc.integer({ min: 20, max: 21 })
const day = fc.integer({ min: -3, max: 3 })

const row: fc.Arbitrary<Row> = fc
  .record({
    offering,
    group,
    spec,
    chosen: fc.array(fc.option(value, { nil: undefined }), { minLength: CHARS, maxLength: CHARS }),
    isDefault: fc.boolean().map((one) => one),
    dates: fc.option(fc.tuple(day, day), { nil: undefined, freq: 3 }),
  })
  .map(({ chosen, dates, ...rest }) => ({
    ...rest,
    values: chosen.flatMap((one, char) => (one === undefined ? [] : [termOf(char, one)])),
    from: dates ? dates[0] : FIRST_DAY,
    to: dates ? dates[1] : LAST_DAY,
  }))

/** A query as plain data. */
interface Asked {
  readonly offering: number
  readonly group: number
  readonly spec: number
  readonly values: readonly number[]
  /** A characteristic and those of its values that will do. */
  readonly choices: readonly (readonly [char: number, accepted: readonly number[]])[]
  readonly at: number | undefined
}

const anyTerm = fc.tuple(fc.integer({ min: 0, max: CHARS - 1 }), fc.integer({ min: 0, max: VALUES })).map(([c, v]) =>
  // One value that no row has.
  v === VALUES ? 9_000 : termOf(c, v),
)
const asked: fc.Arbitrary<Asked> = fc.record({
  offering: fc.integer({ min: 0, max: 3 }),
  group: fc.integer({ min: 10, max: 13 }),
  spec,
  values: fc.array(anyTerm, { maxLength: 5 }),
  choices: fc.array(fc.tuple(fc.integer({ min: 0, max: CHARS }), fc.array(anyTerm, { maxLength: 8 })), {
    maxLength: 3,
  }),
  at: fc.option(day, { nil: undefined }),
})

const conditionsOf = ({ group: g, spec: s, choices, at }: Asked): ((one: Row) => boolean)[] => [
  (one) => one.group === g,
  (one) => one.spec === s,
  ...choices.map(
    ([char, accepted]) =>
      (one: Row) =>
        [...one.values].some((term) => charOf(term) === char && accepted.includes(term)),
  ),
  ...(at === undefined ? [] : [(one: Row) => one.from <= at && at <= one.to]),
]

/** The oracle: a plain filter. @returns what is found, and how many rows each condition leaves */
function filter(
  rows: readonly (Row | undefined)[],
  query: Asked,
): { found: number; fitting: number[]; left: number[] } {
  let fitting = rows.flatMap((one, number) => (one?.offering === query.offering ? [number] : []))
  const left = [fitting.length]
  for (const fits of conditionsOf(query)) {
    fitting = fitting.filter((number) => fits(rows[number]!))
    left.push(fitting.length)
  }
  fitting = fitting.filter((number) => query.values.every((term) => rows[number]!.values.includes(term)))
  if (fitting.length === 0) return { found: NONE, fitting, left }
  const chosen = fitting.length === 1 ? fitting[0] : fitting.find((number) => rows[number]!.isDefault)
  return { found: chosen ?? ambiguous(fitting.length), fitting, left }
}

function toQuery({ values, choices, at, ...rest }: Asked): Query {
  const query = new Query()
  query.reset(rest.offering, rest.group, rest.spec)
  values.forEach((term, i) => (query.values[i] = term))
  query.count = values.length
  query.choices = choices.map(([char, accepted]) => ({ char, charOf, accepts: (term) => accepted.includes(term) }))
  query.at = at
  return query
}

function tableOf(rows: readonly (Row | undefined)[]): RowTable {
  const table = new RowTable(1, 1)
  for (const one of rows) table.push(one)
  return table
}

/** What is chosen: some of the offerings, groups, specs and values, each as often as it likes. */
interface Chosen {
  readonly offerings: readonly number[] | undefined
  readonly groups: readonly number[] | undefined
  readonly specs: readonly number[] | undefined
  readonly choices: Asked['choices']
  readonly at: number | undefined
}

const some = (of: fc.Arbitrary<number>) => fc.option(fc.array(of, { maxLength: 3 }), { nil: undefined, freq: 2 })
const chosen: fc.Arbitrary<Chosen> = fc.record({
  offerings: some(fc.integer({ min: 0, max: 3 })),
  groups: some(group),
  specs: some(spec),
  choices: fc.array(fc.tuple(fc.integer({ min: 0, max: CHARS }), fc.array(anyTerm, { maxLength: 8 })), {
    maxLength: 2,
  }),
  at: fc.option(day, { nil: undefined }),
})

const TERMS = 100
function facetOf(term: number): number {
  if (term >= 70) return charOf(term)
  if (term >= 20) return SPECS
  return term >= 10 ? GROUPS : OFFERINGS
}

function toSelection({ offerings, groups, specs, choices, at }: Chosen): Selection {
  const lists = [[OFFERINGS, offerings] as const, [GROUPS, groups] as const, [SPECS, specs] as const, ...choices]
  return {
    chosen: new Map(lists.flatMap(([facet, list]) => (list ? [[facet, (term: number) => list.includes(term)]] : []))),
    at,
    facetOf,
  }
}

/** The oracle: each facet by itself, with plain filters. */
function countPlainly(rows: readonly (Row | undefined)[], { chosen: asked, at }: Selection): FacetCounts {
  const counts = new FacetCounts(TERMS)
  const termsOf = (one: Row) => [one.offering, one.group, one.spec, ...one.values]
  const valid = rows.filter((one) => one && (at === undefined || (one.from <= at && at <= one.to))) as Row[]
  const left = (except?: number) =>
    valid.filter((one) =>
      [...asked].every(
        ([facet, accepts]) => facet === except || termsOf(one).some((term) => facetOf(term) === facet && accepts(term)),
      ),
    )
  counts.total = left().length
  for (let term = 0; term < TERMS; term++)
    counts.ofTerm[term] = left(facetOf(term)).filter((one) => termsOf(one).includes(term)).length
  return counts
}

async function agreeOnCounts(index: Finder, rows: readonly (Row | undefined)[], some: readonly Chosen[]) {
  for (const one of some) {
    const selection = toSelection(one)
    const counts = new FacetCounts(TERMS)
    await index.count(selection, counts)
    expect(counts).toEqual(countPlainly(rows, selection))
  }
}

function agree(index: Finder, rows: readonly (Row | undefined)[], queries: readonly Asked[]): void {
  for (const query of queries) {
    const { found, fitting, left } = filter(rows, query)
    const asked = toQuery(query)
    expect(index.find(asked)).toBe(found)
    expect(index.left(asked, asked.choices)).toEqual(left)
    expect(rowsOf(index, asked).sort((a, b) => a - b)).toEqual(fitting)
  }
}

/** Queries that hit: each asks for a part of some row. */
const partOf = (rows: readonly (Row | undefined)[], keep: number): Asked[] =>
  rows.flatMap((one) =>
    one ? [{ ...one, values: [...one.values].filter((_, i) => (keep >> i) & 1), choices: [], at: undefined }] : [],
  )

const step = fc.oneof(
  fc.record({ op: fc.constant('add' as const), row }),
  fc.record({ op: fc.constant('change' as const), at: fc.nat(), row }),
  fc.record({ op: fc.constant('remove' as const), at: fc.nat() }),
)
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

/** What steps come to. A row that is gone does not come back, and never changes its offering. */
function take(rows: readonly (Row | undefined)[], steps: readonly Step[]) {
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
const NO_CATALOG: Catalog = { blockWith: () => ({}) as never, with: () => NO_CATALOG, async close() {} }

/** What every index must do. */
export function indexConformance(name: string, open: () => Promise<IndexKind>): void {
  describe(`index ${name}`, () => {
    let kind: IndexKind
    beforeAll(async () => {
      kind = await open()
    })

    it('finds nothing where there is nothing', async () => {
      agree(kind.read(await kind.build(tableOf([]))), [], fc.sample(asked, 10))
    })

    it('agrees with a plain filter', async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(row, { maxLength: 120 }),
          fc.array(asked, { maxLength: 20 }),
          fc.nat(15),
          async (rows, queries, keep) => {
            agree(kind.read(await kind.build(tableOf(rows))), rows, [...queries, ...partOf(rows, keep)])
          },
        ),
        { numRuns: runs(60) },
      )
    })

    it('counts what rows have as plain filters do', async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(row, { maxLength: 120 }),
          fc.array(chosen, { maxLength: 8 }),
          async (rows, selections) => {
            await agreeOnCounts(kind.read(await kind.build(tableOf(rows))), rows, selections)
          },
        ),
        { numRuns: runs(40) },
      )
    })

    it('agrees with a plain filter after any updates, and what was read before stays as it was', async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(row, { maxLength: 40 }),
          fc.array(fc.array(step, { minLength: 1, maxLength: 6 }), { maxLength: 5 }),
          fc.array(asked, { maxLength: 8 }),
          fc.nat(15),
          async (first, rounds, queries, keep) => {
            let rows: readonly (Row | undefined)[] = first
            const segments: Segments = await kind.build(tableOf(rows))
            let index = kind.read(segments)
            for (const steps of rounds) {
              const { after, changes } = take(rows, steps)
              const changed = kind.update(segments, changes)
              const next = index.with(changed)
              agree(index, rows, [...queries, ...partOf(rows, keep)])
              for (const [key, bytes] of changed) segments.set(key, bytes)
              agree(next, after, [...queries, ...partOf(after, keep)])
              agree(kind.read(segments), after, queries)
              index = next
              rows = after
            }
          },
        ),
        { numRuns: runs(40) },
      )
    })

    it('agrees with a plain filter where it is searched beside changes that it does not have yet', async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(row, { maxLength: 60 }),
          fc.array(fc.array(step, { minLength: 1, maxLength: 30 }), { maxLength: 8 }),
          fc.array(asked, { maxLength: 8 }),
          fc.array(chosen, { maxLength: 2 }),
          fc.nat(15),
          // Few are folded soon.
          fc.constantFrom(0, 4, 1e6),
          async (first, rounds, queries, selections, keep, size) => {
            let rows: readonly (Row | undefined)[] = first
            const kinds = new Map([[name, kind]])
            const indexes = await Indexes.build(kinds, tableOf(rows), 2)
            const read = () => {
              const state = { terms: [], kinds: [], rows: indexes.waiting }
              const of = new Map([[name, kind.read(indexes.segments.get(name)!)]])
              return createView(state, { live: NO_BYTES, catalog: NO_CATALOG, indexes: of })
            }
            let view = read()
            async function agreeIn(one: View, among: typeof rows): Promise<void> {
              agree(one.indexes.get(name)!, among, [...queries, ...partOf(among, keep)])
              await agreeOnCounts(one.indexes.get(name)!, among, selections)
            }
            const older: [View, typeof rows][] = []
            for (const steps of rounds) {
              const { after, changes } = take(rows, steps)
              const fold = await indexes.fold()
              indexes.take(fold, changes, () => size)
              older.push([view, rows])
              view = view.with({
                terms: [],
                kinds: [],
                live: NO_BYTES,
                answers: NO_ANSWERS,
                rows: unpackChanges(packChanges(changes)),
                ...fold,
              })
              rows = after
              await agreeIn(view, rows)
              await agreeIn(read(), rows)
            }
            for (const [one, among] of older) await agreeIn(one, among)
          },
        ),
        { numRuns: runs(40) },
      )
    })

    it('lies in memory that threads share', async () => {
      for (const bytes of (await kind.build(tableOf(fc.sample(row, 50)))).values()) {
        expect(bytes.buffer).toBeInstanceOf(SharedArrayBuffer)
      }
    })
  })
}
