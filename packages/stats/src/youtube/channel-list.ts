import { toChannelDetails, type ChannelDetails, type ChannelCounts } from '../core/received/channel-details.ts'
import { IDS_PER_CALL } from '../core/quota-budget.ts'
import type { ReplyContext } from './error-reply.ts'
import { parseCount, parseListReply } from './list-reply.ts'
import { createUnreadableReply } from './upstream-problem.ts'

// Without `maxResults` a call by ids returns five channels only.
const CHANNELS_QUERY =
  'part=snippet,contentDetails,statistics&maxResults=50&prettyPrint=false&fields=kind,items(id,' +
  'snippet(title,customUrl,publishedAt,thumbnails(default/url,medium/url)),contentDetails/relatedPlaylists/uploads,' +
  'statistics(viewCount,subscriberCount,hiddenSubscriberCount,videoCount))'

/** Name by which a person entered a channel. */
export type ChannelName = { readonly handle: string } | { readonly userName: string } | { readonly id: string }

const buildPath = (filter: string, key: string) =>
  `/youtube/v3/channels?${CHANNELS_QUERY}&${filter}&key=${encodeURIComponent(key)}`

/** Returns the path and query of a request for channels by id. */
export const buildChannelsPath = (ids: readonly string[], key: string): string => buildPath(`id=${ids.join(',')}`, key)

/** Returns the path and query of a request for the channel with a name. */
export const buildChannelNamePath = (name: ChannelName, key: string): string =>
  buildPath(
    'id' in name
      ? `id=${encodeURIComponent(name.id)}`
      : 'handle' in name
        ? `forHandle=${encodeURIComponent(name.handle)}`
        : `forUsername=${encodeURIComponent(name.userName)}`,
    key,
  )

/** A parsed reply of `channels.list`. Requested channels in neither list were omitted: they do not exist. */
export interface ChannelList {
  readonly found: readonly ChannelDetails[]
  /** Ids whose items in the reply are unreadable. */
  readonly unreadable: readonly string[]
}

/** Returns the counts that an item states; undefined if one is unreadable. */
function parseCounts(statistics: any = {}): ChannelCounts | undefined {
  if (typeof statistics !== 'object' || statistics === null) return undefined
  const { viewCount, subscriberCount, videoCount, hiddenSubscriberCount } = statistics
  if (hiddenSubscriberCount !== undefined && typeof hiddenSubscriberCount !== 'boolean') return undefined
  const counts = {
    subscribers: parseCount(subscriberCount),
    views: parseCount(viewCount),
    videos: parseCount(videoCount),
  }
  return Object.values(counts).includes(NaN) ? undefined : counts
}

/**
 * Parses a reply of `channels.list`.
 * @param ids the requested ids; undefined for a request by name
 * @param asOf request time (ms since the epoch)
 * @throws Problem `UPSTREAM_UNAVAILABLE` for an error reply, for content that the API never returns, and if no item is
 * readable
 */
export function parseChannels(
  status: number,
  text: string,
  ids: readonly string[] | undefined,
  asOf: number,
  context?: ReplyContext,
): ChannelList {
  const { items } = parseListReply(status, text, {
    kind: 'youtube#channelListResponse',
    noun: 'channels',
    ...(context && { context }),
  })
  if (items.length === 0 && ids !== undefined && ids.length >= IDS_PER_CALL)
    throw createUnreadableReply(`the response contained none of ${ids.length} channels`)
  const found: ChannelDetails[] = []
  const unreadable: string[] = []
  for (const item of items) {
    const id: unknown = item?.id
    if (typeof id !== 'string') throw createUnreadableReply('the response contained a channel without an id')
    // A network fault that changes an id would otherwise pass for a channel that does not exist.
    if (ids !== undefined && !ids.includes(id))
      throw createUnreadableReply('the response contained a channel that was not requested')
    const counts = parseCounts(item.statistics)
    if (counts) found.push(toChannelDetails(item, counts, asOf))
    else unreadable.push(id)
  }
  if (found.length === 0 && unreadable.length > 0)
    throw createUnreadableReply('the response contained no readable channel')
  return { found, unreadable }
}
