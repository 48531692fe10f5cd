import { commonErrors } from '@influencer-stats/runtime/errors'
import { formatReceived } from '@influencer-stats/runtime/received-value'
import type { TextFilter } from './text-filter.ts'
import { TopN } from '../../core/collections/top-n.ts'
import type { ValueOrder } from './value-order.ts'
import { formatValue, isRange, type TermValue } from '../../core/values/term-value.ts'

/** A part of a list, and the cursor of the next part. */
export interface FacetPage<T> {
  readonly values: readonly T[]
  readonly next?: string
}

export interface FacetValue {
  readonly value: TermValue
  /** Number of matching prices if this value replaces the selection of its list. */
  readonly count: number
}

/** The smallest and the largest value of a characteristic, and the unit of all its values. */
export interface ValueRange {
  readonly unit?: string
  readonly min?: TermValue
  readonly max?: TermValue
}

/** The orders of a list: by value, or the highest count first. */
export const FACET_SORTS = ['name', 'count'] as const

export interface FacetListOptions {
  readonly order: ValueOrder
  readonly sort: (typeof FACET_SORTS)[number]
  /** Maximum number of values of a page. */
  readonly limit: number
  /** The cursor `next` of the previous page. */
  readonly after: string | undefined
  /** Accepts the texts of the values to return. */
  readonly accepts: TextFilter | undefined
  /** True if the list has all its values if `accepts` accepts none of them, because it accepts the name of the list. */
  readonly isNamed: boolean
}

const COUNT_CURSOR = /^(\d{1,10}):(.*)$/s

/** Collects one page of the values of a list, and the range of all its values. */
export class FacetList {
  readonly #options: FacetListOptions
  readonly #compare: (a: FacetValue, b: FacetValue) => number
  readonly #after: FacetValue | undefined
  readonly #accepted: TopN<FacetValue>
  readonly #others: TopN<FacetValue>
  #hasAccepted = false
  #min: TermValue | undefined
  #max: TermValue | undefined

  /** @throws Problem `VALIDATION_FAILED` for an invalid cursor */
  constructor(options: FacetListOptions) {
    const { order, sort, limit, after } = options
    const compareNames = (a: FacetValue, b: FacetValue) => order.compare(a.value, b.value)
    this.#options = options
    this.#compare = sort === 'name' ? compareNames : (a, b) => b.count - a.count || compareNames(a, b)
    this.#after = after === undefined ? undefined : parseCursor(after, options)
    this.#accepted = new TopN(limit, this.#compare)
    this.#others = new TopN(limit, this.#compare)
  }

  add(value: TermValue, count: number): void {
    const { order, accepts, isNamed } = this.#options
    if (order.hasRange) {
      const [low, high] = isRange(value) ? [value.from ?? -Infinity, value.to ?? Infinity] : [value, value]
      if (this.#min === undefined || order.compare(low, this.#min) < 0) this.#min = low
      if (this.#max === undefined || order.compare(high, this.#max) > 0) this.#max = high
    }
    const isAccepted = !accepts || accepts(formatValue(value))
    if (isAccepted) this.#hasAccepted = true
    else if (!isNamed || this.#hasAccepted) return
    const one = { value, count }
    if (this.#after && this.#compare(one, this.#after) <= 0) return
    const values = isAccepted ? this.#accepted : this.#others
    values.add(one)
  }

  toPage(): FacetPage<FacetValue> & ValueRange {
    const { order, sort, isNamed } = this.#options
    const values = this.#hasAccepted || !isNamed ? this.#accepted : this.#others
    return {
      ...(this.#min !== undefined && order.unit && { unit: order.unit }),
      // A range without an end has no limit.
      ...(this.#min !== undefined && this.#min !== -Infinity && { min: this.#min }),
      ...(this.#max !== undefined && this.#max !== Infinity && { max: this.#max }),
      ...toPage(values, ({ value, count }) => (sort === 'name' ? '' : `${count}:`) + order.format(value)),
    }
  }
}

function parseCursor(text: string, { order, sort }: FacetListOptions): FacetValue {
  if (sort === 'name') return { value: order.parse(text), count: 0 }
  const [, count, value] = COUNT_CURSOR.exec(text) ?? []
  if (value === undefined)
    throw commonErrors.VALIDATION_FAILED(
      `querystring/after must be the next of a page with sort=count, such as 12:MRC; received ${formatReceived(text)}`,
    )
  return { value: order.parse(value), count: Number(count) }
}

/** @param format returns the cursor of a value */
export function toPage<T>(values: TopN<T>, format: (one: T) => string): FacetPage<T> {
  const { list, more } = values.take()
  return { values: list, ...(more && { next: format(list.at(-1)!) }) }
}
