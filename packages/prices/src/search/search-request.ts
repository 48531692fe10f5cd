import type { Amount } from '../core/values/amount.ts'
import type { TermValue } from '../core/values/term-value.ts'

export type SearchCondition =
  | { readonly char: string; readonly op?: 'equals' | 'not'; readonly value: TermValue }
  | { readonly char: string; readonly op: 'in' | 'notIn' | 'between'; readonly value: readonly TermValue[] }

/** The body of a search. */
export interface SearchRequest {
  /** An id of the client, which the service ignores in a single search. */
  readonly id?: string | number
  readonly offeringId: string
  readonly groupId: string
  readonly priceSpecId: string
  readonly charValues: readonly SearchCondition[]
  /** The moment at which the price must be valid: a date, which is its first minute in UTC, a time with a zone, or `now`. */
  readonly at?: string
  readonly currency?: string
  /** The smallest and the largest value, both included: decimals, as texts if a double cannot hold them. */
  readonly minValue?: Amount
  readonly maxValue?: Amount
  readonly explain?: boolean
}

/** The conditions of a search. All except those on characteristics may be absent. */
export type SearchConditions = Partial<Omit<SearchRequest, 'id' | 'charValues' | 'explain'>> &
  Pick<SearchRequest, 'charValues'>
