/** The content of a `ServiceError`. */
export interface ServiceRefusal {
  readonly code: string
  readonly status: number
  readonly detail?: string | undefined
  /** The whole problem. */
  readonly body: Readonly<Record<string, unknown>>
}

/** A sentence for each refusal that a page can receive: the fault, and the change that is required. */
const SENTENCES: Readonly<Record<string, string>> = {
  BAD_JSON: 'This page sent an unreadable request. Reload the page and try again.',
  BAD_REQUEST: 'This page sent an unreadable request. Reload the page and try again.',
  BODY_TOO_LARGE: 'This is more than the service accepts at once. Send less, such as 500 links at a time.',
  INTERNAL_TIMEOUT: 'The service was too busy to answer; the change may still be made. Reload the page to see.',
  CHARACTERISTIC_NOT_FOUND: 'No price has this characteristic. Choose another condition.',
  COLLECTION_FULL: 'A campaign has at most 1,000 videos. Remove some before you add others.',
  COLLECTION_NOT_FOUND: 'There is no such campaign. It may have been deleted.',
  CONDITION_FAILED: 'Another user changed this campaign in the meantime. Check the new version and try again.',
  COST_AMBIGUOUS: 'A campaign has either one cost or fees, and at most one fee for each creator.',
  CROSS_SITE: 'This change did not come from this page. Reload the page and try again.',
  INVALID_CURSOR: 'The list has changed in the meantime. Reload the page.',
  DATA_DAMAGED: 'The disk has damaged this data. An operator has to restore it from a backup.',
  INVALID_DATE_RANGE: 'The last day is before the first day. Choose a last day that is not earlier.',
  WRITES_STOPPED: 'An operator has stopped all changes, for example to move the data. Try again later.',
  DISK_FULL: "The service's disk is full. An operator has to free space before anything can be changed.",
  GROUP_NOT_FOUND: 'No price has this group. Choose another group.',
  INTERNAL: 'The service has failed. Try again; if it fails again, an operator should read its log.',
  TOO_MANY_LINKS: '10,000 links are valid already. Revoke links that are no longer needed.',
  LINK_EXPIRED: 'This link is no longer valid. Ask for a new one where you got it.',
  LINK_UNKNOWN: 'There is no such link. Check that you copied all of it.',
  SEQUENCE_WAIT_TIMEOUT: 'This node of the service has older data at present. Try again in a moment.',
  LOG_UNAVAILABLE: 'Changes are not possible at present. Nothing was changed; try again in a moment.',
  MEMORY_FULL: 'The service is busy. Try again in a moment.',
  MISDIRECTED_HOST: 'The dashboard is not served at this address. Open it at the address that an operator has set.',
  NOT_FOUND: 'There is nothing at this address. Check that you copied all of it.',
  NOT_IN_TRASH: 'This campaign is not in the trash. It may have been restored or deleted for good.',
  NOT_READY: 'The service is starting. Try again in a moment.',
  OFFERING_NOT_FOUND: 'No price has this offering. Choose another offering.',
  ORIGIN_UNKNOWN: 'This change did not come from this page. Reload the page and try again.',
  OUTCOME_UNKNOWN: 'The change may have been made. Reload the page to see.',
  OVERLOADED: 'The service is busy. Try again in a moment.',
  PRICES_AMBIGUOUS: 'Several prices match. Choose more values until one price remains.',
  PRICE_NOT_FOUND: 'No price matches. Choose other conditions.',
  RATE_LIMITED: 'Too many requests from your network. Wait a moment and try again.',
  ROUTE_REFUSED: 'This page may not request this of the service. Reload the page and try again.',
  SERVICE_SLOW: 'The service takes too long to answer. Try again.',
  SERVICE_UNKNOWN: 'This service was not started here. An operator has to start it.',
  SERVICE_UNREACHABLE: 'The service does not answer. Try again in a moment.',
  SIGN_IN_NEEDED: 'Sign in again to continue. For changes you need the token for changes.',
  SPEC_NOT_FOUND: 'No price has this spec. Choose another spec.',
  STATE_UNAVAILABLE: 'The store of campaigns is not available. Try again in a moment.',
  STATS_NOT_READY: 'The numbers have not been fetched yet. Try again in a moment.',
  STORE_FAILED: "The service's disk accepts no changes. An operator should read its log.",
  TOKEN_WRONG: 'This token is not valid here. Check it and try again.',
  TOO_MANY_STREAMS: 'Too many pages are open at the same time. Close some of them.',
  UNAUTHORIZED: 'The service requires another token. Sign in again with the token for changes.',
  URI_TOO_LONG: 'This address is too long. Shorten the search.',
  UNEXPECTED_REDIRECT: 'The service has another address. An operator has to set its final address.',
  UPSTREAM_UNAVAILABLE: 'YouTube returns no numbers at present.',
  VALUE_NOT_FOUND: 'No price has this value. Choose another value.',
  VALUE_TYPE: 'No price has this value. Choose another value.',
  VIDEO_NOT_IN_COLLECTION: 'This video is no longer part of the campaign.',
}

