import { ServiceError } from '@influencer-stats/runtime/service-error'
import { requestPrices } from '../../api.ts'
import {
  listConditions,
  removeCondition,
  toCharKey,
  type ConditionKey,
  type PriceCondition,
} from '../../core/prices/conditions.ts'
import type { ExactNumber } from '../../core/prices/exact-json.ts'
import type { PriceCharValue } from '../../core/prices/price-fields.ts'
import { toConditions, toFacetsQuery, type PriceQuery } from '../../core/prices/price-query.ts'
import type { ListOption, OptionPage } from '../../parts/use-options.ts'

/** Values that can still be chosen, with the number of prices that would remain. */
export interface FacetValues<T = string> {
  readonly values: readonly { readonly value: T; readonly count: number }[]
  readonly next?: string
}

/** A characteristic with the values that can still be chosen. */
export interface CharFacet extends FacetValues<PriceCharValue> {
  readonly char: string
  readonly type: string
  readonly min?: PriceCharValue
  readonly max?: PriceCharValue
}

/** The amounts of prices in one currency. */
export interface AmountRange {
  readonly currency: string
  readonly min: ExactNumber
  readonly max: ExactNumber
  readonly count: number
}

export interface FacetsReply {
  readonly count: number
  readonly offerings: FacetValues
  readonly groups: FacetValues
  readonly specs: FacetValues
  readonly characteristics: { readonly values: readonly CharFacet[]; readonly next?: string }
  readonly range?: readonly AmountRange[]
}

/** The names of lists in parameters and replies, by the condition that they change. */
export const LISTS = { offeringId: 'offerings', groupId: 'groups', priceSpecId: 'specs' } as const
export type ListKey = keyof typeof LISTS
export const LIST_KEYS = Object.keys(LISTS) as ListKey[]

type FacetOptions = Readonly<Record<string, string | undefined>>

/** @throws ServiceError */
export const requestFacets = (query: PriceQuery, today: string, options: FacetOptions) =>
  requestPrices<FacetsReply>('GET', `/facets?${toFacetsQuery(toConditions(query, today), options)}`)

/**
 * Reads the amounts of the prices that match all conditions except the currency, by currency. Their separate request does
 * not delay the lists: it reads every price that matches, which takes a second for 600,000.
 * @throws ServiceError
 */
export async function readRanges(query: PriceQuery, today: string): Promise<readonly AmountRange[]> {
  const options = { facet: 'specs', limit: '1', range: 'true' }
  return (await requestFacets({ ...query, currency: '' }, today, options)).range ?? []
}

/** The conditions that a code of prices names. */
const MISSING_NAMES: Readonly<Record<string, ListKey>> = {
  OFFERING_NOT_FOUND: 'offeringId',
  GROUP_NOT_FOUND: 'groupId',
  SPEC_NOT_FOUND: 'priceSpecId',
}
const MISSING_VALUE_CODES = new Set(['CHARACTERISTIC_NOT_FOUND', 'VALUE_NOT_FOUND', 'VALUE_TYPE'])

/** The facets of a selection without the conditions that no price can meet. */
export interface CheckedFacets {
  readonly facets: FacetsReply
  /** Conditions whose offering, group, spec, characteristic or value no longer exists. */
  readonly missing: readonly PriceCondition[]
}

/**
 * Reads facets. Conditions that name something that no longer exists are omitted, and returned.
 * @throws ServiceError
 */
export async function readFacets(query: PriceQuery, today: string, options: FacetOptions): Promise<CheckedFacets> {
  const missing: PriceCondition[] = []
  let checked = query
  for (;;) {
    try {
      return { facets: await requestFacets(checked, today, options), missing }
    } catch (error) {
      const found = error instanceof ServiceError ? await findMissing(error, checked) : []
      if (found.length === 0) throw error
      missing.push(...listConditions(checked, today).filter(({ key }) => found.includes(key)))
      for (const key of found) checked = removeCondition(checked, key)
    }
  }
}

async function findMissing({ code }: ServiceError, query: PriceQuery): Promise<ConditionKey[]> {
  const name = MISSING_NAMES[code]
  if (name) return query[name] ? [name] : []
  if (!MISSING_VALUE_CODES.has(code)) return []
  const checks = Object.entries(query.chars).map(async ([char, value]) => {
    const charValues = [{ char, value }]
    const isMissing = await requestPrices('GET', `/facets?${toFacetsQuery({ charValues }, { char, limit: '1' })}`).then(
      () => false,
      (error: unknown) => error instanceof ServiceError && MISSING_VALUE_CODES.has(error.code),
    )
    return isMissing ? [toCharKey(char)] : []
  })
  return (await Promise.all(checks)).flat()
}

/** Options of a list: values with their texts. */
export const toOptions = <T>(
  { values, next }: FacetValues<T>,
  toText: (value: T) => string,
): OptionPage<T> & { readonly options: readonly ListOption<T>[] } => ({
  options: values.map(({ value, count }) => ({ key: toText(value), text: toText(value), count, value })),
  next,
})
