import type { UpstreamStatus } from './core/upstream.ts'
import { toServiceError, ServiceError } from '@influencer-stats/runtime/service-error'
import {
  createStatsClient,
  type CollectionRow,
  type HistoryPoint,
  type Stats,
  type Video,
} from '@influencer-stats/stats/client'
import { sentenceFor } from './core/refusals.ts'

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
  /** The id of its campaign. */
  readonly campaign: string
  /** The name of the campaign when the link was made. */
  readonly name?: string
  /** `deleted`: its campaign was; `unknown`: stats does not respond. */
  readonly state: 'valid' | 'deleted' | 'unknown'
  readonly path: string
  readonly created: string
  readonly expires: string
}

/** Which services work. */
export interface Status {
  /** When this was observed. */
  readonly at: string
  readonly services: readonly {
    readonly name: string
    readonly state: 'ok' | 'not-ready' | 'unavailable'
    readonly detail?: string
  }[]
  readonly source?: Session['source']
  readonly upstream?: UpstreamStatus
}

/** Asks this origin. @throws ServiceError */
export async function ask<T>(method: string, path: string, body?: object, signal?: AbortSignal): Promise<T> {
  const reply = await fetch(path, {
    method,
    signal: signal ?? null,
    ...(body && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
  })
  const text = await reply.text()
  if (!reply.ok) throw toServiceError(reply.status, text)
  return (reply.headers.get('content-type')?.includes('json') ? JSON.parse(text) : text) as T
}

/** Deletes something of stats; the request survives the end of the page. @throws ServiceError */
async function remove(path: string, headers: Record<string, string> = {}): Promise<void> {
  const reply = await fetch(`/api/stats${path}`, { method: 'DELETE', keepalive: true, headers })
  if (!reply.ok && reply.status !== 404) throw toServiceError(reply.status, await reply.text())
}

const campaignPath = (id: string) => `/collections/${encodeURIComponent(id)}`

/** Deletes a campaign if it still has this version. @throws ServiceError */
export const deleteCampaign = (id: string, version: string) => remove(campaignPath(id), { 'if-match': `"${version}"` })

/** @throws ServiceError */
export const removeVideo = (campaign: string, video: string) => remove(`${campaignPath(campaign)}/videos/${video}`)

/** @param url `/status`, or that of a shared page */
export const readStatus = (url: string, signal: AbortSignal) => ask<Status>('GET', url, undefined, signal)
export const session = () => ask<Session>('GET', '/session')
export const signIn = (token: string) => ask<Pick<Session, 'role'>>('POST', '/session', { token })
export const signOut = () => ask('DELETE', '/session')

/** Pages that tell what was measured of this project, where there are any; under `/measured/`. */
export const measured = async () => (await ask<{ paths: string[] }>('GET', '/measured')).paths

/** A page of links, the newest first. @param after `next` of the page before; @param campaign its id, or all */
export function listLinks(after?: string, campaign?: string) {
  const query = new URLSearchParams({ ...(after && { after }), ...(campaign && { campaign }) })
  return ask<{ readonly links: readonly Link[]; readonly next?: string }>('GET', `/links?${query}`)
}
export const makeLink = (campaign: string, days: number) => ask<Link>('POST', '/links', { campaign, days })
export const revokeLink = (id: string) => ask('DELETE', `/links/${encodeURIComponent(id)}`)

/** What a screen needs to show one campaign, whoever looks at it. */
export interface CampaignSource {
  get(): Promise<CollectionRow | undefined>
  /** The sums of the videos that have numbers, once all were tried or none can be read at present. */
  sums(): Promise<Stats | undefined>
  videos(): Promise<readonly Video[] | undefined>
  history(from: Date, step: number): Promise<readonly HistoryPoint[] | undefined>
}

/** A campaign as its makers see it. */
export const ownCampaign = (id: string): CampaignSource => ({
  get: () => stats.get(id, ['stats', 'change']),
  sums: () => stats.stats(id),
  videos: async () => (await stats.videos(id))?.videos,
  history: (from, step) => stats.history(id, { from, step }),
})

/** A campaign as whoever has a link sees it. @param base `/shared/<token>` */
export const sharedCampaign = (base: string): CampaignSource => ({
  get: () => ask('GET', `${base}/campaign`),
  sums: () => ask('GET', `${base}/stats`),
  videos: async () => (await ask<{ videos: Video[] }>('GET', `${base}/videos`)).videos,
  async history(from, step) {
    const query = new URLSearchParams({ from: from.toISOString(), step: String(step) })
    return (await ask<{ points: HistoryPoint[] }>('GET', `${base}/history?${query}`)).points
  },
})

/** The fault and the required change, in a sentence for people. */
export const wordsFor = (error: unknown): string =>
  error instanceof ServiceError ? sentenceFor(error) : 'The dashboard does not answer. Try again in a moment.'
