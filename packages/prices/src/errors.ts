import { defineErrors } from '@influencer-stats/runtime/problems'

/** What this service may answer besides what every service may. */
export const errors = defineErrors({
  PRICE_NOT_FOUND: { status: 404, title: 'No price fits' },
  PRICES_AMBIGUOUS: { status: 409, title: 'Several prices fit, and none of them is the default' },
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
  IMPORT_LOST: { status: 409, title: 'The import was given up; nothing was imported' },
})
