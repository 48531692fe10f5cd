import { errors as log } from '@influencer-stats/log/errors'
import { defineErrors, type Problem } from '@influencer-stats/runtime/problems'
import type { ResolveFailure } from './search/resolve-request.ts'

const pricesErrors = defineErrors({
  PRICE_NOT_FOUND: { status: 404, title: 'Price not found' },
  PRICES_AMBIGUOUS: { status: 409, title: 'Several prices match, and none is the default' },
  INCOMPATIBLE_PARAMETERS: { status: 409, title: 'Incompatible query parameters' },
  OFFERING_NOT_FOUND: { status: 404, title: 'Offering not found' },
  GROUP_NOT_FOUND: { status: 404, title: 'Group not found' },
  SPEC_NOT_FOUND: { status: 404, title: 'Spec not found' },
  CHARACTERISTIC_NOT_FOUND: { status: 404, title: 'Characteristic not found' },
  VALUE_NOT_FOUND: { status: 404, title: 'Value of the characteristic not found' },
  VALUE_TYPE: { status: 400, title: 'Value type does not match the characteristic' },
  TYPE_CONFLICT: { status: 409, title: 'Type conflict with another price' },
  DUPLICATE_CHARACTERISTIC: { status: 409, title: 'Duplicate characteristic' },
  VALUE_NOT_STORABLE: { status: 400, title: 'Value cannot be stored exactly' },
  INVALID_DATE_RANGE: { status: 409, title: 'Invalid date range: end before start' },
  INDEX_NOT_LOADED: { status: 404, title: 'Index not loaded' },
  ID_MISMATCH: { status: 409, title: 'Id of the body differs from the path' },
  ITEM_TOO_LARGE: { status: 413, title: 'Item too large' },
  BAD_LINE: { status: 400, title: 'Invalid line in the import; nothing was imported' },
  CONDITION_MISSING: { status: 400, title: 'Condition missing; nothing was deleted' },
  MATCH_COUNT: { status: 409, title: 'Another number of prices matches; nothing was deleted' },
  IMPORT_EMPTY: { status: 400, title: 'Empty import: add `empty=true` to remove all prices' },
  CATALOG_FULL: { status: 413, title: 'Catalog full' },
  IMPORT_RUNNING: { status: 409, title: 'Import already in progress' },
  TOO_MANY_EXPORTS: { status: 503, title: 'Too many exports in progress' },
  EXPORT_LOST: { status: 503, title: 'Export aborted' },
  TOO_MANY_COLUMNS: { status: 409, title: 'Too many characteristics for a CSV file' },
  IMPORT_LOST: { status: 409, title: 'Import aborted; nothing was imported' },
})

/** The errors of this service, in addition to those of all services. */
export const errors = {
  ...pricesErrors,
  LOG_UNAVAILABLE: log.LOG_UNAVAILABLE,
  SEQUENCE_WAIT_TIMEOUT: log.SEQUENCE_WAIT_TIMEOUT,
  OUTCOME_UNKNOWN: log.OUTCOME_UNKNOWN,
}

/** Returns the problem for a request that cannot be converted into terms. */
export const toResolveProblem = ({ code, detail }: ResolveFailure): Problem => errors[code](detail)

/** @throws Problem `MATCH_COUNT` if not the expected number of prices matches */
export function checkMatchCount(matched: number, expected = matched): void {
  if (matched !== expected) throw errors.MATCH_COUNT(`expected must be ${matched}; received ${expected}`)
}

/** The refusals of conditions with names or values that no price has. */
export const unknownNameErrors = [
  errors.OFFERING_NOT_FOUND,
  errors.GROUP_NOT_FOUND,
  errors.SPEC_NOT_FOUND,
  errors.CHARACTERISTIC_NOT_FOUND,
  errors.VALUE_NOT_FOUND,
]
