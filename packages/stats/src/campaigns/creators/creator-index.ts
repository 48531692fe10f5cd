import { coalesceCalls } from '@influencer-stats/runtime/async/single-flight'
import { yieldTurn } from '@influencer-stats/runtime/async/yield'
import { steadyNow } from '@influencer-stats/runtime/steady-clock'
import type { ChannelDetails } from '../../core/received/channel-details.ts'
import { omitUndefined } from '../../core/received/received-text.ts'
import type { MaybePromise, StateReader } from '../../state/stats-state.ts'
import type { CollectionRow } from '../overview/overview-source.ts'
import {
  assignFees,
  groupByChannel,
  toCampaignCreators,
  type CampaignGroups,
  type VideoChannel,
} from './creator-groups.ts'
import { selectCreators, type CreatorPage, type CreatorQuery } from './creator-selection.ts'
import type { CreatorSource } from './creator-source.ts'
import { CreatorTable } from './creator-table.ts'
import type { CampaignCreators, CreatorChannel, CreatorDetails } from './creator.ts'

/** Time for which the table of all creators is used (ms). */
const TABLE_TTL_MS = 1_000
/** Time without requests after which the data are dropped (ms). */
const IDLE_MS = 60_000
/** Time after which the channels of videos are read again: their titles change, and videos leave (ms). */
const CHANNELS_TTL_MS = 3_600_000
/** Number of rows read, and of videos summed, before other work runs: about 2 ms. */
const ROWS_PER_READ = 500
const VIDEOS_PER_TURN = 5_000

/** Creators for routes, independent of the thread that owns the numbers. */
export interface Creators {
  getPage(query: CreatorQuery): MaybePromise<CreatorPage>
  /** Returns a creator; undefined if no campaign has it. */
  getDetails(id: string): MaybePromise<CreatorDetails | undefined>
  /** Returns the creators of a campaign; undefined if there is no such campaign. */
  getCampaign(id: string): MaybePromise<CampaignCreators | undefined>
}

/**
 * Derives the creators from the channels of the videos and from the fees, on the thread that owns the numbers. The first
 * request reads the details of all videos: 10,000 take some 100 ms, in slices of 2 ms. Later requests only sum. Without
 * requests nothing is stored or computed.
 */
export class CreatorIndex implements Creators {
  readonly #source: CreatorSource
  readonly #state: Pick<StateReader, 'getVideos' | 'getRecords'>
  readonly #getOrigin: () => string | undefined
  /** Channels of videos by the ids of the videos, the origin of the data, and the time of the first read. */
  #videoChannels = new Map<string, VideoChannel>()
  #origin: string | undefined
  #channelsAt = -Infinity
  #table: CreatorTable | undefined
  #builtAt = -Infinity
  /** Number of changes of collections by this process, and the number that the table contains. */
  #changes = 0
  #builtChanges = 0
  #idleTimer: NodeJS.Timeout | undefined
  readonly #buildShared = coalesceCalls(() => this.#build())

  /** @param getOrigin returns the origin of the numbers, which may change in a cluster */
  constructor(
    source: CreatorSource,
    state: Pick<StateReader, 'getVideos' | 'getRecords'>,
    getOrigin: () => string | undefined,
  ) {
    this.#source = source
    this.#state = state
    this.#getOrigin = getOrigin
  }

  /** Records that a collection changed: the next request contains the change. */
  invalidate(): void {
    this.#changes++
  }

