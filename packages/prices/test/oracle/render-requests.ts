import type { SeededRandom } from '@influencer-stats/runtime/testing/seeded-random'
import { JsonNumber, type Json } from './json-text.ts'
import type { ModelChange } from './model-changes.ts'
import type { ModelCondition, ModelQuery } from './model-conditions.ts'
import type { FacetQuery } from './model-facets.ts'
import { valueToJson } from './model-price.ts'
import type { AllOptions } from './model-search.ts'
import type { OracleRequest } from './oracle-client.ts'

const JSON_TYPE = 'application/json'
const LINES_TYPE = 'application/x-ndjson'

const toCondition = (random: SeededRandom, { char, op, value }: ModelCondition): Json => ({
  char,
  ...((op !== 'equals' || random.percent(20)) && { op }),
  value: valueToJson(value),
})

/** A decimal of a condition is a JSON number or a text. */
const toDecimal = (random: SeededRandom, text: string): Json => (random.percent(50) ? text : new JsonNumber(text))

/** Returns a query as the body of a search. */
export function toBody(
  random: SeededRandom,
  { charValues, minValue, maxValue, ...rest }: ModelQuery,
): Record<string, Json> {
  return {
    ...rest,
    charValues: charValues.map((condition) => toCondition(random, condition)),
    ...(minValue !== undefined && { minValue: toDecimal(random, minValue) }),
    ...(maxValue !== undefined && { maxValue: toDecimal(random, maxValue) }),
  }
}

function toQueryString(parameters: object): string {
  const known = Object.entries(parameters).filter(([, value]) => value !== undefined)
  return known.length === 0
    ? ''
    : `?${new URLSearchParams(known.map(([name, value]): [string, string] => [name, String(value)]))}`
}

const toSearchPath = (index: string) => `/v1/search/${index}/prices`

/** Draws the request of a search for one price. */
export function renderSearch(random: SeededRandom, query: ModelQuery, index: string, explain = false): OracleRequest {
  const id = random.percent(10) ? { id: random.pick<Json>(['a', new JsonNumber('7')]) } : {}
  const body = JSON.stringify({ ...id, ...toBody(random, query), ...(explain && { explain }) })
  return { method: 'POST', path: toSearchPath(index), type: JSON_TYPE, body }
}

/** Draws the request of a search for all prices. */
export function renderAll(random: SeededRandom, query: ModelQuery, index: string, options: AllOptions): OracleRequest {
  const { charValues, ...body } = toBody(random, query)
  const hasConditions = query.charValues.length > 0 || random.percent(50)
  return {
    method: 'POST',
    path: toSearchPath(index) + toQueryString({ all: true, ...options }),
    type: JSON_TYPE,
    body: JSON.stringify({ ...body, ...(hasConditions && { charValues }) }),
  }
}

/** An item of a bulk request. */
export interface BulkItem {
  readonly id: Json
  readonly query: ModelQuery
}

/** Draws a bulk request: items one after the other, or one array. */
export function renderBulk(random: SeededRandom, items: readonly BulkItem[], index: string): OracleRequest {
  const texts = items.map(({ id, query }) => {
    const body = toBody(random, query)
    return JSON.stringify(random.percent(50) ? { id, ...body } : { ...body, id })
  })
  const isArray = random.percent(40)
  const body = isArray ? `[${texts.join(random.pick([',', ' , ', ',\n']))}]` : texts.join(random.pick(['', '\n', ' ']))
  const isCompressed = random.percent(20)
  return {
    method: 'POST',
    path: `/v5/search/${index}/bulk/prices`,
    type: random.pick([JSON_TYPE, LINES_TYPE]),
    body,
    isCompressed,
  }
}

/** Returns the conditions of a query as parameters. */
function toParameters(random: SeededRandom, { charValues, ...rest }: ModelQuery): object {
  const conditions = charValues.map((condition) => toCondition(random, condition))
  return { ...rest, ...((conditions.length > 0 || random.percent(20)) && { charValues: JSON.stringify(conditions) }) }
}

/** Draws the request of a page of facets. */
export function renderFacets(
  random: SeededRandom,
  { part, ...query }: FacetQuery,
  page: { readonly index: string; readonly limit?: number; readonly after?: string },
): OracleRequest {
  return { method: 'GET', path: `/facets${toQueryString({ ...toParameters(random, query), q: part, ...page })}` }
}

const toPricePath = (id: string) => `/prices/${encodeURIComponent(id)}`

export const renderGet = (id: string): OracleRequest => ({ method: 'GET', path: toPricePath(id) })

export const renderExport = (options: {
  readonly after?: string
  readonly limit?: number
  readonly format?: 'csv'
}): OracleRequest => ({
  method: 'GET',
  path: `/prices${toQueryString(options)}`,
})

/** Draws the request of a change. */
export function renderChange(random: SeededRandom, change: ModelChange): OracleRequest {
  const isCompressed = random.percent(15)
  if (change.type === 'delete') return { method: 'DELETE', path: toPricePath(change.id) }
  if (change.type === 'import') {
    const { lines, csv, replace, empty } = change
    const options = { ...((replace || random.percent(20)) && { replace }), ...(empty && { empty }) }
    const body = csv ?? lines.map((line) => `${JSON.stringify(line)}${random.percent(5) ? '\n\n' : '\n'}`).join('')
    const type = csv === undefined ? LINES_TYPE : 'text/csv'
    return { method: 'POST', path: `/prices/import${toQueryString(options)}`, type, body, isCompressed }
  }
  if (change.type === 'remove-where') {
    const { query, dryRun, expected } = change
    const options = { ...toParameters(random, query), ...(!(dryRun && random.percent(50)) && { dryRun }), expected }
    return { method: 'DELETE', path: `/prices${toQueryString(options)}` }
  }
  const { id, body } = change
  const type = change.type === 'patch' && random.percent(50) ? 'application/merge-patch+json' : JSON_TYPE
  const method = change.type === 'put' ? 'PUT' : 'PATCH'
  return {
    method,
    path: toPricePath(id),
    type,
    body: JSON.stringify(body),
    isCompressed: isCompressed && method === 'PUT',
  }
}
