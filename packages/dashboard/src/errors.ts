import { defineErrors } from '@influencer-stats/runtime/problems'

/** The errors of this service, in addition to the errors that all services share. */
export const errors = defineErrors({
  SIGN_IN_NEEDED: { status: 401, title: 'Sign-in required' },
  TOKEN_WRONG: { status: 401, title: 'Unknown token' },
  ROUTE_REFUSED: { status: 403, title: 'Route not available through the dashboard' },
  ORIGIN_UNKNOWN: { status: 403, title: 'Origin required' },
  // The same as in stats.
  COLLECTION_NOT_FOUND: { status: 404, title: 'Collection not found' },
  LINK_UNKNOWN: { status: 404, title: 'Unknown link' },
  VIEW_UNKNOWN: { status: 404, title: 'Unknown view' },
  SERVICE_UNKNOWN: { status: 404, title: 'Unknown service' },
  TOO_MANY_LINKS: { status: 409, title: 'Too many links' },
  TOO_MANY_VIEWS: { status: 409, title: 'Too many views' },
  VIEW_EXISTS: { status: 409, title: 'Another view has this name' },
  LINK_EXPIRED: { status: 410, title: 'Link no longer valid' },
  SERVICE_UNREACHABLE: { status: 502, title: 'Service does not respond' },
  TOO_MANY_STREAMS: { status: 503, title: 'Too many open streams' },
  SERVICE_SLOW: { status: 504, title: 'Service timeout' },
})
