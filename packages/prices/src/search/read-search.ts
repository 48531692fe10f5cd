import { commonErrors } from '@influencer-stats/runtime/errors'
import { errors } from '../errors.ts'
import { findNumberSource, parseJson, readBodyText } from './json-body.ts'
import { readAmount } from './row-tests.ts'
import type { SearchConditions, SearchRequest } from './search-request.ts'
import { getValidationError, isSearchAllRequest, isSearchRequest } from './search-schema.ts'

/**
 * Reads the body of a search for one price.
 * @throws Problem
 */
export function readSearch(body: Buffer): SearchRequest {
  const text = readBodyText(body)
  const value = parseJson(text)
  if (!isSearchRequest(value)) throw commonErrors.VALIDATION_FAILED(getValidationError(isSearchRequest, 'body'))
  return toExactSearch(value, text)
}

/**
 * Reads the body of a search for all prices, in which every condition is optional.
 * @throws Problem
 */
export function readSearchAll(body: Buffer): SearchConditions {
  const text = readBodyText(body)
  const value = parseJson(text)
  if (!isSearchAllRequest(value)) throw commonErrors.VALIDATION_FAILED(getValidationError(isSearchAllRequest, 'body'))
  const { explain = false, ...conditions } = toExactSearch(value, text)
  if (explain) throw errors.INCOMPATIBLE_PARAMETERS('explain needs all=false; received both explain and all=true')
  return { ...conditions, charValues: conditions.charValues ?? [] }
}

/**
 * Returns a search with its exact decimals: `JSON.parse` rounds numbers.
 * @param json its source
 * @throws Problem `VALIDATION_FAILED`
 */
export function toExactSearch<Search extends Partial<SearchRequest>>(search: Search, json: string): Search {
  const fields = (['minValue', 'maxValue'] as const).filter((field) => search[field] !== undefined)
  if (fields.length === 0) return search
  const amounts = fields.map((field) => {
    const value = search[field]!
    return [field, readAmount(typeof value === 'string' ? value : findNumberSource(json, field), `body/${field}`)]
  })
  return { ...search, ...Object.fromEntries(amounts) }
}
