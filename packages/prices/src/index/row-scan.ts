import { saturateEnd, saturateStart } from '../core/values/moment.ts'
import { ANY_TERM, type Choice, type SearchQuery } from '../core/search-query.ts'
import { NO_RANK, toRank } from './rank.ts'
import type { NumberedRow } from './offerings/offering-codec.ts'

/** A row for scans, with its values in a hash table. */
export interface ScannedRow extends Omit<NumberedRow, 'values'> {
  readonly values: ReadonlySet<number>
}

export const toScannedRow = (row: NumberedRow): ScannedRow => ({
  ...row,
  values: new Set(row.values),
  from: saturateStart(row.from),
  to: saturateEnd(row.to),
})

export const getRank = ({ isDefault, chars, from }: ScannedRow): number => (isDefault ? toRank(chars, from) : NO_RANK)

/** True if a row of the query's offering matches the query. */
export function isMatch(row: ScannedRow, { group, spec, values, count, choices, at }: SearchQuery): boolean {
  if (row.group !== group && group !== ANY_TERM) return false
  if (row.spec !== spec && spec !== ANY_TERM) return false
  for (let i = 0; i < count; i++) if (!row.values.has(values[i]!)) return false
  for (const choice of choices) if (!isChosen(row, choice)) return false
  return at === undefined || isValid(row, at)
}

/** Returns the conditions of `PriceIndex.explain`, one by one, without the offering. */
export const createTests = (
  { group, spec, at }: SearchQuery,
  choices: readonly Choice[],
): ((row: ScannedRow) => boolean)[] => [
  (row) => row.group === group,
  (row) => row.spec === spec,
  ...choices.map((choice) => (row: ScannedRow) => isChosen(row, choice)),
  ...(at === undefined ? [] : [(row: ScannedRow) => isValid(row, at)]),
]

function isChosen({ values }: ScannedRow, { char, getChar, accepts, isNegated }: Choice): boolean {
  let hasChar = false
  for (const term of values) {
    if (getChar(term) !== char) continue
    if (accepts(term)) return !isNegated
    hasChar = true
  }
  return hasChar && isNegated
}

const isValid = ({ from, to }: ScannedRow, at: number) => from <= at && at < to
