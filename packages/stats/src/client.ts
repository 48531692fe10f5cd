import { createAsk, orMiss, type ClientOptions } from '@influencer-stats/runtime/client'
import type { Campaign, CampaignPatch, costsOf } from './core/campaign.ts'
import type { Change } from './core/change.ts'
import type { Sort } from './core/overview.ts'
import type { Summary } from './core/prepared.ts'
import type { ToldVideo } from './videos-of.ts'

export type { Campaign, CampaignPatch, Change, Sort, ToldVideo as Video }

/** A collection without its id. */
export interface CollectionContent extends Campaign {
  /** Ids of videos; where they are given, links are as good. */
  readonly videos: readonly string[]
}

export interface Collection extends CollectionContent {
  readonly id: string
}

/** The sums of a collection. Times as in JSON. */
export interface Stats extends Summary {
  /** Whether they are older than two intervals of refreshing. */
  readonly stale: boolean
  /** Who gave them; `stand-in`: they are invented. */
  readonly source?: string
}

/** A collection with what was asked for of it. */
export interface CollectionRow extends Collection {
  readonly stats?: Stats
  readonly change?: Change
  readonly costs?: ReturnType<typeof costsOf>
}

/** The sums from a time on, until the next point. */
export interface HistoryPoint {
  readonly at: string
  readonly impressions: number
  readonly engagements: number
  readonly score: number
  readonly videos: number
}

/** What to tell of collections besides themselves. */
export type Include = readonly ('stats' | 'change')[]

export interface ListOptions {
  readonly include?: Include
  readonly sort?: Sort
  readonly q?: string
  readonly tag?: string
  readonly limit?: number
  /** `next` of the page before. */
  readonly after?: string
}

export interface HistoryOptions {
  readonly from?: Date
  readonly to?: Date
  /** At most one point for each so many seconds. */
  readonly step?: number
}

/** What a stats service can be asked. What is not there is `undefined`; other refusals are a `ServiceError`. */
export interface StatsClient {
  list(options?: ListOptions): Promise<{ readonly collections: readonly CollectionRow[]; readonly next?: string }>
  get(id: string, include?: Include): Promise<CollectionRow | undefined>
  /** Makes or replaces a collection. */
  put(id: string, content: CollectionContent): Promise<Collection>
  /** Changes what is named; `null` takes something away. */
  patch(id: string, patch: CampaignPatch & Partial<Pick<Collection, 'videos'>>): Promise<Collection | undefined>
  /** @returns whether there was one */
  delete(id: string): Promise<boolean>
  /** Adds a video, by its id or a link to it. Resolves with all of them. */
  addVideo(id: string, video: string): Promise<readonly string[] | undefined>
  /** @returns whether it was there */
  removeVideo(id: string, video: string): Promise<boolean>
  stats(id: string): Promise<Stats | undefined>
  videos(
    id: string,
  ): Promise<{ readonly videos: readonly ToldVideo[]; readonly asOf: string; readonly stale: boolean } | undefined>
  history(id: string, options?: HistoryOptions): Promise<readonly HistoryPoint[] | undefined>
  videoHistory(id: string, video: string, options?: HistoryOptions): Promise<readonly HistoryPoint[] | undefined>
  /** The collection as a file. */
  export(id: string, format: 'csv' | 'json'): Promise<string | undefined>
}

const MISSES = ['COLLECTION_NOT_FOUND', 'VIDEO_NOT_IN_COLLECTION']

/** A client for the service at `url`, in a browser or in Node. */
export function createStatsClient(url: string, options: ClientOptions = {}): StatsClient {
  const answer = createAsk(url, options)

  /** A reply; nothing where something is not there. */
  const ask = (...args: Parameters<typeof answer>) => orMiss(answer(...args), ...MISSES)

  async function read<T>(...args: Parameters<typeof ask>): Promise<T | undefined> {
    return (await ask(...args))?.json() as Promise<T | undefined>
  }

  async function points(path: string, { from, to, step }: HistoryOptions = {}) {
    const query = { from: from?.toISOString(), to: to?.toISOString(), step }
    return (await read<{ points: HistoryPoint[] }>('GET', path, { query }))?.points
  }

  const pathOf = (id: string) => `/collections/${encodeURIComponent(id)}`
  const pathOfVideo = (id: string, video: string) => `${pathOf(id)}/videos/${encodeURIComponent(video)}`

  return {
    async list({ include, ...query } = {}) {
      const asked = { query: { ...query, include: parts(include) } }
      return (await read<Awaited<ReturnType<StatsClient['list']>>>('GET', '/collections', asked))!
    },
    get: (id, include) => read('GET', pathOf(id), { query: { include: parts(include) } }),
    put: async (id, json) => (await read<Collection>('PUT', pathOf(id), { json }))!,
    patch: (id, json) => read('PATCH', pathOf(id), { json }),
    delete: async (id) => (await ask('DELETE', pathOf(id))) !== undefined,
    addVideo: async (id, video) => (await read<Collection>('PUT', pathOfVideo(id, video)))?.videos,
    removeVideo: async (id, video) => (await ask('DELETE', pathOfVideo(id, video))) !== undefined,
    stats: (id) => read('GET', `${pathOf(id)}/stats`),
    videos: (id) => read('GET', `${pathOf(id)}/videos`),
    history: (id, range) => points(`${pathOf(id)}/stats/history`, range),
    videoHistory: (id, video, range) => points(`${pathOfVideo(id, video)}/history`, range),
    export: async (id, format) => (await ask('GET', `${pathOf(id)}/export`, { query: { format } }))?.text(),
  }
}

const parts = (include: Include = []) => {
  const asked = (['stats', 'change'] as const).filter((part) => include.includes(part))
  return asked.length > 0 ? asked.join() : undefined
}
