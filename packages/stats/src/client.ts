import { createRequester, ignoreErrors, type ClientOptions } from '@influencer-stats/runtime/service-client'
import type {
  ChangeCondition,
  Collection,
  EditedCollection,
  CollectionRow,
  NewCollectionContent,
  PutCondition,
  TrashedCollection,
} from './client/collection-resource.ts'
import { toCollectionPath } from './client/client-request.ts'
import { createFileClient, type FileClient } from './client/file-client.ts'
import { createHistoryClient, type HistoryClient } from './client/history-client.ts'
import { createSourcesClient, type SourcesClient } from './client/sources-client.ts'
import type { Campaign, CampaignPatch, CampaignSource, Fee } from './core/campaign.ts'
import { createPostsClient, POST_MISS_CODES, type PostsClient, type Stats } from './client/posts-client.ts'
import type { GrowthByPeriod } from './core/growth.ts'
import type { CreatorSort } from './campaigns/creators/creator-selection.ts'
import type { CampaignCreator, CreatorCampaign } from './campaigns/creators/creator.ts'
import type { Sort } from './campaigns/overview/overview-selection.ts'
import type { UpstreamState } from './core/upstream-state.ts'
import type { Creator, CreatorListOptions, CreatorPage, CreatorWithVideos } from './routes/creators/creator-resource.ts'
import type { VideoResource } from './routes/videos-view.ts'

export type { SourceStatus } from './core/follow/source-status.ts'
export type { PreviewItem } from './core/paste/preview.ts'
export type * from './client/collection-resource.ts'
export type { CampaignsImport, PastePreview } from './client/file-client.ts'
export type * from './client/history-client.ts'
export type * from './client/posts-client.ts'
export { MAX_CAMPAIGN_FILE_BYTES, XLSX_MEDIA_TYPE } from './core/campaign-file/file-format.ts'
export { parseVideoId } from './core/video-links.ts'
export type {
  Campaign,
  CampaignCreator,
  CampaignPatch,
  CampaignSource,
  Creator,
  CreatorCampaign,
  CreatorListOptions,
  CreatorPage,
  CreatorSort,
  CreatorWithVideos,
  Fee,
  GrowthByPeriod,
  Sort,
  VideoResource as Video,
  UpstreamState,
}

/** Additions to each collection of a response. */
export type Include = readonly ('stats' | 'change')[]
/** Additions to a single collection. */
export type CollectionInclude = readonly ('stats' | 'change' | 'creators')[]

export interface ListOptions {
  readonly include?: Include
  readonly sort?: Sort
  readonly q?: string
  readonly tag?: string
  /** `true`: only the archive, `any`: the archive also. By default the other collections. */
  readonly archived?: 'true' | 'false' | 'any'
  readonly limit?: number
  /** Number of collections to skip. */
  readonly offset?: number
  /** `next` of the previous page. */
  readonly after?: string
}

/** A page of collections. */
export interface CollectionPage {
  readonly collections: readonly CollectionRow[]
  /** Cursor of the next page. */
  readonly next?: string
  /** Number of matching collections. Absent in the default order without any other option than `limit` and `after`. */
  readonly total?: number
}

/** A change of many collections: an edit, the deletion, or the restoration from the trash. */
export type BulkChange =
  | { readonly addTags?: readonly string[]; readonly removeTags?: readonly string[]; readonly archived?: boolean }
  | { readonly deleted: true }
  | { readonly restored: true }

/** Result of a bulk change for one collection. */
export interface BulkResult {
  readonly id: string
  /** False if there was nothing to do, or the change was refused. */
  readonly changed: boolean
  /** Version after the change. */
  readonly version?: string
  /** Code and detail of a refusal. */
  readonly code?: string
  readonly detail?: string
}

/**
 * Client of a stats service. If the collection or the video does not exist, a method resolves with `undefined`, or with
 * false if it deletes. After any other refusal it rejects with a `ServiceError`.
 */
export interface StatsClient extends FileClient, HistoryClient, PostsClient, SourcesClient {
  list(options?: ListOptions): Promise<CollectionPage>
  get(id: string, include?: CollectionInclude): Promise<CollectionRow | undefined>
  /** Creates or replaces a collection. */
  put(id: string, content: NewCollectionContent, condition?: PutCondition): Promise<Collection>
  /** Changes the fields of `patch`; `null` removes a field. */
  patch(id: string, patch: EditedCollection, condition?: ChangeCondition): Promise<Collection | undefined>
  /** Creates a copy under a new id, without history and posts. @param name of the copy; by default the same name */
  duplicate(id: string, name?: string): Promise<Collection | undefined>
  /** Deletes a collection, which can then be restored for 30 days. @returns true if the collection existed */
  delete(id: string, condition?: ChangeCondition): Promise<boolean>
  /**
   * Makes the same change of at most 500 collections, each one completely or not at all.
   * @param versions required version of a collection, by its id
   */
  bulk(
    ids: readonly string[],
    change: BulkChange,
    versions?: Readonly<Record<string, string>>,
  ): Promise<readonly BulkResult[]>
  /** Lists the deleted collections that can be restored, in the order of their ids. */
  listTrash(
    options?: Pick<ListOptions, 'limit' | 'after'>,
  ): Promise<{ readonly collections: readonly TrashedCollection[]; readonly next?: string }>
  /** Restores a deleted collection with its numbers and its history. */
  restore(id: string, condition?: ChangeCondition): Promise<Collection | undefined>
  /** Deletes a deleted collection for good. @returns true if it was in the trash */
  deleteForGood(id: string, condition?: ChangeCondition): Promise<boolean>
  /** Adds a video by its id or a link to it. Resolves with all videos of the collection. */
  addVideo(id: string, video: string, condition?: ChangeCondition): Promise<readonly string[] | undefined>
  /** Removes a video from a collection. @returns true if the collection contained the video */
  removeVideo(id: string, video: string, condition?: ChangeCondition): Promise<boolean>
  getStats(id: string): Promise<Stats | undefined>
  listVideos(
    id: string,
  ): Promise<{ readonly videos: readonly VideoResource[]; readonly asOf: string; readonly stale: boolean } | undefined>
  /** Lists the creators of all collections, by default those with the most views first. */
  listCreators(options?: CreatorListOptions): Promise<CreatorPage>
  /** @param id id of the channel; for a person without videos, the name in the fee */
  getCreator(id: string): Promise<CreatorWithVideos | undefined>
  /** Returns the state of the API, the reason of an outage, and the rest of the daily budget. */
  getUpstream(): Promise<UpstreamState>
  /** Returns the text of a file with the collection and its videos. */
  export(id: string, format: 'csv' | 'json'): Promise<string | undefined>
}

