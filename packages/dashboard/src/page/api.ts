import type { DataSource, SystemStatus } from '../core/system-status.ts'
import type { SavedView } from '../messages.ts'
import type { ViewContent } from './core/home-query.ts'
import type { UpstreamStatus } from './core/upstream-status.ts'
import { toServiceError, ServiceError } from '@influencer-stats/runtime/service-error'
import {
  createStatsClient,
  type CollectionRow,
  type HistoryPoint,
  type PostResource,
  type PreviewItem,
  type ReportedHistoryPoint,
  type Results,
  type Stats,
  type StatsHistoryOptions,
  type Video,
} from '@influencer-stats/stats/client'
import { describeRefusal } from './core/error-sentences.ts'
import { parseExactJson } from './core/prices/exact-json.ts'
import { Listeners } from './listeners.ts'
import { text } from './texts/texts.ts'

export type { SavedView }

/** A client of stats, through the origin of this page. */
export const stats = createStatsClient(`${location.origin}/api/stats`)

/** Called when the user must sign in, possibly again. */
export const signInNeeded = new Listeners()

export interface SessionInfo {
  /** True if the dashboard requires a sign-in. */
  readonly needed: boolean
  readonly role?: 'editor' | 'reader'
  readonly source?: DataSource
  readonly services: readonly string[]
  /** All nodes of the services: `stats`, or `stats.1` and so on if there are several. */
  readonly nodes: readonly string[]
}

export interface LinkResource {
  readonly id: string
  /** The id of its campaign. */
  readonly campaign: string
  /** Name of the campaign at the creation of the link. */
  readonly name?: string
  /** `deleted`: the campaign was deleted; `unknown`: stats does not respond. */
  readonly state: 'valid' | 'deleted' | 'unknown'
  readonly path: string
  readonly created: string
  readonly expires: string
}

export type StatusReply = SystemStatus<UpstreamStatus>

/** Sends a request to this origin. @param parse parses a reply in JSON @throws ServiceError */
export async function requestJson<T>(
  method: string,
  path: string,
  content?: object,
  signal?: AbortSignal,
  parse: (text: string) => unknown = JSON.parse,
): Promise<T> {
  const reply = await fetch(path, {
    method,
    signal: signal ?? null,
    ...(content && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(content) }),
  })
  const body = await reply.text()
  if (!reply.ok) throw toServiceError(reply.status, body)
  return (reply.headers.get('content-type')?.includes('json') ? parse(body) : body) as T
}

/** Sends a request to prices. Numbers in the reply have all their digits. @throws ServiceError */
export const requestPrices = <T>(method: 'GET' | 'POST', path: string, body?: object): Promise<T> =>
  requestJson(method, `/api/prices${path}`, body, undefined, parseExactJson)

/**
 * Removes a part of a campaign that has it. The request also completes if the user leaves the page.
 * @throws ServiceError
 */
async function removePart(campaign: string, part: string): Promise<void> {
  const path = `/api/stats/collections/${encodeURIComponent(campaign)}/${part}`
  const reply = await fetch(path, { method: 'DELETE', keepalive: true })
  if (!reply.ok && reply.status !== 404) throw toServiceError(reply.status, await reply.text())
}

export const removeVideo = (campaign: string, video: string) => removePart(campaign, `videos/${video}`)
export const removePost = (campaign: string, post: string) => removePart(campaign, `posts/${encodeURIComponent(post)}`)

/** Adds a post of a preview to a campaign. @throws ServiceError */
export async function addPost(campaign: string, { url, values = {} }: PreviewItem): Promise<void> {
  const { creator, published } = values
  const content = { url: url!, ...(creator && { creator }), ...(published && { published }) }
  if (!(await stats.addPost(campaign, content))) throw new ServiceError(404, 'COLLECTION_NOT_FOUND')
}

/** @param url `/status`, or that of a shared page */
export const readStatus = (url: string, signal: AbortSignal) => requestJson<StatusReply>('GET', url, undefined, signal)
export const readSession = () => requestJson<SessionInfo>('GET', '/session')
export const signIn = (token: string) => requestJson<Pick<SessionInfo, 'role'>>('POST', '/session', { token })
export const signOut = () => requestJson('DELETE', '/session')