  async getPage(query: CreatorQuery): Promise<CreatorPage> {
    return selectCreators((await this.#getTable()).listSummaries(), query)
  }

  async getDetails(id: string): Promise<CreatorDetails | undefined> {
    return (await this.#getTable()).getDetails(id)
  }

  async getCampaign(id: string): Promise<CampaignCreators | undefined> {
    const row = await this.#source.getRow(id)
    if (!row) return undefined
    this.#keepAlive()
    const groups = await this.#readGroups(row)
    const getChannel = await this.#readChannels([groups])
    return toCampaignCreators(assignFees(groups, getChannel), getChannel)
  }

  async #getTable(): Promise<CreatorTable> {
    this.#keepAlive()
    const isCurrent = this.#builtChanges === this.#changes && steadyNow() - this.#builtAt < TABLE_TTL_MS
    return this.#table && isCurrent ? this.#table : this.#buildShared()
  }

  /** Drops the data after a time without requests. */
  #keepAlive(): void {
    if (this.#idleTimer) {
      this.#idleTimer.refresh()
      return
    }
    const drop = () => {
      this.#idleTimer = undefined
      this.#table = undefined
      this.#videoChannels = new Map()
    }
    this.#idleTimer = setTimeout(drop, IDLE_MS).unref()
  }

  async #build(): Promise<CreatorTable> {
    const [builtAt, changes] = [steadyNow(), this.#changes]
    const campaigns: { row: CollectionRow; groups: CampaignGroups }[] = []
    let videos = 0
    for await (const page of this.#source.readPages())
      for (const row of page) {
        campaigns.push({ row, groups: await this.#readGroups(row) })
        videos += row.collection.videos.length
        if (videos < VIDEOS_PER_TURN) continue
        videos = 0
        await yieldTurn()
      }
    const getChannel = await this.#readChannels(campaigns.map(({ groups }) => groups))
    const table = new CreatorTable(getChannel)
    for (const [i, { row, groups }] of campaigns.entries()) {
      table.add(row, assignFees(groups, getChannel))
      if (i % ROWS_PER_READ === ROWS_PER_READ - 1) await yieldTurn()
    }
    this.#table = table
    this.#builtAt = builtAt
    this.#builtChanges = changes
    return table
  }

  /** Returns the known channels of videos, without those that are too old or of another origin. */
  #getVideoChannels(): Map<string, VideoChannel> {
    const [origin, now] = [this.#getOrigin(), steadyNow()]
    if (origin !== this.#origin || now - this.#channelsAt > CHANNELS_TTL_MS) {
      this.#videoChannels = new Map()
      this.#origin = origin
      this.#channelsAt = now
    }
    return this.#videoChannels
  }

  async #readGroups({ collection }: CollectionRow): Promise<CampaignGroups> {
    const channels = this.#getVideoChannels()
    const unread = collection.videos.filter((id) => !channels.has(id))
    for (let i = 0; i < unread.length; i += ROWS_PER_READ) {
      for (const details of await this.#state.getVideos(unread.slice(i, i + ROWS_PER_READ)))
        if (details?.channelId !== undefined)
          channels.set(details.id, { id: details.channelId, title: details.channel })
    }
    return groupByChannel(collection, await this.#source.getNumbers(collection), channels)
  }

  /** Returns the function that finds the data of a channel, for the creators of these campaigns. */
  async #readChannels(campaigns: readonly CampaignGroups[]): Promise<(id: string) => CreatorChannel | undefined> {
    const ids = new Set<string>()
    for (const { collection, groups } of campaigns) {
      for (const { id } of groups) ids.add(id)
      for (const { creator } of collection.fees ?? []) if (isChannelId(creator)) ids.add(creator)
    }
    const found = new Map<string, CreatorChannel>()
    const all = [...ids]
    for (let i = 0; i < all.length; i += ROWS_PER_READ) {
      const some = all.slice(i, i + ROWS_PER_READ)
      const values = await this.#state.getRecords('channel', some)
      for (const [j, value] of values.entries()) if (value) found.set(some[j]!, toChannel(value))
    }
    return (id) => found.get(id)
  }
}

export const isChannelId = (id: string): boolean => /^UC[\w-]{22}$/.test(id)

const toChannel = ({ title, handle, thumbnail, subscribers, hidesSubscribers }: ChannelDetails): CreatorChannel => ({
  ...omitUndefined({ title, handle, thumbnail, hidesSubscribers }),
  // YouTube has sent 0 for a count that a channel hides.
  ...omitUndefined({ subscribers: hidesSubscribers ? undefined : subscribers }),
})
