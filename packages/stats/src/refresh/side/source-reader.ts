import type { Collections } from '../../campaigns/collections.ts'
import type { Collection } from '../../core/campaign.ts'
import type { Feed } from '../../core/follow/feed.ts'
import { getFollowedPeriod, hashRules, isUploadsList, selectUploads } from '../../core/follow/upload-rules.ts'
import { DAY_MS } from '../../core/quota-budget.ts'
import { errors } from '../../errors.ts'
import type { StatsLogger } from '../../logger/logger.ts'
import type { StatsState } from '../../state/stats-state.ts'
import type { PlaylistPage, PlaylistRequest } from '../../youtube/playlist-page.ts'
import type { SideCall } from './side-calls.ts'

export interface SourceReaderOptions {
  readonly collections: Pick<Collections, 'change'> & { readonly state: Pick<StatsState, 'getRecords' | 'putRecords'> }
  readonly logger: Pick<StatsLogger, 'info' | 'error'>
  /** Returns the campaigns that follow a playlist. */
  getCampaigns(playlist: string): readonly Collection[]
  /** Returns the time between two reads of a playlist (ms). */
  getInterval(): number
}

type SourceCall = Extract<SideCall, { kind: 'playlistItems' }>

/** Progress through the pages of a playlist. */
interface Pass {
  readonly rules: string
  /** First page. */
  first?: { readonly etag?: string; readonly newest: readonly string[] }
  pages: number
}

/** Maximum number of pages of a playlist that are read: 1,000 videos. */
const MAX_PAGES = 20

/**
 * Reads the playlists that campaigns follow, and adds their uploads to the campaigns. The list of a channel's uploads is
 * sorted, so it is read up to a known video. Of other playlists, which may grow at their end, all pages are read.
 */
export class SourceReader {
  readonly #options: SourceReaderOptions
  readonly #feeds = new Map<string, Feed>()
  readonly #passes = new Map<string, Pass>()

  constructor(options: SourceReaderOptions) {
    this.#options = options
  }

  /** Loads what is known of playlists. Returns the time of the last request of each (ms since 1970). */
  async load(playlists: readonly string[]): Promise<(number | undefined)[]> {
    const feeds = await this.#options.collections.state.getRecords('feed', playlists)
    for (const [i, feed] of feeds.entries()) if (feed) this.#feeds.set(playlists[i]!, feed)
    return feeds.map((feed) => feed?.asOf)
  }

  forget(playlist: string): void {
    this.#feeds.delete(playlist)
    this.#passes.delete(playlist)
  }

  /** Returns the request of a call. @param now ms since 1970 */
  buildRequest({ ids, pageToken }: SourceCall, now: number): PlaylistRequest {
    const playlist = ids[0]!
    if (pageToken !== undefined) return { playlist, pageToken }
    const rules = hashRules(this.#options.getCampaigns(playlist), playlist)
    this.#passes.set(playlist, { rules, pages: 0 })
    const feed = this.#feeds.get(playlist)
    return { playlist, etag: feed?.rules === rules && isEtagValid(playlist, feed, now) ? feed.etag : undefined }
  }

  /**
   * Adds the uploads of a page to the campaigns, and stores what is known of the playlist after its last page.
   * @param asOf time of the request (ms since 1970)
   * @returns the token of the next page to read, if any
   * @throws Problem if the state is unavailable: the playlist must then be read again
   */
  async apply({ ids }: SourceCall, page: PlaylistPage, asOf: number): Promise<string | undefined> {
    const playlist = ids[0]!
    const [pass, feed] = [this.#passes.get(playlist), this.#feeds.get(playlist)]
    // The playlist was removed meanwhile.
    if (!pass) return undefined
    if (page.state === 'unchanged') {
      await this.#store(playlist, { ...feed!, asOf })
      return undefined
    }
    if (page.state === 'inaccessible') {
      if (feed?.reason !== page.reason)
        this.#options.logger.error(`the playlist ${playlist} that campaigns follow cannot be read: ${page.reason}`)
      await this.#store(playlist, { asOf, rules: pass.rules, newest: [], reason: page.reason })
      return undefined
    }
    await this.#addUploads(playlist, page)
    pass.first ??= { newest: page.videos.map(({ id }) => id), ...(page.etag !== undefined && { etag: page.etag }) }
    pass.pages++
    const known = feed?.rules === pass.rules ? new Set(feed.newest) : undefined
    if (page.nextPageToken !== undefined && pass.pages < MAX_PAGES && this.#hasMore(playlist, page, known))
      return page.nextPageToken
    await this.#store(playlist, { ...pass.first, rules: pass.rules, asOf, readAt: asOf })
    return undefined
  }

  async #addUploads(playlist: string, { videos }: Extract<PlaylistPage, { state: 'found' }>): Promise<void> {
    const { collections, logger, getCampaigns } = this.#options
    for (const campaign of getCampaigns(playlist)) {
      const isKnown = new Set([...campaign.videos, ...(campaign.refused ?? [])])
      const selected = Object.entries(selectUploads(campaign, playlist, videos)).filter(([id]) => !isKnown.has(id))
      if (selected.length === 0) continue
      try {
        const { isChanged } = await collections.change('follow', campaign.id, Object.fromEntries(selected))
        if (isChanged) logger.info(`${campaign.id}: a followed playlist added ${selected.length} videos`)
      } catch (fault) {
        if ((fault as { code?: string }).code !== errors.COLLECTION_NOT_FOUND.code) throw fault
      }
    }
  }

  /** True if the next page may contain uploads for a campaign. @param known ids of an earlier pass with the same rules */
  #hasMore(
    playlist: string,
    { videos }: Extract<PlaylistPage, { state: 'found' }>,
    known: ReadonlySet<string> | undefined,
  ): boolean {
    if (!isUploadsList(playlist)) return true
    if (videos.some(({ id }) => known?.has(id))) return false
    const start = Math.min(...this.#options.getCampaigns(playlist).map((campaign) => getFollowedPeriod(campaign).from))
    const times = videos.flatMap(({ publishedAt }) => (publishedAt === undefined ? [] : Date.parse(publishedAt)))
    return Math.min(...times) >= start
  }

  async #store(playlist: string, known: Feed): Promise<void> {
    const feed = { ...known, nextAt: Math.round(known.asOf + this.#options.getInterval()) }
    this.#passes.delete(playlist)
    await this.#options.collections.state.putRecords([{ kind: 'feed', key: playlist, value: feed }])
    this.#feeds.set(playlist, feed)
  }
}

/**
 * True if an ETag shows that a playlist has not changed. YouTube does not document that the ETag of the first page changes
 * with the last one, so other lists than uploads are read whole once a day.
 */
const isEtagValid = (playlist: string, { readAt = -Infinity }: Feed, now: number): boolean =>
  isUploadsList(playlist) || now - readAt < DAY_MS
