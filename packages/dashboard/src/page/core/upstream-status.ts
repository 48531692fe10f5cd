import { text, type TextKey } from '../texts/texts.ts'

/** State of the calls of stats to YouTube. The reader of a shared page receives fewer fields. */
export interface UpstreamStatus {
  /** `unknown`: no call has succeeded or failed yet, since the start of stats or a change of a refused key. */
  readonly state?: 'ok' | 'unknown' | 'failing' | 'paused'
  readonly reason?: string
  readonly detail?: string
  readonly remedy?: string
  readonly since?: string
  readonly retryAt?: string
  /** The last four characters of the API key. */
  readonly key?: string
  readonly source?: string
  readonly budget?: {
    readonly limit: number | null
    readonly used: number
    readonly left: number | null
    /** Used units by kind of call. Absent from older versions of stats. */
    readonly kinds?: Readonly<Record<'videos' | 'channels' | 'playlistItems' | 'lookups', number>>
  }
}

export const isFailing = (upstream: UpstreamStatus | undefined): upstream is UpstreamStatus =>
  upstream?.state === 'failing' || upstream?.state === 'paused'

/** An outage lasts until a call succeeds: a restart of stats, after which the state is unknown, does not end it. */
export function mergeLastOutage(
  upstream: UpstreamStatus | undefined,
  last: UpstreamStatus | undefined,
): UpstreamStatus | undefined {
  if (upstream?.state !== 'unknown' || !isFailing(last) || upstream.source !== last.source) return upstream
  const { retryAt: _passed, ...outage } = last
  return { ...outage, ...(upstream.budget && { budget: upstream.budget }) }
}

/** The reason of the failure and its remedy, a sentence each. The detail usually contains the reason. */
export function listReasons({ reason, detail, remedy }: UpstreamStatus): string[] {
  const isNamed = reason !== undefined && detail?.includes(reason)
  const words = detail && translateDetail(detail)
  const cause = isNamed || !reason ? words : [reason, words].filter(Boolean).join(': ')
  return [cause && toSentence(cause), remedy && translateRemedy(remedy)].filter((one) => one) as string[]
}

const toSentence = (words: string) =>
  `${words.slice(0, 1).toUpperCase()}${words.slice(1)}${/[.!?…]$/.test(words) ? '' : '.'}`

/** The beginnings of the remedies that stats states in English, and their texts. */
const REMEDIES = [
  ['Put a valid key', 'upstream.replaceKey'],
  ["In the Google Cloud console, allow this server's IP address", 'upstream.allowAddress'],
  ['In the Google Cloud console, enable', 'upstream.enableApi'],
  ['In the Google Cloud console, allow the YouTube Data API', 'upstream.allowApi'],
  ['No action is required', 'upstream.wait'],
  ['Check the network', 'upstream.checkNetwork'],
  ['Check YOUTUBE_URI', 'upstream.checkUri'],
  ['Wait for the reset at midnight Pacific Time, or request', 'upstream.requestQuota'],
  ['Wait for the reset at midnight Pacific Time, or raise', 'upstream.raiseBudget'],
  ['Check the key', 'upstream.checkKey'],
] as const satisfies readonly (readonly [string, TextKey])[]

/** A remedy in the language of the page. One that the page does not know stays as stats states it. */
export function translateRemedy(remedy: string): string {
  const [, key] = REMEDIES.find(([beginning]) => remedy.startsWith(beginning)) ?? []
  return key ? text(key) : remedy
}

const REPLY_PATTERN = /^YouTube responded with (\d+) \((.*?)\)(?: to the API key (.*))?$/
const BUDGET_PATTERN = /^The daily budget of (\d+) units is used up$/

/** A cause in the language of the page. One that the page does not know stays as stats states it. */
function translateDetail(detail: string): string {
  const [, status, stated, key] = REPLY_PATTERN.exec(detail) ?? []
  if (status !== undefined) {
    const reason = stated === 'no reason given' ? text('upstream.noReason') : stated!
    return key === undefined
      ? text('upstream.responded', { status, reason })
      : text('upstream.respondedKey', { status, reason, key })
  }
  const [, units] = BUDGET_PATTERN.exec(detail) ?? []
  if (units !== undefined) return text('upstream.budgetSpent', { units: Number(units) })
  if (detail.startsWith('the response contained none')) return text('upstream.empty')
  if (detail === 'YouTube did not respond in time') return text('upstream.slow')
  return detail === 'YouTube is unreachable' ? text('upstream.unreachable') : detail
}
