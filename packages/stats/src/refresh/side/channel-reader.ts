import { yieldTurn } from '@influencer-stats/runtime/async/yield'
import type { ChannelCounts, ChannelDetails } from '../../core/received/channel-details.ts'
import type { RecordChange } from '../../core/record-kinds.ts'
import type { StatsState } from '../../state/stats-state.ts'

type ChannelState = Pick<StatsState, 'getVideos' | 'getRecords' | 'putRecords'>

/** Number of rows per read. */
const BATCH_SIZE = 200

/** Returns the ids of the channels of videos, as their details state them. Other work runs between two batches. */
export async function readChannelIds(state: ChannelState, videos: readonly string[]): Promise<Set<string>> {
  const ids = new Set<string>()
  for (let i = 0; i < videos.length; i += BATCH_SIZE) {
    await yieldTurn()
    for (const details of await state.getVideos(videos.slice(i, i + BATCH_SIZE)))
      if (details?.channelId !== undefined) ids.add(details.channelId)
  }
  return ids
}

/** Yields channels with the time of their last request (ms since 1970); undefined if there was none. */
export async function* readChannelTimes(
  state: ChannelState,
  ids: readonly string[],
): AsyncGenerator<readonly [id: string, asOf: number | undefined]> {
  for (let i = 0; i < ids.length; i += BATCH_SIZE) {
    const batch = ids.slice(i, i + BATCH_SIZE)
    const channels = await state.getRecords('channel', batch)
    for (const [at, id] of batch.entries()) yield [id, channels[at]?.asOf]
  }
}

const toCounts = ({ subscribers, views, videos }: ChannelDetails): ChannelCounts => ({
  ...(subscribers !== undefined && { subscribers }),
  ...(views !== undefined && { views }),
  ...(videos !== undefined && { videos }),
})

/** Stores channels, and a point of the history of each whose counts have changed. */
export async function storeChannels(state: ChannelState, channels: readonly ChannelDetails[]): Promise<void> {
  if (channels.length === 0) return
  const before = await state.getRecords(
    'channel',
    channels.map(({ id }) => id),
  )
  const rows = channels.flatMap((channel, i): RecordChange[] => {
    const [counts, last] = [toCounts(channel), before[i]]
    const row: RecordChange = { kind: 'channel', key: channel.id, value: channel }
    if (last && JSON.stringify(toCounts(last)) === JSON.stringify(counts)) return [row]
    return [row, { kind: 'channel-point', key: toChannelPointKey(channel.id, channel.asOf), value: counts }]
  })
  await state.putRecords(rows)
}

/** Returns the key of a point. @param at ms since 1970 */
export const toChannelPointKey = (channel: string, at: number): string => `${channel}/${String(at).padStart(16, '0')}`
