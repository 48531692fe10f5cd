import { errors as log } from '@influencer-stats/log/errors'
import { commonErrors as house } from '@influencer-stats/runtime/errors'
import { defineErrors } from '@influencer-stats/runtime/problems'

const statsErrors = defineErrors({
  COLLECTION_NOT_FOUND: { status: 404, title: 'There is no such collection' },
  VIDEO_NOT_IN_COLLECTION: { status: 404, title: 'The collection does not have this video' },
  COLLECTION_FULL: { status: 409, title: 'The collection has as many videos as it may have' },
  DATES_REVERSED: { status: 409, title: 'The campaign ends before it begins' },
  CURSOR_UNKNOWN: { status: 409, title: 'No page in this order has ended there' },
  STATE_UNAVAILABLE: { status: 503, title: 'The service that keeps the collections cannot be used at present' },
  OUTCOME_UNKNOWN: { status: 503, title: 'The change may have been made, and will be once that can be known' },
  UPSTREAM_UNAVAILABLE: { status: 503, title: 'YouTube gave no numbers, and none are known yet' },
  STATS_NOT_READY: { status: 503, title: 'The numbers have not been fetched yet' },
})

/** What this service may answer besides what every service may. */
export const errors = {
  ...statsErrors,
  LOG_UNAVAILABLE: log.LOG_UNAVAILABLE,
  CONDITION_FAILED: house.CONDITION_FAILED,
  CONDITION_INVALID: house.CONDITION_INVALID,
  CONDITION_UNSUPPORTED: house.CONDITION_UNSUPPORTED,
}
