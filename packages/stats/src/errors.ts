import { errors as log } from '@influencer-stats/log/errors'
import { commonErrors } from '@influencer-stats/runtime/errors'
import { defineErrors } from '@influencer-stats/runtime/problems'

const statsErrors = defineErrors({
  COLLECTION_NOT_FOUND: { status: 404, title: 'Collection not found' },
  NOT_IN_TRASH: { status: 404, title: 'Collection not in the trash' },
  CREATOR_NOT_FOUND: { status: 404, title: 'Creator not found' },
  VIDEO_NOT_IN_COLLECTION: { status: 404, title: 'Video not in the collection' },
  POST_NOT_FOUND: { status: 404, title: 'Post not in the collection' },
  NUMBERS_NOT_FOUND: { status: 404, title: 'No numbers of this time' },
  COLLECTION_FULL: { status: 409, title: 'Collection full' },
  TOO_MANY_TAGS: { status: 409, title: 'Too many tags' },
  SOURCE_NOT_FOUND: { status: 422, title: 'Channel or playlist not found on YouTube' },
  INVALID_DATE_RANGE: { status: 409, title: 'Invalid date range: end before start' },
  COST_AMBIGUOUS: { status: 409, title: 'Ambiguous cost: one cost, or one fee per creator' },
  ZONE_UNKNOWN: { status: 400, title: 'Unknown time zone' },
  PLATFORM_MISMATCH: { status: 409, title: 'Link of another platform' },
  DUPLICATE_POST: { status: 409, title: 'Link of another post of the collection' },
  TOO_MANY_POSTS: { status: 409, title: 'Too many posts' },
  TOO_MANY_NUMBERS: { status: 409, title: 'Too many numbers of a post' },
  NO_NUMBERS: { status: 409, title: 'No count' },
  NUMBERS_IN_FUTURE: { status: 409, title: 'Time of numbers in the future' },
  INVALID_CURSOR: { status: 409, title: 'Invalid cursor' },
  CAMPAIGN_FILE_INVALID: { status: 400, title: 'Not a file of campaigns' },
  IMPORT_LINE_INVALID: { status: 400, title: 'Invalid line of an import; nothing was applied' },
  IMPORT_NOT_SUPPORTED: { status: 409, title: 'Import and export need --state level' },
  STATE_UNAVAILABLE: { status: 503, title: 'Store of collections unavailable' },
  OUTCOME_UNKNOWN: { status: 503, title: 'Outcome unknown: the write may still be applied' },
  UPSTREAM_UNAVAILABLE: { status: 503, title: 'YouTube unavailable, and no numbers are known yet' },
  STATS_NOT_READY: { status: 503, title: 'Numbers not fetched yet' },
})

/** Error codes of this service, in addition to those of every service. */
export const errors = {
  ...statsErrors,
  LOG_UNAVAILABLE: log.LOG_UNAVAILABLE,
  CONDITION_FAILED: commonErrors.CONDITION_FAILED,
  CONDITION_INVALID: commonErrors.CONDITION_INVALID,
  CONDITION_UNSUPPORTED: commonErrors.CONDITION_UNSUPPORTED,
}
