import { toServiceError, ServiceError } from '@influencer-stats/runtime/service-error'
import { createStatsClient, type CollectionRow, type HistoryPoint, type Video } from '@influencer-stats/stats/client'

/** Campaigns and their numbers, through this page's own origin. */
export const stats = createStatsClient(`${location.origin}/api/stats`)

export interface Session {
  readonly needed: boolean
  readonly role?: 'editor' | 'reader'
  readonly source?: 'youtube' | 'stand-in'
  readonly services: readonly string[]
  /** The nodes of all of them: `stats`, or `stats.1` and so on where there are several. */
  readonly nodes: readonly string[]
}

export interface Link {
  readonly id: string
  readonly path: string
  readonly created: string
  readonly expires: string
}

/** Asks this origin. @throws ServiceError */
export async function ask<T>(method: string, path: string, body?: object): Promise<T> {
  const reply = await fetch(path, {
    method,
    ...(body && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
  })
  const text = await reply.text()
  if (!reply.ok) throw toServiceError(reply.status, text)
  return (reply.headers.get('content-type')?.includes('json') ? JSON.parse(text) : text) as T
}

export const session = () => ask<Session>('GET', '/session')
export const signIn = (token: string) => ask<Pick<Session, 'role'>>('POST', '/session', { token })
export const signOut = () => ask('DELETE', '/session')

/** Pages that tell what was measured of this project, where there are any; under `/measured/`. */
export const measured = async () => (await ask<{ paths: string[] }>('GET', '/measured')).paths

export const linksOf = async (campaign: string) =>
  (await ask<{ links: Link[] }>('GET', `/links?campaign=${encodeURIComponent(campaign)}`)).links
export const makeLink = (campaign: string, days: number) => ask<Link>('POST', '/links', { campaign, days })
export const revokeLink = (id: string) => ask('DELETE', `/links/${encodeURIComponent(id)}`)

/** What a screen needs to show one campaign, whoever looks at it. */
export interface CampaignSource {
  get(): Promise<CollectionRow | undefined>
  videos(): Promise<readonly Video[] | undefined>
  history(from: Date, step: number): Promise<readonly HistoryPoint[] | undefined>
}

/** A campaign as its makers see it. */
export const ownCampaign = (id: string): CampaignSource => ({
  get: () => stats.get(id, ['stats', 'change']),
  videos: async () => (await stats.videos(id))?.videos,
  history: (from, step) => stats.history(id, { from, step }),
})

/** A campaign as whoever has a link sees it. @param base `/shared/<token>` */
export const sharedCampaign = (base: string): CampaignSource => ({
  get: () => ask('GET', `${base}/campaign`),
  videos: async () => (await ask<{ videos: Video[] }>('GET', `${base}/videos`)).videos,
  async history(from, step) {
    const query = new URLSearchParams({ from: from.toISOString(), step: String(step) })
    return (await ask<{ points: HistoryPoint[] }>('GET', `${base}/history?${query}`)).points
  },
})

const WORDS: Readonly<Record<string, string>> = {
  COLLECTION_NOT_FOUND: 'There is no such campaign. It may have been deleted.',
  COLLECTION_FULL: 'A campaign has at most 1,000 videos.',
  DATES_REVERSED: 'The campaign would end before it begins.',
  LINK_EXPIRED: 'This link is no longer valid. Ask whoever gave it to you for another.',
  LINK_UNKNOWN: 'This link leads nowhere. Was all of it copied?',
  ORIGIN_UNKNOWN: 'This change did not come from this page.',
  SERVICE_SLOW: 'The service takes too long to answer. Try again.',
  SERVICE_UNREACHABLE: 'The service does not answer. Try again in a moment.',
  TOKEN_WRONG: 'That is none of the tokens of this place.',
  UPSTREAM_UNAVAILABLE: 'YouTube gives no numbers at present.',
}

/** What went wrong, for people. */
export function wordsFor(error: unknown): string {
  if (error instanceof ServiceError)
    return (
      WORDS[error.code] ?? (error.detail ? `That was refused: ${error.detail}` : `That was refused (${error.code}).`)
    )
  return 'The dashboard does not answer. Try again in a moment.'
}
