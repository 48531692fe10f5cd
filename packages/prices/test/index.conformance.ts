import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { FIRST_DAY, LAST_DAY } from '../src/core/dates.ts'
import { FREE, Query } from '../src/core/query.ts'
import { RowTable, type Row } from '../src/core/rows.ts'
import { ambiguous, NONE, type IndexKind, type PriceIndex, type RowChange, type Segments } from '../src/index/index.ts'

// Terms of a small world, so that rows and queries meet: offerings 0-2, groups 10-12, specs 20-21, values 70 and on.
const CHARS = 4
const VALUES = 3
const termOf = (char: number, value: number) => 70 + char * VALUES + value
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
  readonly any: readonly (readonly number[])[]
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
  any: fc.array(fc.array(anyTerm, { maxLength: 4 }), { maxLength: 2 }),
  at: fc.option(day, { nil: undefined }),
})

const fits = (one: Row, query: Asked): boolean =>
  one.offering === query.offering &&
  (query.group === FREE || one.group === query.group) &&
  (query.spec === FREE || one.spec === query.spec) &&
  query.values.every((term) => one.values.includes(term)) &&
  query.any.every((terms) => terms.some((term) => one.values.includes(term))) &&
  (query.at === undefined || (one.from <= query.at && query.at <= one.to))

/** The oracle: a plain filter. */
function filter(rows: readonly (Row | undefined)[], query: Asked): { found: number; count: number } {
  const fitting = rows.flatMap((one, number) => (one && fits(one, query) ? [number] : []))
  const count = fitting.length
  if (count === 0) return { found: NONE, count }
  const chosen = count === 1 ? fitting[0] : fitting.find((number) => rows[number]!.isDefault)
  return { found: chosen ?? ambiguous(count), count }
}

function toQuery({ values, any, at, ...rest }: Asked): Query {
  const query = new Query()
  query.reset(rest.offering, rest.group, rest.spec)
  values.forEach((term, i) => (query.values[i] = term))
  query.count = values.length
  query.any = any.map((terms) => Int32Array.from(terms))
  query.at = at
  return query
}

function tableOf(rows: readonly (Row | undefined)[]): RowTable {
  const table = new RowTable(1, 1)
  for (const one of rows) table.push(one)
  return table
}

function agree(index: PriceIndex, rows: readonly (Row | undefined)[], queries: readonly Asked[]): void {
  for (const query of queries) {
    const { found, count } = filter(rows, query)
    expect(index.find(toQuery(query))).toBe(found)
    expect(index.count(toQuery(query))).toBe(count)
    const wider = { ...query, group: FREE, spec: FREE }
    expect(index.count(toQuery(wider))).toBe(filter(rows, wider).count)
    const halfway = { ...query, spec: FREE }
    expect(index.count(toQuery(halfway))).toBe(filter(rows, halfway).count)
  }
}

/** Queries that hit: each asks for a part of some row. */
const partOf = (rows: readonly (Row | undefined)[], keep: number): Asked[] =>
  rows.flatMap((one) =>
    one ? [{ ...one, values: [...one.values].filter((_, i) => (keep >> i) & 1), any: [], at: undefined }] : [],
  )

/** What every index must do. */
export function indexConformance(name: string, open: () => Promise<IndexKind>): void {
  describe(`index ${name}`, () => {
    let kind: IndexKind
    beforeAll(async () => {
      kind = await open()
    })

    it('finds nothing where there is nothing', () => {
      agree(kind.read(kind.build(tableOf([]))), [], fc.sample(asked, 10))
    })

    it('agrees with a plain filter', () => {
      fc.assert(
        fc.property(
          fc.array(row, { maxLength: 120 }),
          fc.array(asked, { maxLength: 20 }),
          fc.nat(15),
          (rows, queries, keep) => {
            agree(kind.read(kind.build(tableOf(rows))), rows, [...queries, ...partOf(rows, keep)])
          },
        ),
        { numRuns: 150 },
      )
    })

    it('agrees with a plain filter after any updates, and what was read before stays as it was', () => {
      const step = fc.oneof(
        fc.record({ op: fc.constant('add' as const), row }),
        fc.record({ op: fc.constant('change' as const), at: fc.nat(), row }),
        fc.record({ op: fc.constant('remove' as const), at: fc.nat() }),
      )
      fc.assert(
        fc.property(
          fc.array(row, { maxLength: 40 }),
          fc.array(fc.array(step, { minLength: 1, maxLength: 6 }), { maxLength: 5 }),
          fc.array(asked, { maxLength: 8 }),
          fc.nat(15),
          (first, rounds, queries, keep) => {
            const rows: (Row | undefined)[] = [...first]
            const segments: Segments = kind.build(tableOf(rows))
            let index = kind.read(segments)
            for (const steps of rounds) {
              const before = [...rows]
              const changes = new Map<number, RowChange>()
              for (const one of steps) {
                const number = one.op === 'add' || rows.length === 0 ? rows.length : one.at % rows.length
                // A row that is gone does not come back, and never changes its offering.
                if (one.op !== 'add' && !rows[number]) continue
                const after =
                  one.op === 'remove'
                    ? undefined
                    : { ...one.row, ...(one.op === 'change' && { offering: rows[number]!.offering }) }
                rows[number] = after
                changes.set(number, { row: number, before: before[number], after })
              }
              const real = [...changes.values()].filter(({ before: was, after }) => was ?? after)
              const changed = kind.update(segments, real)
              const next = index.with(changed)
              agree(index, before, [...queries, ...partOf(before, keep)])
              for (const [key, bytes] of changed) segments.set(key, bytes)
              agree(next, rows, [...queries, ...partOf(rows, keep)])
              agree(kind.read(segments), rows, queries)
              index = next
            }
          },
        ),
        { numRuns: 100 },
      )
    })

    it('lies in memory that threads share', () => {
      for (const bytes of kind.build(tableOf(fc.sample(row, 50))).values()) {
        expect(bytes.buffer).toBeInstanceOf(SharedArrayBuffer)
      }
    })
  })
}