/** The required change for each invalid field. The detail of a validation fault begins with the field. */
const FIELD_SENTENCES: readonly (readonly [RegExp, string])[] = [
  [/^(body\/)?videos\/\d+|^params\/video/, 'One of the links is not a link to a YouTube video. Correct or remove it'],
  [/^(body\/)?videos/, 'A campaign has at most 1,000 videos. Use fewer links.'],
  [/^(body\/)?name/, 'Use a name of 1 to 200 visible characters.'],
  [/^(body\/)?tags/, 'Use at most 50 tags with at most 50 characters each, and no control characters.'],
  [/^(body\/)?from/, 'Choose a first day from the calendar.'],
  [/^(body\/)?to(?!\w)/, 'Choose a last day from the calendar.'],
  [/^(body\/)?cost/, 'Write the cost as a number from 0 to 1,000,000,000,000,000.'],
  [/^(body\/)?currency/, 'Choose a currency that the service knows.'],
  [/^(body\/)?days/, 'Choose how many days the link is valid: 1 to 365.'],
  [/^body\/token/, 'Enter a token.'],
  [
    /^(params\/id|querystring\/campaign|body\/campaign)/,
    'This is not the address of a campaign. Check that you copied all of it.',
  ],
  [/^querystring/, 'This address contains a search that the service does not know. Remove it from the address.'],
]

/** Finds, at the end of a fault's detail, the input that is not a link to a video. */
const BAD_LINK_PATTERN = /or a link to one; received "(.*)"(?: \(\d+ characters\))?$/s

function findFieldSentence(detail: string): string {
  const found = FIELD_SENTENCES.find(([pattern]) => pattern.test(detail))
  if (!found) return 'The service does not accept this input. Reload the page and try again.'
  const [, link] = BAD_LINK_PATTERN.exec(detail) ?? []
  if (link !== undefined) return `${found[1]}: ${link}`
  return found[1].endsWith('.') ? found[1] : `${found[1]}.`
}

/** A sentence for a code alone. */
export const getSentence = (code: string): string =>
  SENTENCES[code] ?? `The service refused this (${code}). Reload the page and try again.`

/**
 * The fault and the required change, in a sentence for people. From the reply it contains only the code, the `remedy` of
 * an outage of YouTube, and the text that is not a link.
 */
export function describeRefusal({ code, status, detail, body }: ServiceRefusal): string {
  if (code === 'VALIDATION_FAILED') return findFieldSentence(detail ?? '')
  const sentence = SENTENCES[code]
  if (sentence !== undefined) return typeof body.remedy === 'string' ? `${sentence} ${body.remedy}` : sentence
  return status >= 500 ? `The service cannot do this at present (${code}). Try again in a moment.` : getSentence(code)
}
