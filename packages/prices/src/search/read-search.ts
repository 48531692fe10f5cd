import { commonErrors } from '@influencer-stats/runtime/errors'
import { errors } from '../errors.ts'
import { parseJson, readBodyText } from './json-body.ts'
import type { SearchConditions, SearchRequest } from './search-request.ts'
import { getValidationError, isSearchAllRequest, isSearchRequest } from './search-schema.ts'

/**
 * Reads the body of a search for one price.
 * @throws Problem
 */
export function readSearch(body: Buffer): SearchRequest {
  const value = parseJson(readBodyText(body))
  if (!isSearchRequest(value)) throw commonErrors.VALIDATION_FAILED(getValidationError(isSearchRequest, 'body'))
  return value
}

/**
 * Reads the body of a search for all prices, in which every condition is optional.
 * @throws Problem
 */
export function readSearchAll(body: Buffer): SearchConditions {
  const value = parseJson(readBodyText(body))
  if (!isSearchAllRequest(value)) throw commonErrors.VALIDATION_FAILED(getValidationError(isSearchAllRequest, 'body'))
  const { explain = false, ...conditions } = value
  if (explain) throw errors.INCOMPATIBLE_PARAMETERS('explain needs all=false; received both explain and all=true')
  return { ...conditions, charValues: conditions.charValues ?? [] }
}
