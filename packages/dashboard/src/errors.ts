import { defineErrors } from '@influencer-stats/runtime/problems'

/** What this service may answer besides what every service may. */
export const errors = defineErrors({
  SIGN_IN_NEEDED: { status: 401, title: 'Sign in first' },
  TOKEN_WRONG: { status: 401, title: 'This is none of the tokens of this place' },
  ROUTE_REFUSED: { status: 403, title: 'Pages may not ask a service for this' },
  ORIGIN_UNKNOWN: { status: 403, title: 'A change must come from a page of this place' },
  LINK_UNKNOWN: { status: 404, title: 'There is no such link' },
  SERVICE_UNKNOWN: { status: 404, title: 'No such service is known here' },
  LINKS_FULL: { status: 409, title: 'As many links are out as there may be' },
  LINK_EXPIRED: { status: 410, title: 'This link is no longer valid' },
  SERVICE_UNREACHABLE: { status: 502, title: 'The service does not answer' },
  TOO_MANY_STREAMS: { status: 503, title: 'As many streams are open as there may be' },
  SERVICE_SLOW: { status: 504, title: 'The service took too long to answer' },
})
