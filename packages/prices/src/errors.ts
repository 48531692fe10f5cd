import { errors as log } from '@influencer-stats/log/errors'
import { commonErrors } from '@influencer-stats/runtime/errors'
import { defineErrors, type Problem } from '@influencer-stats/runtime/problems'
import type { ResolveFailure } from './core/resolve-request.ts'

const pricesErrors = defineErrors({
  PRICE_NOT_FOUND: { status: 404, title: 'No price fits' },
  PRICES_AMBIGUOUS: { status: 409, title: 'Several prices fit, and none of them is the default' },
  QUERY_CLASH: { status: 409, title: 'Parameters of the query do not go together' },
  OFFERING_NOT_FOUND: { status: 404, title: 'No price has this offering' },
  GROUP_NOT_FOUND: { status: 404, title: 'No price has this group' },
  SPEC_NOT_FOUND: { status: 404, title: 'No price has this spec' },
  CHARACTERISTIC_NOT_FOUND: { status: 404, title: 'No price has this characteristic' },
  VALUE_NOT_FOUND: { status: 404, title: 'No price has this value of the characteristic' },
  VALUE_TYPE: { status: 400, title: 'The value is not of the type that the characteristic has' },
  TYPE_CONFLICT: { status: 409, title: 'Another price gave the characteristic values of another type' },
  CHARACTERISTIC_TWICE: { status: 409, title: 'A price has one value a characteristic' },
  DATES_REVERSED: { status: 409, title: 'The price ends before it begins' },
  INDEX_NOT_LOADED: { status: 404, title: 'This index is not among those that were built' },
  ID_MISMATCH: { status: 409, title: 'The id in the body is not that of the path' },
  ITEM_TOO_LARGE: { status: 413, title: 'An item is larger than allowed' },
  BAD_LINE: { status: 400, title: 'A line of the import is wrong; nothing was imported' },
  IMPORT_EMPTY: { status: 400, title: 'An import without a price would leave an empty catalog; `empty=true` does it' },
  CATALOG_FULL: { status: 413, title: 'The catalog would have more prices than allowed' },
  IMPORT_RUNNING: { status: 409, title: 'Another import is under way' },
  EXPORTS_RUNNING: { status: 503, title: 'As many exports are under way as there may be' },
  EXPORT_LOST: { status: 503, title: 'The export was given up' },
  IMPORT_LOST: { status: 409, title: 'The import was given up; nothing was imported' },
})

/** The errors of this service, in addition to those of all services. */
export const errors = {
  ...pricesErrors,
  LOG_UNAVAILABLE: log.LOG_UNAVAILABLE,
  LOG_BEHIND: log.LOG_BEHIND,
  OUTCOME_UNKNOWN: log.OUTCOME_UNKNOWN,
}

const failures = { ...errors, VALIDATION_FAILED: commonErrors.VALIDATION_FAILED }

/** Returns the problem for a request that cannot be converted into terms. */
export const toResolveProblem = ({ code, detail }: ResolveFailure): Problem => failures[code](detail)