const MISS_CODES = [
  'COLLECTION_NOT_FOUND',
  'VIDEO_NOT_IN_COLLECTION',
  'NOT_IN_TRASH',
  ...POST_MISS_CODES,
  'CREATOR_NOT_FOUND',
]

/** Creates a client of the service at `url`, in a browser or in Node. */
export function createStatsClient(url: string, options: ClientOptions = {}): StatsClient {
  const request = createRequester(url, options)

  /** Returns a response; undefined if the resource does not exist. */
  const sendRequest = (...args: Parameters<typeof request>) => ignoreErrors(request(...args), ...MISS_CODES)

  async function read<T>(...args: Parameters<typeof sendRequest>): Promise<T | undefined> {
    return (await sendRequest(...args))?.json() as Promise<T | undefined>
  }

  const toTrashPath = (id: string) => `/trash/${encodeURIComponent(id)}`
  const toVideoPath = (id: string, video: string) => `${toCollectionPath(id)}/videos/${encodeURIComponent(video)}`

  return {
    ...createFileClient(request),
    ...createHistoryClient(sendRequest),
    ...createPostsClient(sendRequest),
    ...createSourcesClient(sendRequest),
    async list({ include, ...query } = {}) {
      const requestOptions = { query: { ...query, include: toIncludeQuery(include) } }
      return (await read<CollectionPage>('GET', '/collections', requestOptions))!
    },
    get: (id, include) => read('GET', toCollectionPath(id), { query: { include: toIncludeQuery(include) } }),
    put: async (id, json, condition) =>
      (await read<Collection>('PUT', toCollectionPath(id), { json, headers: toHeaders(condition) }))!,
    patch: (id, json, condition) => read('PATCH', toCollectionPath(id), { json, headers: toHeaders(condition) }),
    duplicate: (id, name) => read('POST', `${toCollectionPath(id)}/duplicate`, { json: { name } }),
    delete: async (id, condition) =>
      (await sendRequest('DELETE', toCollectionPath(id), { headers: toHeaders(condition) })) !== undefined,
    async bulk(ids, change, versions) {
      const json = { ids, change, ...(versions && { versions }) }
      return (await read<{ results: BulkResult[] }>('POST', '/campaigns/bulk', { json }))!.results
    },
    async listTrash(query = {}) {
      return (await read<Awaited<ReturnType<StatsClient['listTrash']>>>('GET', '/trash', { query: { ...query } }))!
    },
    restore: (id, condition) => read('POST', `${toTrashPath(id)}/restore`, { headers: toHeaders(condition) }),
    deleteForGood: async (id, condition) =>
      (await sendRequest('DELETE', toTrashPath(id), { headers: toHeaders(condition) })) !== undefined,
    addVideo: async (id, video, condition) =>
      (await read<Collection>('PUT', toVideoPath(id, video), { headers: toHeaders(condition) }))?.videos,
    removeVideo: async (id, video, condition) =>
      (await sendRequest('DELETE', toVideoPath(id, video), { headers: toHeaders(condition) })) !== undefined,
    getStats: (id) => read('GET', `${toCollectionPath(id)}/stats`),
    listVideos: (id) => read('GET', `${toCollectionPath(id)}/videos`),
    listCreators: async (query = {}) => (await read<CreatorPage>('GET', '/creators', { query: { ...query } }))!,
    getCreator: (id) => read('GET', `/creators/${encodeURIComponent(id)}`),
    getUpstream: async () => (await read<UpstreamState>('GET', '/upstream'))!,
    export: async (id, format) =>
      (await sendRequest('GET', `${toCollectionPath(id)}/export`, { query: { format } }))?.text(),
  }
}

const toHeaders = ({ ifVersion, ifAbsent }: PutCondition = {}) => ({
  'if-match': ifVersion === undefined ? undefined : `"${ifVersion}"`,
  'if-none-match': ifAbsent ? '*' : undefined,
})

const toIncludeQuery = (include: CollectionInclude = []) => {
  const included = (['stats', 'change', 'creators'] as const).filter((part) => include.includes(part))
  return included.length > 0 ? included.join() : undefined
}
