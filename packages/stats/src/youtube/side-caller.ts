import type { Problem } from '@influencer-stats/runtime/problems'
import type { ChannelDetails } from '../core/received/channel-details.ts'
import type { QuotaKind, SideKind } from '../core/quota-budget.ts'
import type { VideoDetails } from '../core/video-details.ts'
import {
  buildChannelNamePath,
  buildChannelsPath,
  parseChannels,
  type ChannelList,
  type ChannelName,
} from './channel-list.ts'
import {
  buildPlaylistItemsPath,
  buildPlaylistPath,
  parsePlaylist,
  parsePlaylistPage,
  type Playlist,
  type PlaylistPage,
  type PlaylistRequest,
} from './playlist-page.ts'
import type { ReplyContext } from './error-reply.ts'
import { buildVideosPath, parseDetails, parseVideos } from './video-list.ts'

/** One call of the API. */
export interface ApiCall<Result> {
  readonly kind: QuotaKind
  /** What is requested, for log lines. */
  readonly label: string
  /** Headers in addition to those of every call. */
  readonly headers?: Readonly<Record<string, string>>
  /** Returns the path and query. Called when the call is sent. */
  buildPath(key: string): string
  /**
   * Parses the reply.
   * @param context properties of a reply whose status is not 200
   * @throws Problem `UPSTREAM_UNAVAILABLE`
   */
  parse(status: number, text: string, context: ReplyContext | undefined): Result
  /** Returns the result of a failed call, or throws the problem. */
  fail(problem: Problem): Result
}

/** Sends a call. Rejects only with what `fail` of the call throws. */
export type SendCall = <Result>(call: ApiCall<Result>) => Promise<Result>

/**
 * Makes the calls of YouTube other than those for the numbers of videos. Each call takes a unit of quota.
 * All methods reject with `UPSTREAM_UNAVAILABLE` when YouTube is unreachable, slow, refuses, or returns an unreadable
 * reply, and when the budget of the day is used up.
 */
export interface SideCaller {
  /** Reads channels. @param ids distinct, at most 50 */
  getChannels(ids: readonly string[]): Promise<ChannelList>
  /** Reads a page of a playlist, of up to 50 videos. With the ETag of an earlier page the result may be `unchanged`. */
  getPlaylistPage(request: PlaylistRequest): Promise<PlaylistPage>
  /** Finds the channel with a handle or a user name that a person entered. Undefined if there is none. */
  findChannel(name: ChannelName): Promise<ChannelDetails | undefined>
  /** Finds a playlist that a person entered. Undefined if there is none. */
  findPlaylist(id: string): Promise<Playlist | undefined>
  /** Returns the details of those of the ids that are videos. @param ids distinct, at most 50 */
  findVideos(ids: readonly string[]): Promise<VideoDetails[]>
}

/** Maximum number of requested ids of `findVideos`: no reply to them is suspicious, because a person entered them. */
const NO_FULL_CALL = Infinity

/** Creates the side calls of a client. */
export function createSideCaller(send: SendCall): SideCaller {
  const request = <Result>(
    kind: SideKind,
    label: string,
    call: Pick<ApiCall<Result>, 'buildPath' | 'parse' | 'headers'>,
  ): Promise<Result> =>
    send({
      kind,
      label,
      ...call,
      fail(problem) {
        throw problem
      },
    })

  return {
    async getChannels(ids) {
      if (ids.length === 0) return { found: [], unreadable: [] }
      const asOf = Date.now()
      return request('channels', `the channels ${ids.join()}`, {
        buildPath: (key) => buildChannelsPath(ids, key),
        parse: (status, text, context) => parseChannels(status, text, ids, asOf, context),
      })
    },

    getPlaylistPage: (page) =>
      request('playlistItems', `the playlist ${page.playlist}`, {
        ...(page.etag !== undefined && { headers: { 'if-none-match': quoteEtag(page.etag) } }),
        buildPath: (key) => buildPlaylistItemsPath(page.playlist, page.pageToken, key),
        parse: (status, text, context) => parsePlaylistPage(status, text, page, context),
      }),

    async findChannel(name) {
      const asOf = Date.now()
      const { found } = await request('lookups', 'a channel', {
        buildPath: (key) => buildChannelNamePath(name, key),
        parse: (status, text, context) => parseChannels(status, text, undefined, asOf, context),
      })
      return found[0]
    },

    findPlaylist: (id) =>
      request('lookups', `the playlist ${id}`, {
        buildPath: (key) => buildPlaylistPath(id, key),
        parse: (status, text, context) => parsePlaylist(status, text, id, context),
      }),

    async findVideos(ids) {
      if (ids.length === 0) return []
      const asOf = Date.now()
      return request('lookups', ids.join(), {
        buildPath: (key) => buildVideosPath(ids, key, true),
        parse(status, text, context) {
          const { items } = parseVideos(status, text, ids, NO_FULL_CALL, context)
          return parseDetails(items, ids, asOf)
        },
      })
    },
  }
}

/** In a body, YouTube states an ETag without its quotation marks; earlier versions of the API included them. */
const quoteEtag = (etag: string): string => (etag.startsWith('"') ? etag : `"${etag}"`)
