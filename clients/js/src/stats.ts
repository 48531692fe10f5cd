import { readJson } from './core/reply-parts.ts'
import { createRequester, type CallOptions, type ClientOptions, type RequestParts } from './core/requester.ts'
import { ignoreCodes } from './core/service-error.ts'
import type { components, operations } from './generated/stats.ts'
import { createPostsClient, POST_MISS_CODES, type PostsClient } from './stats/posts.ts'

export { ServiceError } from './core/service-error.ts'
export type { CallOptions, ClientOptions }
export type * from './stats/posts.ts'

type Schemas = components['schemas']
type ListQuery = NonNullable<operations['listCollections']['parameters']['query']>

/** Content of a new collection: its videos, as ids or links, and the fields of the campaign. */
export type CollectionContent = Schemas['NewCollection']
/** Fields to change; null removes one. */
export type CollectionPatch = Schemas['ChangeOfACollection']
export type StatsCollection = Schemas['Collection']
/** A collection with the requested additions: `stats`, `change`, and `costs` if it has a cost. */
export type StatsCollectionRow = Schemas['CollectionWithItsNumbers']
/** A page of collections. `next` is the `after` of the next page. */
export type CollectionPage = Schemas['Collections']
/** A page of the deleted collections that can be restored. */
export type TrashPage = Schemas['Trash']
/** A change of many collections: an edit, the deletion, or the restoration from the trash. */
export type BulkChange = Schemas['BulkChange']['change']
/** Result of a bulk change for one collection. `code` and `detail` state a refusal. */
export type BulkResult = Schemas['BulkResult']
/** The sums of a collection. `byVideo` has the numbers of each video, if requested. */
export type Statistics = Schemas['Statistics']
export type CollectionVideos = Schemas['Videos']
/** What a pasted text contains. */
export type PastePreview = Schemas['Preview']
/** Growth within a range, and how well its ends are known. */
export type Results = Schemas['Results']
/** What an import of campaigns did, or would do. */
export type CampaignsImport = Schemas['ImportOfCampaigns']
export type HistoryPoint = Schemas['History']['points'][number]
/** State of the YouTube API, and the rest of the daily budget. */
export type UpstreamState = Schemas['Upstream']

export interface ListOptions extends CallOptions {
  /** Additions to each collection. */
  readonly include?: readonly ('stats' | 'change')[] | undefined
  readonly sort?: ListQuery['sort']
  /** Words in id, name and tags. */
  readonly q?: string | undefined
  readonly tag?: string | undefined
  /** `true`: only the archive, `any`: the archive also. By default the other collections. */
  readonly archived?: ListQuery['archived']
  readonly limit?: number | undefined
  /** Number of collections to skip. */
  readonly offset?: number | undefined
  /** `next` of the previous page. */
  readonly after?: string | undefined
}

/** Condition of a change. If it is not met, the change fails with `CONDITION_FAILED`. */
export interface ChangeOptions extends CallOptions {
  /** Required version of the collection. */
  readonly ifVersion?: string | undefined
}

export interface PutCollectionOptions extends ChangeOptions {
  /** True: the collection must not exist. */
  readonly ifAbsent?: boolean | undefined
}

export interface BulkOptions extends CallOptions {
  /** Required version of a collection, by its id. */
  readonly versions?: Readonly<Record<string, string>> | undefined
}

export interface HistoryOptions extends CallOptions {
  readonly from?: Date | undefined
  readonly to?: Date | undefined
  /** Width of a step (s), or a day of `zone`: at most one point per step. */
  readonly step?: number | 'day' | undefined
  /** IANA time zone; UTC by default. */
  readonly zone?: string | undefined
}

export interface ResultsOptions extends CallOptions {
  /** First and last day such as 2026-01-31, or a time. By default those of the campaign. */
  readonly from?: string | Date | undefined
  readonly to?: string | Date | undefined
  /** IANA time zone of the days; UTC by default. */
  readonly zone?: string | undefined
}

/**
 * Client of the service `stats`. If the collection or the video does not exist, a method resolves with `undefined`, or
 * with false if it deletes. After any other refusal it rejects with a `ServiceError`.
 */
