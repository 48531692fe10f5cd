import { GoogleError, googleErrors } from '../core/google-errors.ts'
import { parseFields } from '../core/field-mask.ts'
import type { ListQuery } from './list-query.ts'
import { createListShape } from './list-shape.ts'
import type { ListResource } from './list-resource.ts'
import { parsePageToken, type PageToken } from './page-token.ts'

/** One call, parsed from its query string. */
export interface ListCall {
  /** The parameter `key`; undefined if it is absent or empty. The key may then be in the header `x-goog-api-key`. */
  readonly key: string | undefined
  /** Number of ids in the request; a repeated id counts each time. */
  readonly idCount: number
  /** True if the JSON of the reply is indented, which is Google's default. */
  readonly pretty: boolean
  /** The query, or the error that it causes. */
  readonly query: ListQuery | GoogleError
}

/** Maximum number of ids of a call. */
export const MAX_IDS = 50
/** Maximum and default number of items of a page. */
export const MAX_RESULTS = 50
const DEFAULT_RESULTS = 5

/** Parameters of all Google APIs. */
const COMMON_PARAMETERS = [
  'part',
  '$.xgafv',
  'access_token',
  'alt',
  'fields',
  'key',
  'oauth_token',
  'prettyPrint',
  'quotaUser',
  'uploadType',
  'upload_protocol',
  'userIp',
]

/** Parses a query string. An error in it is part of the result and not thrown, because the API key is checked first. */
export function parseCall(resource: ListResource<any>, text: string): ListCall {
  const params = new URLSearchParams(text)
  const ids = getListParameter(params, 'id').filter((id) => id !== '')
  const call = {
    key: params.get('key') || undefined,
    idCount: ids.length,
    pretty: params.get('prettyPrint') !== 'false',
  }
  try {
    return { ...call, query: parseQuery(resource, params, ids) }
  } catch (problem) {
    if (!(problem instanceof GoogleError)) throw problem
    return { ...call, query: problem }
  }
}

/**
 * Returns all values of a parameter. Google's clients send several values in one parameter, separated by commas, or
 * repeat the parameter.
 */
const getListParameter = (params: URLSearchParams, name: string) =>
  params.getAll(name).flatMap((value) => value.split(','))

function parseQuery(resource: ListResource<any>, params: URLSearchParams, ids: readonly string[]): ListQuery {
  for (const name of params.keys())
    if (![COMMON_PARAMETERS, resource.filters, resource.parameters].some((known) => known.includes(name)))
      throw googleErrors.PARAMETER_UNEXPECTED(undefined, name)
  checkAllowedValue(params, 'alt', ['json'])
  checkAllowedValue(params, 'prettyPrint', ['true', 'false'])
  const maxResults = parseMaxResults(params)
  const parts = parseParts(resource, params)
  const filter = parseFilter(resource, params)
  if (ids.length > MAX_IDS) throw googleErrors.FILTERS_INVALID()
  const fields = params.get('fields')
  return {
    filter,
    ids: filter === 'id' ? [...new Set(ids)] : [params.get(filter)!],
    videoId: params.get('videoId') || undefined,
    maxResults,
    pageToken: parseToken(params),
    parts,
    mask: fields ? parseFields(fields, createListShape(resource.shape)) : 'all',
  }
}

function checkAllowedValue(params: URLSearchParams, name: string, values: readonly string[]): void {
  const wrong = params.getAll(name).find((value) => !values.includes(value))
  if (wrong !== undefined) throw googleErrors.PARAMETER_INVALID(`Invalid value '${wrong}'`, name)
}

function parseMaxResults(params: URLSearchParams): number {
  const text = params.get('maxResults')
  if (text === null) return DEFAULT_RESULTS
  const value = /^-?\d{1,10}$/.test(text) ? Number(text) : Number.NaN
  if (value >= 0 && value <= MAX_RESULTS) return value
  const range = Number.isNaN(value) ? '' : `. Values must be within the range: [0, ${MAX_RESULTS}]`
  throw googleErrors.PARAMETER_INVALID(`Invalid value '${text}'${range}`, 'maxResults')
}

function parseToken(params: URLSearchParams): PageToken | undefined {
  const text = params.get('pageToken')
  if (!text) return undefined
  const token = parsePageToken(text)
  if (!token) throw googleErrors.PAGE_TOKEN_INVALID()
  return token
}

function parseParts(resource: ListResource<any>, params: URLSearchParams): Set<string> {
  if (!params.getAll('part').some((value) => value.trim() !== '')) throw googleErrors.PART_MISSING()
  const parts = new Set(getListParameter(params, 'part').map((part) => part.trim()))
  for (const part of parts) {
    if (Object.hasOwn(resource.ownerParts, part)) throw resource.ownerParts[part]!()
    if (!resource.partsWithoutContent.has(part) && !Object.hasOwn(resource.partBuilders, part))
      throw googleErrors.PART_UNKNOWN(`'${part}'`)
  }
  return parts
}

function parseFilter({ filters, refusedFilters }: ListResource<any>, params: URLSearchParams): string {
  const given = filters.filter((name) => params.getAll(name).some((value) => value !== ''))
  if (given.length === 0)
    throw googleErrors.FILTER_MISSING(`No filter selected. Expected one of: ${filters.join(', ')}`)
  if (given.length > 1) throw googleErrors.FILTERS_INCOMPATIBLE()
  const [filter] = given
  if (Object.hasOwn(refusedFilters, filter!)) throw refusedFilters[filter!]!()
  return filter!
}
