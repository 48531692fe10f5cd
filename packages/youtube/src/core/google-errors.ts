/** Fields of Google's error objects. */
export interface GoogleErrorEntry {
  readonly status: number
  readonly domain: string
  readonly reason: string
  readonly message: string
  readonly location?: string
  readonly locationType?: 'parameter' | 'header' | 'other'
}

/** An error reply of Google's API. */
export class GoogleError extends Error {
  readonly entry: GoogleErrorEntry

  constructor(entry: GoogleErrorEntry) {
    super(entry.message)
    this.name = 'GoogleError'
    this.entry = entry
  }

  get status(): number {
    return this.entry.status
  }
}

/**
 * A kind of error: its fields, and a function that creates an error of the kind. `message` and `location` replace the
 * fields of the kind if they depend on the request.
 */
export type GoogleErrorKind = GoogleErrorEntry & { (message?: string, location?: string): GoogleError }

function defineErrorKind(entry: GoogleErrorEntry): GoogleErrorKind {
  const create = (message = entry.message, location = entry.location) =>
    new GoogleError(location === undefined ? { ...entry, message } : { ...entry, message, location })
  return Object.assign(create, entry)
}

const parameter = { status: 400, locationType: 'parameter' } as const

/** The error replies of the methods `list`. */
export const googleErrors = {
  KEY_INVALID: defineErrorKind({ status: 400, domain: 'usageLimits', reason: 'keyInvalid', message: 'Bad Request' }),
  QUOTA_EXCEEDED: defineErrorKind({
    status: 403,
    domain: 'youtube.quota',
    reason: 'quotaExceeded',
    message:
      'The request cannot be completed because you have exceeded your <a href="/youtube/v3/getting-started#quota">quota</a>.',
  }),
  PART_MISSING: defineErrorKind({
    ...parameter,
    domain: 'youtube.parameter',
    reason: 'missingRequiredParameter',
    message: 'Required parameter: part',
    location: 'part',
  }),
  PART_UNKNOWN: defineErrorKind({
    ...parameter,
    domain: 'youtube.part',
    reason: 'unknownPart',
    // Always replaced by the name of the unknown part, in quotes.
    message: "''",
    location: 'part',
  }),
  PART_FORBIDDEN: defineErrorKind({
    status: 403,
    domain: 'youtube.video',
    reason: 'forbidden',
    message: 'The request is not properly authorized to access video file or processing information.',
    location: 'part',
    locationType: 'parameter',
  }),
  AUDIT_FORBIDDEN: defineErrorKind({
    status: 403,
    domain: 'youtube.channel',
    reason: 'forbidden',
    message: 'The request is not properly authorized to retrieve the audit details of the channel.',
    location: 'part',
    locationType: 'parameter',
  }),
  FILTER_MISSING: defineErrorKind({
    ...parameter,
    domain: 'youtube.parameter',
    reason: 'missingRequiredParameter',
    // Always replaced by the names of the filters.
    message: 'No filter selected.',
    location: '',
  }),
  FILTERS_INCOMPATIBLE: defineErrorKind({
    ...parameter,
    domain: 'youtube.parameter',
    reason: 'incompatibleParameters',
    message: 'Incompatible parameters specified in the request',
    location: '',
  }),
  FILTERS_INVALID: defineErrorKind({
    status: 400,
    domain: 'youtube.parameter',
    reason: 'invalidFilters',
    message: 'The request specifies an invalid filter parameter.',
    location: 'parameters.',
    locationType: 'other',
  }),
  CHART_NOT_FOUND: defineErrorKind({
    ...parameter,
    domain: 'youtube.video',
    reason: 'videoChartNotFound',
    message: 'The requested video chart is not supported or is not available.',
    location: 'chart',
  }),
  PAGE_TOKEN_INVALID: defineErrorKind({
    ...parameter,
    domain: 'youtube.parameter',
    reason: 'invalidPageToken',
    message: 'The request specifies an invalid page token.',
    location: 'pageToken',
  }),
  PLAYLIST_NOT_FOUND: defineErrorKind({
    ...parameter,
    status: 404,
    domain: 'youtube.playlistItem',
    reason: 'playlistNotFound',
    message: "The playlist identified with the request's <code>playlistId</code> parameter cannot be found.",
    location: 'playlistId',
  }),
  PLAYLIST_FORBIDDEN: defineErrorKind({
    ...parameter,
    status: 403,
    domain: 'youtube.playlistItem',
    reason: 'playlistItemsNotAccessible',
    message: 'The request is not properly authorized to retrieve the specified playlist.',
    location: 'playlistId',
  }),
  PLAYLIST_UNSUPPORTED: defineErrorKind({
    ...parameter,
    domain: 'youtube.playlistItem',
    reason: 'playlistOperationUnsupported',
    message: 'The API does not support the ability to list videos in the specified playlist.',
    location: 'playlistId',
  }),
  VIDEO_NOT_FOUND: defineErrorKind({
    ...parameter,
    status: 404,
    domain: 'youtube.playlistItem',
    reason: 'videoNotFound',
    message: "The video identified with the request's <code>videoId</code> parameter cannot be found.",
    location: 'videoId',
  }),
  CHANNEL_NOT_FOUND: defineErrorKind({
    ...parameter,
    status: 404,
    domain: 'youtube.playlist',
    reason: 'channelNotFound',
    message: 'Channel not found.',
    location: 'channelId',
  }),
  LOGIN_REQUIRED: defineErrorKind({
    status: 401,
    domain: 'global',
    reason: 'required',
    message: 'Login Required.',
    location: 'Authorization',
    locationType: 'header',
  }),
  PARAMETER_INVALID: defineErrorKind({
    ...parameter,
    domain: 'global',
    reason: 'invalidParameter',
    message: 'Invalid value',
  }),
  PARAMETER_UNEXPECTED: defineErrorKind({
    ...parameter,
    domain: 'youtube.parameter',
    reason: 'unexpectedParameter',
    message: 'The request specifies an unexpected parameter.',
  }),
} satisfies Record<string, GoogleErrorKind>

const REASONS: Readonly<Record<number, string>> = {
  400: 'badRequest',
  401: 'authError',
  403: 'forbidden',
  404: 'notFound',
  405: 'httpMethodNotAllowed',
  429: 'rateLimitExceeded',
  500: 'internalError',
  503: 'backendError',
}

/** Creates an error with a status. The default reason is Google's usual one for the status. */
export function createGoogleError(status: number, message: string, reason?: string): GoogleError {
  const defaultReason = REASONS[status] ?? (status < 500 ? 'badRequest' : 'backendError')
  return new GoogleError({ status, domain: 'global', reason: reason ?? defaultReason, message })
}