export interface StatsClient extends PostsClient {
  /** Resolves with one page of collections. */
  list(options?: ListOptions): Promise<CollectionPage>
  /** Yields all collections, page by page. */
  listAll(options?: ListOptions): AsyncIterableIterator<StatsCollectionRow>
  get(id: string, options?: Pick<ListOptions, 'include'> & CallOptions): Promise<StatsCollectionRow | undefined>
  /** Creates or replaces a collection. */
  put(id: string, content: CollectionContent, options?: PutCollectionOptions): Promise<StatsCollection>
  patch(id: string, patch: CollectionPatch, options?: ChangeOptions): Promise<StatsCollection | undefined>
  /** Creates a copy under a new id, without history and posts. @param name of the copy; by default the same name */
  duplicate(id: string, name?: string, options?: CallOptions): Promise<StatsCollection | undefined>
  /** Deletes a collection, which can then be restored for 30 days. @returns true if the collection existed */
  delete(id: string, options?: ChangeOptions): Promise<boolean>
  /** Makes the same change of at most 500 collections, each one completely or not at all. */
  bulk(ids: readonly string[], change: BulkChange, options?: BulkOptions): Promise<readonly BulkResult[]>
  /** Resolves with one page of the deleted collections that can be restored. */
  listTrash(options?: Pick<ListOptions, 'limit' | 'after'> & CallOptions): Promise<TrashPage>
  /** Restores a deleted collection with its numbers and its history. */
  restore(id: string, options?: ChangeOptions): Promise<StatsCollection | undefined>
  /** Deletes a deleted collection for good. @returns true if it was in the trash */
  deleteForGood(id: string, options?: ChangeOptions): Promise<boolean>
  /** Adds a video by its id or a link. Resolves with all videos of the collection. */
  addVideo(id: string, video: string, options?: ChangeOptions): Promise<readonly string[] | undefined>
  /** @returns true if the collection contained the video */
  removeVideo(id: string, video: string, options?: ChangeOptions): Promise<boolean>
  getStats(id: string, options?: CallOptions & { readonly byVideo?: boolean }): Promise<Statistics | undefined>
  /** Resolves with the sums over time. */
  getHistory(id: string, options?: HistoryOptions): Promise<readonly HistoryPoint[] | undefined>
  /** Resolves with the growth within the campaign's dates, or within another range. */
  getResults(id: string, options?: ResultsOptions): Promise<Results | undefined>
  listVideos(id: string, options?: CallOptions): Promise<CollectionVideos | undefined>
  /** Resolves with the numbers of one video over time. */
  getVideoHistory(id: string, video: string, options?: HistoryOptions): Promise<readonly HistoryPoint[] | undefined>
  /** Finds the videos, channels, playlists and posts in a text. Bare words are looked up at YouTube. */
  previewPaste(text: string, options?: CallOptions): Promise<PastePreview>
  /** As `previewPaste`, with the state `member` for what the collection contains. */
  previewPasteFor(id: string, text: string, options?: CallOptions): Promise<PastePreview | undefined>
  /** Imports the campaigns of a CSV or XLSX file. `dryRun`: nothing is changed. */
  importCampaigns(
    file: string | Uint8Array<ArrayBuffer>,
    options?: CallOptions & { readonly dryRun?: boolean },
  ): Promise<CampaignsImport>
  /** Resolves with the bytes of a file with all campaigns. */
  exportCampaigns(format: 'csv' | 'xlsx', options?: CallOptions): Promise<Uint8Array>
  /** Resolves with the text of a file: the collection and its videos. */
  export(id: string, format: 'csv' | 'json', options?: CallOptions): Promise<string | undefined>
  getUpstream(options?: CallOptions): Promise<UpstreamState>
}

const MISS_CODES = ['COLLECTION_NOT_FOUND', 'VIDEO_NOT_IN_COLLECTION', 'NOT_IN_TRASH', ...POST_MISS_CODES]

