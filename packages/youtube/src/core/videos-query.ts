import { GoogleError, googleErrors } from './google-errors.ts'
import { parseFields, type FieldMask } from './field-mask.ts'
import { partBuilders, OWNER_PARTS, PARTS_WITHOUT_CONTENT } from './video-parts.ts'
import { listShape } from './list-shape.ts'

/** The videos and parts of a query. */
export interface VideoQuery {
  /** In the order of the request, each once. */
  readonly ids: readonly string[]
  readonly parts: ReadonlySet<string>
  readonly mask: FieldMask
}

/** One call, parsed from its query string. */
export interface VideosCall {
  /** The parameter `key`; undefined if it is absent or empty. The key may then be in the header `x-goog-api-key`. */
  readonly key: string | undefined
  /** Number of ids in the request; a repeated id counts each time. */
  readonly idCount: number
  /** True if the JSON of the reply is indented, which is Google's default. */
  readonly pretty: boolean
  /** The query, or the error that it causes. */
  readonly query: VideoQuery | GoogleError
}

/** Maximum number of ids of a call. */
export const MAX_IDS = 50

const FILTERS = ['chart', 'id', 'myRating']
// Parameters of `videos.list` and of all Google APIs.
const KNOWN_PARAMETERS = new Set([
  ...FILTERS,
  'part',
  'hl',
  'locale',
  'maxHeight',
  'maxResults',
  'maxWidth',
  'onBehalfOfContentOwner',
  'pageToken',
  'regionCode',
  'videoCategoryId',
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
])

/** Parses a query string. An error in it is part of the result and not thrown, because the API key is checked first. */
export function parseCall(text: string): VideosCall {
  const params = new URLSearchParams(text)
  const ids = getListParameter(params, 'id').filter((id) => id !== '')
  const call = {
    key: params.get('key') || undefined,
    idCount: ids.length,
    pretty: params.get('prettyPrint') !== 'false',
  }
  try {
    return { ...call, query: parseQuery(params, ids) }
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

function parseQuery(params: URLSearchParams, ids: readonly string[]): VideoQuery {
  for (const name of params.keys())
    if (!KNOWN_PARAMETERS.has(name)) throw googleErrors.PARAMETER_UNEXPECTED(undefined, name)
  checkAllowedValue(params, 'alt', ['json'])
  checkAllowedValue(params, 'prettyPrint', ['true', 'false'])
  const parts = parseParts(params)
  checkFilters(params)
  if (ids.length > MAX_IDS) throw googleErrors.FILTERS_INVALID()
  const fields = params.get('fields')
  return { ids: [...new Set(ids)], parts, mask: fields ? parseFields(fields, listShape) : 'all' }
}

function checkAllowedValue(params: URLSearchParams, name: string, values: readonly string[]): void {
  const wrong = params.getAll(name).find((value) => !values.includes(value))
  if (wrong !== undefined) throw googleErrors.PARAMETER_INVALID(`Invalid value '${wrong}'`, name)
}

function parseParts(params: URLSearchParams): Set<string> {
  if (!params.getAll('part').some((value) => value.trim() !== '')) throw googleErrors.PART_MISSING()
  const parts = new Set(getListParameter(params, 'part').map((part) => part.trim()))
  for (const part of parts) {
    if (OWNER_PARTS.has(part)) throw googleErrors.PART_FORBIDDEN()
    if (!PARTS_WITHOUT_CONTENT.has(part) && !Object.hasOwn(partBuilders, part))
      throw googleErrors.PART_UNKNOWN(`'${part}'`)
  }
  return parts
}

function checkFilters(params: URLSearchParams): void {
  const given = FILTERS.filter((name) => params.getAll(name).some((value) => value !== ''))
  if (given.length === 0) throw googleErrors.FILTER_MISSING()
  if (given.length > 1) throw googleErrors.FILTERS_INCOMPATIBLE()
  if (given[0] === 'chart') throw googleErrors.CHART_NOT_FOUND()
  if (given[0] === 'myRating') throw googleErrors.LOGIN_REQUIRED()
}
