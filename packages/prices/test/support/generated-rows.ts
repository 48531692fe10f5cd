import fc from 'fast-check'
import { expect } from 'vitest'
import {
  FacetCounts,
  GROUPS_FACET,
  OFFERINGS_FACET,
  SPECS_FACET,
  type FacetSelection,
} from '../../src/core/facet-selection.ts'
import { FIRST_MOMENT, LAST_MOMENT } from '../../src/core/values/moment.ts'
import { RowTable, type PriceRow } from '../../src/core/row-table.ts'
import { ANY_TERM, SearchQuery } from '../../src/core/search-query.ts'
import {
  findRow,
  findRows,
  NO_MATCH,
  toAmbiguous,
  type RowChange,
  type RowFinder,
} from '../../src/index/price-index.ts'

// Random rows, queries and changes of indexes, and plain filters as oracles.

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

export const row: fc.Arbitrary<PriceRow> = fc
  .record({
    offering,
    group,
    spec,
    // Some rows have lists, which are several values of a characteristic.
    chosen: fc.array(fc.oneof({ weight: 3, arbitrary: value.map((one) => [one]) }, fc.uniqueArray(value)), {
      minLength: CHAR_COUNT,
      maxLength: CHAR_COUNT,
    }),
    isDefault: fc.boolean().map((one) => one),
    dates: fc.option(fc.tuple(day, day), { nil: undefined, freq: 3 }),
  })
  .map(({ chosen, dates, ...rest }) => ({
    ...rest,
    values: chosen.flatMap((list, char) => list.map((one) => toTerm(char, one))),
    chars: chosen.filter((list) => list.length > 0).length,
    from: dates ? dates[0] : FIRST_MOMENT,
    to: dates ? dates[1] : LAST_MOMENT,
  }))

/** A characteristic, and the values of which a row must have one, or if negated another value and none of them. */
type ChoiceFields = readonly [char: number, accepted: readonly number[], isNegated: boolean]

/** A query as plain data. */
interface QueryFields {
  readonly offering: number
  readonly group: number
  readonly spec: number
  readonly values: readonly number[]
  readonly choices: readonly ChoiceFields[]
  readonly at: number | undefined
}

const anyTerm = fc
  .tuple(fc.integer({ min: 0, max: CHAR_COUNT - 1 }), fc.integer({ min: 0, max: VALUE_COUNT }))
  .map(([c, v]) =>
    // One value that no row has.
    v === VALUE_COUNT ? 9_000 : toTerm(c, v),
  )
const choice: fc.Arbitrary<ChoiceFields> = fc.tuple(
  fc.integer({ min: 0, max: CHAR_COUNT }),
  fc.array(anyTerm, { maxLength: 8 }),
  fc.boolean(),
)
function isChosen({ values }: PriceRow, [char, accepted, isNegated]: ChoiceFields): boolean {
  const own = [...values].filter((term) => getChar(term) === char)
  return own.length > 0 && own.some((term) => accepted.includes(term)) !== isNegated
}
export const searched: fc.Arbitrary<QueryFields> = fc.record({
  offering: fc.integer({ min: 0, max: 3 }),
  group: fc.integer({ min: 10, max: 13 }),
  spec,
  values: fc.array(anyTerm, { maxLength: 5 }),
  choices: fc.array(choice, { maxLength: 3 }),
  at: fc.option(day, { nil: undefined }),
})

const createConditions = ({ group: g, spec: s, choices, at }: QueryFields): ((one: PriceRow) => boolean)[] => [
  (one) => g === ANY_TERM || one.group === g,
  (one) => s === ANY_TERM || one.spec === s,
  ...choices.map((one) => (candidate: PriceRow) => isChosen(candidate, one)),
  ...(at === undefined ? [] : [(one: PriceRow) => one.from <= at && at < one.to]),
]

/** Orders default rows: the most characteristics, then the latest start. */
function compareDefaults(a: PriceRow, b: PriceRow): number {
  const countChars = ({ values }: PriceRow) => new Set([...values].map(getChar)).size
  if (countChars(a) !== countChars(b)) return countChars(b) - countChars(a)
  return a.from === b.from ? 0 : b.from > a.from ? 1 : -1
}

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
  const [best] = fitting.filter((number) => rows[number]!.isDefault).sort((a, b) => compareDefaults(rows[a]!, rows[b]!))
  const chosen = fitting.length === 1 ? fitting[0] : best
  return { found: chosen ?? toAmbiguous(fitting.length), fitting, left }
}