/** Paths of the benchmark report and the flame graphs that exist, below `/reports/`. */
export const listReports = async () => (await requestJson<{ paths: string[] }>('GET', '/reports')).paths

/** A page of links, the newest first. @param after `next` of the previous page @param campaign only links of this id */
export function listLinks(after?: string, campaign?: string) {
  const query = new URLSearchParams({ ...(after && { after }), ...(campaign && { campaign }) })
  return requestJson<{ readonly links: readonly LinkResource[]; readonly next?: string }>('GET', `/links?${query}`)
}
export const makeLink = (campaign: string, days: number) =>
  requestJson<LinkResource>('POST', '/links', { campaign, days })
export const revokeLink = (id: string) => requestJson('DELETE', `/links/${encodeURIComponent(id)}`)

/** The views of the list of campaigns that users saved, in the order of their names. */
export const listViews = async () => (await requestJson<{ views: SavedView[] }>('GET', '/views')).views
export const saveView = (content: ViewContent) => requestJson<SavedView>('POST', '/views', content)
export const removeView = (id: string) => requestJson('DELETE', `/views/${encodeURIComponent(id)}`)

/** The reads that a screen needs to show one campaign, to editors and to readers of a share link. */
export interface CampaignSource {
  /** Path of the pictures of its videos. */
  readonly thumbnails: string
  get(): Promise<CollectionRow | undefined>
  /**
   * The sums of the videos that have numbers. Waits until stats has tried to read all videos, until its read timeout, or
   * until YouTube is unavailable.
   */
  getSums(): Promise<Stats | undefined>
  getVideos(): Promise<readonly Video[] | undefined>
  getHistory(from: Date, step: number | 'day', more?: HistoryRange): Promise<readonly HistoryPoint[] | undefined>
  getResults(query: ResultsQuery): Promise<Results | undefined>
  getPosts(): Promise<readonly PostResource[] | undefined>
  /** The reported sums of the posts since the first report. */
  getReportedHistory(): Promise<readonly ReportedHistoryPoint[] | undefined>
}

/** End of a range of a history, and the time zone of its days. */
export type HistoryRange = Pick<StatsHistoryOptions, 'to' | 'zone'>

/** A range of results: days or moments. By default the dates of the campaign. */
export interface ResultsQuery {
  readonly from?: string
  readonly to?: string
  /** IANA time zone of the days. */
  readonly zone: string
}

/** The source of a campaign for users of the dashboard. */
export const createCampaignSource = (id: string): CampaignSource => ({
  thumbnails: '/thumbnails',
  get: () => stats.get(id, ['stats', 'change']),
  getSums: () => stats.getStats(id),
  getVideos: async () => (await stats.listVideos(id))?.videos,
  getHistory: (from, step, more) => stats.getHistory(id, { from, step, ...more }),
  getResults: (query) => stats.getResults(id, query),
  getPosts: () => stats.listPosts(id),
  getReportedHistory: () => stats.getReportedHistory(id),
})

/** The source of a campaign for the reader of a share link. @param base `/shared/<token>` */
export const createSharedSource = (base: string): CampaignSource => ({
  thumbnails: `${base}/thumbnails`,
  get: () => requestJson('GET', `${base}/campaign`),
  getSums: () => requestJson('GET', `${base}/stats`),
  getVideos: async () => (await requestJson<{ videos: Video[] }>('GET', `${base}/videos`)).videos,
  async getHistory(from, step, { to, zone } = {}) {
    const range = { ...(to && { to: to.toISOString() }), ...(zone && { zone }) }
    const query = new URLSearchParams({ from: from.toISOString(), step: String(step), ...range })
    return (await requestJson<{ points: HistoryPoint[] }>('GET', `${base}/history?${query}`)).points
  },
  getResults: (query) => requestJson('GET', `${base}/results?${new URLSearchParams({ ...query })}`),
  getPosts: async () => (await requestJson<{ posts: PostResource[] }>('GET', `${base}/posts`)).posts,
  getReportedHistory: async () =>
    (await requestJson<{ points: ReportedHistoryPoint[] }>('GET', `${base}/reported`)).points,
})

/** The fault and the required change, in a sentence for people. */
export const describeError = (error: unknown): string =>
  error instanceof ServiceError ? describeRefusal(error) : text('error.dashboard')
