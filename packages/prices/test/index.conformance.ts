import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { FIRST_DAY, LAST_DAY } from '../src/core/dates.ts'
import { Query } from '../src/core/query.ts'
import { RowTable, type Row } from '../src/core/rows.ts'
import { ambiguous, NONE, type IndexKind, type PriceIndex, type RowChange, type Segments } from '../src/index/index.ts'

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
function filter(rows: readonly (Row | undefined)[], query: Asked): { found: number; left: number[] } {
  let fitting = rows.flatMap((one, number) => (one?.offering === query.offering ? [number] : []))
  const left = [fitting.length]
  for (const fits of conditionsOf(query)) {
    fitting = fitting.filter((number) => fits(rows[number]!))
    left.push(fitting.length)
  }
  fitting = fitting.filter((number) => query.values.every((term) => rows[number]!.values.includes(term)))
  if (fitting.length === 0) return { found: NONE, left }
  const chosen = fitting.length === 1 ? fitting[0] : fitting.find((number) => rows[number]!.isDefault)
  return { found: chosen ?? ambiguous(fitting.length), left }
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

function agree(index: PriceIndex, rows: readonly (Row | undefined)[], queries: readonly Asked[]): void {
  for (const query of queries) {
    const { found, left } = filter(rows, query)
    const asked = toQuery(query)
    expect(index.find(asked)).toBe(found)
    expect(index.left(asked, asked.choices)).toEqual(left)
  }
}

/** Queries that hit: each asks for a part of some row. */
const partOf = (rows: readonly (Row | undefined)[], keep: number): Asked[] =>
  rows.flatMap((one) =>
    one ? [{ ...one, values: [...one.values].filter((_, i) => (keep >> i) & 1), choices: [], at: undefined }] : [],
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
