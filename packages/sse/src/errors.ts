import { defineErrors } from '@influencer-stats/runtime/problems'

/** What this service may answer besides what every service may. */
export const errors = defineErrors({
  VALUE_NOT_UTF8: { status: 400, title: 'The value is not UTF-8' },
  VALUE_TWICE: { status: 409, title: 'The value came both as a parameter and as a body' },
  VALUE_NOT_FOUND: { status: 404, title: 'The topic has no value' },
  TOO_MANY_STREAMS: { status: 503, title: 'As many streams are open as there may be' },
  FALLEN_BEHIND: { status: 503, title: 'Values come faster than they can be brought to all threads' },
})
