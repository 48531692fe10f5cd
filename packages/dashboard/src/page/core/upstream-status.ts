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
  readonly budget?: { readonly limit: number | null; readonly used: number; readonly left: number | null }
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
  const cause = isNamed || !reason ? detail : [reason, detail].filter(Boolean).join(': ')
  return [cause && toSentence(cause), remedy].filter((text) => text !== undefined && text !== '') as string[]
}

const toSentence = (text: string) => (/[.!?…]$/.test(text) ? text : `${text}.`)
