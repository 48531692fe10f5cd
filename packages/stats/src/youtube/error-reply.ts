import type { FaultKind, UpstreamFault } from '../core/circuit-breaker.ts'

/** Fields of Google's error replies that this file reads. `errors[]` is the older form, `details[]` the newer one. */
interface GoogleError {
  readonly status?: unknown
  readonly errors?: readonly { readonly reason?: unknown }[]
  readonly details?: readonly { readonly reason?: unknown; readonly metadata?: Readonly<Record<string, unknown>> }[]
}

const QUOTA_REASONS = /^(quotaExceeded|dailyLimitExceeded|dailyLimitExceededUnreg)$/
const RATE_REASONS =
  /^(rateLimitExceeded|userRateLimitExceeded|servingLimitExceeded|RATE_LIMIT_EXCEEDED|RESOURCE_EXHAUSTED)$/
const KEY_REASONS =
  /^(keyInvalid|keyExpired|ipRefererBlocked|accessNotConfigured|forbidden|required|authError|API_KEY_\w+|SERVICE_DISABLED|CONSUMER_\w+|ACCESS_TOKEN_\w+|CREDENTIALS_MISSING|PERMISSION_DENIED|UNAUTHENTICATED)$/

/** A key with one of these reasons will never be accepted again: the standby key may replace it. */
const DEAD_KEY_REASONS = /^(keyInvalid|keyExpired|API_KEY_INVALID|API_KEY_EXPIRED)$/

/** True if YouTube refused the key permanently. */
export const isDeadKey = ({ kind, reason = '' }: UpstreamFault): boolean =>
  kind === 'key' && DEAD_KEY_REASONS.test(reason)

const REPLACE_KEY_REMEDY =
  'Put a valid key into the file that YOUTUBE_API_KEY_FILE names (stats uses it at once), or set YOUTUBE_API_KEY and restart.'
const UNRESTRICT_KEY_REMEDY =
  "In the Google Cloud console, allow this server's IP address in the application restrictions of the key."
const ENABLE_API_REMEDY = 'In the Google Cloud console, enable the YouTube Data API v3 for the project of the key.'
const KEY_REMEDIES: readonly (readonly [reasons: RegExp, remedy: string])[] = [
  [DEAD_KEY_REASONS, REPLACE_KEY_REMEDY],
  [/^(ipRefererBlocked|API_KEY_(HTTP_REFERRER|IP_ADDRESS|ANDROID_APP|IOS_APP)_BLOCKED)$/, UNRESTRICT_KEY_REMEDY],
  [
    /^API_KEY_SERVICE_BLOCKED$/,
    'In the Google Cloud console, allow the YouTube Data API v3 in the API restrictions of the key.',
  ],
  [/^(accessNotConfigured|SERVICE_DISABLED)$/, ENABLE_API_REMEDY],
]
const WAIT_REMEDY = 'No action is required: stats calls YouTube again.'

export const remedies: Readonly<Record<FaultKind, string>> = {
  network: 'Check the network, the DNS and YOUTUBE_URI; stats retries automatically.',
  server: WAIT_REMEDY,
  request: 'Check YOUTUBE_URI, and whether a newer version of this software is available.',
  rate: WAIT_REMEDY,
  quota: 'Wait for the reset at midnight Pacific Time, or request more quota in the Google Cloud console.',
  key: 'Check the key and its project in the Google Cloud console, or replace the key.',
}

/** Returns only text that is a name: other text may contain confidential data. */
const toReason = (value: unknown): string | undefined =>
  typeof value === 'string' && /^\w{1,64}$/.test(value) ? value : undefined

function parseError(text: string): GoogleError {
  try {
    const { error } = JSON.parse(text)
    return typeof error === 'object' && error !== null ? error : {}
  } catch {
    return {}
  }
}

const toObjects = <T>(value: readonly T[] | undefined): readonly T[] =>
  Array.isArray(value) ? value.filter((one) => typeof one === 'object' && one !== null) : []

/** True for a limit of calls per day. Google may report such a limit with the reason of a rate limit. */
const isDaily = ({ metadata = {} }: NonNullable<GoogleError['details']>[number]): boolean =>
  /^1\/d\b/.test(String(metadata.quota_unit)) || /PerDay/.test(String(metadata.quota_limit))

function toFaultKind(status: number, reasons: readonly string[], daily: boolean): FaultKind {
  const has = (pattern: RegExp) => reasons.some((reason) => pattern.test(reason))
  if (has(QUOTA_REASONS) || daily) return 'quota'
  if (has(RATE_REASONS) || status === 429) return 'rate'
  if (status >= 500) return 'server'
  if (has(KEY_REASONS) || status === 401 || status === 403) return 'key'
  return status >= 400 ? 'request' : 'server'
}

/** Properties of a reply other than its status and text. */
export interface ReplyContext {
  /** Delay that the header `Retry-After` states (ms). */
  readonly retryAfter?: number | undefined
  /** The API key of the call, by its last characters. */
  readonly key?: string
}

/** Parses a reply whose status is not 200. */
export function parseErrorReply(status: number, text: string, { retryAfter, key = '…' }: ReplyContext): UpstreamFault {
  const error = parseError(text)
  const details = toObjects(error.details)
  const reasons = [
    ...details.map(({ reason }) => toReason(reason)),
    ...toObjects(error.errors).map(({ reason }) => toReason(reason)),
    toReason(error.status),
  ].filter((reason) => reason !== undefined)
  const kind = toFaultKind(status, reasons, details.some(isDaily))
  const [reason] = reasons
  const detail = `YouTube responded with ${status} (${reason ?? 'no reason given'})`
  if (kind !== 'key') return { kind, reason, detail, remedy: remedies[kind], retryAfter }
  const remedy = KEY_REMEDIES.find(([reasons]) => reasons.test(reason ?? ''))?.[1] ?? remedies.key
  return { kind, reason, detail: `${detail} to the API key ${key}`, remedy, retryAfter, key }
}

/** Parses a `Retry-After` header, which states seconds or a date. @returns ms from now; undefined if it is invalid */
export function parseRetryAfter(value: string | undefined, now = Date.now()): number | undefined {
  if (value === undefined) return undefined
  if (/^\s*\d{1,9}\s*$/.test(value)) return Number(value) * 1_000
  const time = Date.parse(value)
  return Number.isNaN(time) ? undefined : Math.max(0, time - now)
}