function toQuery({ values, choices, at, ...rest }: QueryFields): SearchQuery {
  const query = new SearchQuery()
  query.reset(rest.offering, rest.group, rest.spec)
  values.forEach((term, i) => (query.values[i] = term))
  query.count = values.length
  query.choices = choices.map(([char, accepted, isNegated]) => {
    return { char, getChar, accepts: (term) => accepted.includes(term), isNegated }
  })
  query.at = at
  return query
}

export function createTable(rows: readonly (PriceRow | undefined)[]): RowTable {
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
export const chosen: fc.Arbitrary<SelectionFields> = fc.record({
  offerings: some(fc.integer({ min: 0, max: 3 })),
  groups: some(group),
  specs: some(spec),
  choices: fc.array(choice, { maxLength: 2 }),
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
    [OFFERINGS_FACET, offerings, false] as const,
    [GROUPS_FACET, groups, false] as const,
    [SPECS_FACET, specs, false] as const,
    ...choices,
  ]
  const conditions = lists.flatMap(([facet, list, isNegated]) =>
    list ? [{ facet, accepts: (term: number) => list.includes(term), isNegated }] : [],
  )
  return { conditions, at, getFacet, isMultiple: (facet) => facet >= 0 }
}

/** The oracle: each facet separately, with plain filters. */
function countPlainly(rows: readonly (PriceRow | undefined)[], { conditions, at }: FacetSelection): FacetCounts {
  const counts = new FacetCounts(TERM_COUNT)
  const listTerms = (one: PriceRow) => [one.offering, one.group, one.spec, ...one.values]
  const valid = rows.filter((one) => one && (at === undefined || (one.from <= at && at < one.to))) as PriceRow[]
  const left = (except?: number) =>
    valid.filter((one) =>
      conditions.every(({ facet, accepts, isNegated }) => {
        const own = listTerms(one).filter((term) => getFacet(term) === facet)
        return facet === except || (own.length > 0 && own.some(accepts) !== isNegated)
      }),
    )
  counts.total = left().length
  for (let term = 0; term < TERM_COUNT; term++)
    counts.byTerm[term] = left(getFacet(term)).filter((one) => listTerms(one).includes(term)).length
  return counts
}

const isEven = (row: number) => row % 2 === 0
const dropOddRows = (rows: readonly (PriceRow | undefined)[]) => rows.map((one, row) => (isEven(row) ? one : undefined))

export async function expectCounts(
  index: RowFinder,
  rows: readonly (PriceRow | undefined)[],
  some: readonly SelectionFields[],
) {
  for (const one of some) {
    const selection = toSelection(one)
    const counts = new FacetCounts(TERM_COUNT)
    await index.count(selection, counts)
    expect(counts).toEqual(countPlainly(rows, selection))
    const tested = new FacetCounts(TERM_COUNT)
    await index.count({ ...selection, test: isEven }, tested)
    expect(tested).toEqual(countPlainly(dropOddRows(rows), selection))
  }
}

export function expectAgreement(
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
    searched.test = isEven
    const tested = filter(dropOddRows(rows), query)
    expect(findRow(index, searched)).toBe(tested.found)
    expect(findRows(index, searched).sort((a, b) => a - b)).toEqual(tested.fitting)
    for (const any of [{ group: ANY_TERM }, { spec: ANY_TERM }, { group: ANY_TERM, spec: ANY_TERM }]) {
      const partial = { ...query, ...any }
      expect(findRows(index, toQuery(partial)).sort((a, b) => a - b)).toEqual(filter(rows, partial).fitting)
    }
  }
}

/** Queries with matches: each names a part of some row. */
export const createMatchingQueries = (rows: readonly (PriceRow | undefined)[], mask: number): QueryFields[] =>
  rows.flatMap((one) =>
    one ? [{ ...one, values: [...one.values].filter((_, i) => (mask >> i) & 1), choices: [], at: undefined }] : [],
  )

export const step = fc.oneof(
  fc.record({ op: fc.constant('add' as const), row }),
  fc.record({ op: fc.constant('change' as const), at: fc.nat(), row }),
  fc.record({ op: fc.constant('remove' as const), at: fc.nat() }),
)
type RowStep = typeof step extends fc.Arbitrary<infer T> ? T : never

/** The result of some steps. A removed row does not return, and a row never changes its offering. */
export function applySteps(rows: readonly (PriceRow | undefined)[], steps: readonly RowStep[]) {
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
