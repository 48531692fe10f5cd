import { defineErrors } from '@influencer-stats/runtime/problems'

/** What this service may answer besides what every service may. */
export const errors = defineErrors({
  QUERY_INVALID: { status: 400, title: 'The query string is not what this path takes' },
  CONDITION_INVALID: { status: 400, title: 'If-Match or If-None-Match is neither * nor a list of entity tags' },
  BATCH_LINE_INVALID: { status: 400, title: 'A line of the batch is not a change; nothing was applied' },
  ENTITY_NOT_FOUND: { status: 404, title: 'There is no value under this key' },
  CONDITION_FAILED: { status: 412, title: 'The value that is there does not meet the condition' },
  KEY_TOO_LARGE: { status: 413, title: 'The key is larger than 1,024 bytes' },
  VALUE_TOO_LARGE: { status: 413, title: 'The value is larger than allowed' },
  BATCH_TOO_LARGE: { status: 413, title: 'The batch is larger than allowed' },
  WRITE_QUEUE_FULL: { status: 503, title: 'More writes wait than the disk takes' },
  STORE_FAILED: { status: 503, title: 'The store takes no writes at present; reads go on' },
  DISK_FULL: { status: 507, title: 'The disk is full; reads go on' },
})