/** Creates a client of the service at `url`, in a browser or in Node. */
export function createStatsClient(url: string, options: ClientOptions = {}): StatsClient {
  const { call } = createRequester(url, options)

  const read = <T>(method: string, path: string, parts: RequestParts): Promise<T | undefined> =>
    ignoreCodes(call(method, path, parts, readJson<T>), ...MISS_CODES)

  /** @returns true if there was something to delete */
  const sendDelete = async (path: string, changeOptions: ChangeOptions = {}): Promise<boolean> =>
    (await ignoreCodes(
      call('DELETE', path, toChangeParts(changeOptions), () => true),
      ...MISS_CODES,
    )) ?? false

  async function readPoints(path: string, { from, to, step, zone, ...readCall }: HistoryOptions = {}) {
    const query = { from: from?.toISOString(), to: to?.toISOString(), step, zone }
    return (await read<Schemas['History']>('GET', path, { query, call: readCall }))?.points
  }

  async function list({ signal, timeout, include, ...query }: ListOptions = {}): Promise<CollectionPage> {
    const parts = { query: { ...query, include: toIncludeQuery(include) }, call: { signal, timeout } }
    return (await read<CollectionPage>('GET', '/collections', parts))!
  }

  return {
    list,
    async *listAll(listOptions = {}) {
      let { after } = listOptions
      do {
        const page = await list({ ...listOptions, ...(after && { offset: undefined }), after })
        yield* page.collections
        after = page.next
      } while (after !== undefined)
    },
    get: (id, { include, ...getCall } = {}) =>
      read('GET', toPath(id), { query: { include: toIncludeQuery(include) }, call: getCall }),
    put: async (id, json, putOptions = {}) =>
      (await read<StatsCollection>('PUT', toPath(id), { json, ...toChangeParts(putOptions) }))!,
    patch: (id, json, patchOptions = {}) => read('PATCH', toPath(id), { json, ...toChangeParts(patchOptions) }),
    duplicate: (id, name, call = {}) => read('POST', `${toPath(id)}/duplicate`, { json: { name }, call }),
    delete: (id, deleteOptions) => sendDelete(toPath(id), deleteOptions),
    async bulk(ids, change, { versions, ...bulkCall } = {}) {
      const json = { ids, change, ...(versions && { versions }) }
      return (await read<Schemas['BulkResults']>('POST', '/campaigns/bulk', { json, call: bulkCall }))!.results
    },
    listTrash: async ({ limit, after, ...listCall } = {}) =>
      (await read<TrashPage>('GET', '/trash', { query: { limit, after }, call: listCall }))!,
    restore: (id, restoreOptions = {}) => read('POST', `${toTrashPath(id)}/restore`, toChangeParts(restoreOptions)),
    deleteForGood: (id, deleteOptions) => sendDelete(toTrashPath(id), deleteOptions),
    addVideo: async (id, video, addOptions = {}) =>
      (await read<StatsCollection>('PUT', toPath(id, video), toChangeParts(addOptions)))?.videos,
    removeVideo: (id, video, removeOptions) => sendDelete(toPath(id, video), removeOptions),
    getStats: (id, { byVideo, ...getCall } = {}) =>
      read('GET', `${toPath(id)}/stats`, { query: { by: byVideo ? 'video' : undefined }, call: getCall }),
    getHistory: (id, historyOptions) => readPoints(`${toPath(id)}/stats/history`, historyOptions),
    getResults: (id, { from, to, zone, ...resultsCall } = {}) =>
      read('GET', `${toPath(id)}/results`, {
        query: { from: toQueryTime(from), to: toQueryTime(to), zone },
        call: resultsCall,
      }),
    listVideos: (id, listCall) => read('GET', `${toPath(id)}/videos`, { call: listCall }),
    getVideoHistory: (id, video, historyOptions) => readPoints(`${toPath(id, video)}/history`, historyOptions),
    previewPaste: async (text, call) => (await read<PastePreview>('POST', '/preview', { json: { text }, call }))!,
    previewPasteFor: (id, text, call) => read('POST', `${toPath(id)}/preview`, { json: { text }, call }),
    async importCampaigns(body, { dryRun, ...importCall } = {}) {
      const headers = { 'content-type': typeof body !== 'string' && isXlsx(body) ? XLSX_MEDIA_TYPE : 'text/csv' }
      const parts = { body, headers, query: { dryRun }, call: importCall }
      return (await read<CampaignsImport>('POST', '/campaigns/import', parts))!
    },
    exportCampaigns: (format, exportCall) =>
      call(
        'GET',
        '/campaigns/export',
        { query: { format }, call: exportCall },
        async (reply) => new Uint8Array(await reply.arrayBuffer()),
      ),
    ...createPostsClient({ read, sendDelete }),
    export: (id, format, exportCall) =>
      ignoreCodes(
        call('GET', `${toPath(id)}/export`, { query: { format }, call: exportCall }, (reply) => reply.text()),
        ...MISS_CODES,
      ),
    getUpstream: async (getCall) => (await read<UpstreamState>('GET', '/upstream', { call: getCall }))!,
  }
}

const XLSX_MEDIA_TYPE = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'

/** True if a file is a ZIP archive, as XLSX files are. */
const isXlsx = (bytes: Uint8Array): boolean => bytes[0] === 0x50 && bytes[1] === 0x4b

const toPath = (id: string, video?: string) =>
  `/collections/${encodeURIComponent(id)}${video === undefined ? '' : `/videos/${encodeURIComponent(video)}`}`

const toQueryTime = (time: string | Date | undefined) => (time instanceof Date ? time.toISOString() : time)

const toTrashPath = (id: string) => `/trash/${encodeURIComponent(id)}`

const toChangeParts = ({ ifVersion, ifAbsent, ...call }: PutCollectionOptions): RequestParts => ({
  headers: {
    'if-match': ifVersion === undefined ? undefined : `"${ifVersion}"`,
    'if-none-match': ifAbsent ? '*' : undefined,
  },
  call,
})

/** The service accepts one order of the additions only. */
const toIncludeQuery = (include: NonNullable<ListOptions['include']> = []) =>
  (['stats', 'change'] as const).filter((part) => include.includes(part)).join() || undefined
