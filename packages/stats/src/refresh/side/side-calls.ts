import {
  DAY_MS,
  getPacedInterval,
  getSideUnitsLeft,
  IDS_PER_CALL,
  SIDE_SHARE,
  type RemainingQuota,
  type SideQuota,
} from '../../core/quota-budget.ts'
import { DueQueue } from './due-queue.ts'

/** A side call to make. The caller reports its result to `recordRead` or `recordFailure`. */
export type SideCall =
  | { readonly kind: 'channels'; readonly ids: readonly string[] }
  /** One page of a playlist. @property ids the playlist */
  | { readonly kind: 'playlistItems'; readonly ids: readonly string[]; readonly pageToken?: string }

/** Interval between two reads of a channel (ms). */
export const CHANNEL_INTERVAL_MS = DAY_MS
/** Minimum interval between two reads of a playlist that campaigns follow (ms). */
export const MIN_SOURCE_INTERVAL_MS = 900_000
/** Time that new channels wait for others to share a call (ms). */
const GATHER_MS = 5_000

/**
 * Decides which channels and which playlists are read next, and when: a channel once a day, 50 in a call; a playlist
 * every 15 minutes, or more slowly. All side calls together use at most a tenth of the budget of a day, and of the
 * units that are left, but at least one unit a day. They are spread over the day. The first read of a channel or
 * playlist, which a person waits for, is not paced unless less than a tenth of the budget is left. If both kinds are due
 * they alternate, so that neither waits for the other.
 *
 * One call is made at a time. Only the poller makes calls, and none while the circuit breaker of `Schedule` pauses them.
 * Times are ms of a monotonic clock. The schedule has no clock itself.
 */
export class SideCalls {
  readonly #channels = new DueQueue(CHANNEL_INTERVAL_MS)
  readonly #sources: DueQueue
  readonly #minSourceInterval: number
  /** Tokens of the next page to read, by playlist. */
  readonly #pageTokens = new Map<string, string>()
  #running: SideCall | undefined
  #last: SideCall['kind'] = 'playlistItems'
  /** Time of the last call, or of the last read of an earlier process. */
  #lastAt = -Infinity
  /** Time until which new channels wait for others to share their call. */
  #gatheredAt = -Infinity

  /** @param minSourceInterval minimum time between two reads of a playlist (ms) */
  constructor(minSourceInterval = MIN_SOURCE_INTERVAL_MS) {
    this.#minSourceInterval = minSourceInterval
    this.#sources = new DueQueue(minSourceInterval)
  }

  /**
   * Adds a channel. It has no effect if the channel is known.
   * @param readAt time of its last read; undefined if there was none
   */
  addChannel(id: string, now: number, readAt?: number): void {
    if (readAt === undefined && !this.#channels.hasFirst) this.#gatheredAt = now + GATHER_MS
    this.#add(this.#channels, id, readAt)
  }

  /** Adds a playlist that a campaign follows. It has no effect if the playlist is known. @param readAt see `addChannel` */
  addSource(playlist: string, readAt?: number): void {
    this.#add(this.#sources, playlist, readAt)
  }

  #add(queue: DueQueue, id: string, readAt: number | undefined): void {
    queue.add(id, readAt)
    if (readAt !== undefined) this.#lastAt = Math.max(this.#lastAt, readAt)
  }

  hasChannel = (id: string): boolean => this.#channels.has(id)

  removeChannel(id: string): void {
    this.#channels.remove(id)
  }

  removeSource(playlist: string): void {
    this.#sources.remove(playlist)
    this.#pageTokens.delete(playlist)
  }

  /** Reads the first page of a playlist soon: it may contain uploads for a new rule. */
  prioritizeSource(playlist: string): void {
    this.#pageTokens.delete(playlist)
    this.#sources.prioritize(playlist)
  }

  /** Number of channels and of playlists. */
  get size(): { readonly channels: number; readonly sources: number } {
    return { channels: this.#channels.size, sources: this.#sources.size }
  }

  /** Number of calls that read all channels. */
  get #channelCalls(): number {
    return Math.ceil(this.#channels.size / IDS_PER_CALL)
  }

  /** Returns the next call to make now, if any. */
  next(now: number, quota: SideQuota): SideCall | undefined {
    if (this.#running || getSideUnitsLeft(quota) < 1) return undefined
    const { channels, sources } = this.#getReadyTimes(quota)
    if (Math.min(channels, sources) > now) return undefined
    const hasTurn = this.#last === 'playlistItems' || sources > now
    this.#running = channels <= now && hasTurn ? this.#takeChannels(now) : this.#takeSource(now)
    this.#last = this.#running.kind
    this.#lastAt = now
    return this.#running
  }

  /** Returns the earliest time of the next call of each kind. */
  #getReadyTimes(quota: SideQuota): { readonly channels: number; readonly sources: number } {
    const slot = this.#getNextSlot(quota)
    const isScarce = quota.left < quota.budget * SIDE_SHARE
    const getReadyAt = (queue: DueQueue, firstAt: number) =>
      queue.hasFirst && !isScarce ? firstAt : Math.max(slot, firstAt, queue.getDueAt())
    return {
      channels: getReadyAt(this.#channels, this.#channels.hasFirst ? this.#gatheredAt : -Infinity),
      sources: getReadyAt(this.#sources, -Infinity),
    }
  }

  #takeChannels(now: number): SideCall {
    return { kind: 'channels', ids: this.#channels.take(IDS_PER_CALL, now) }
  }

  #takeSource(now: number): SideCall {
    const ids = this.#sources.take(1, now)
    const pageToken = this.#pageTokens.get(ids[0]!)
    return { kind: 'playlistItems', ids, ...(pageToken !== undefined && { pageToken }) }
  }

  /**
   * Records that a call succeeded.
   * @param at start time of the call
   * @param nextPageToken of a playlist that has more new videos: its next page is read soon
   */
  recordRead(call: SideCall, at: number, nextPageToken?: string): void {
    this.#running = undefined
    const [id] = call.ids
    this.#getQueue(call).recordRead(call.ids, at)
    if (call.kind === 'channels') return
    this.#pageTokens.delete(id!)
    if (nextPageToken === undefined || !this.#sources.has(id!)) return
    this.#pageTokens.set(id!, nextPageToken)
    this.#sources.prioritize(id!)
  }

  /** Records a failed call. Its ids are retried, with a delay that grows with each failure. */
  recordFailure(call: SideCall, now: number): void {
    this.#running = undefined
    this.#getQueue(call).recordFailure(call.ids, now)
    // The page may no longer exist: the retry begins with the first one.
    if (call.kind === 'playlistItems') this.#pageTokens.delete(call.ids[0]!)
  }

  #getQueue = ({ kind }: SideCall): DueQueue => (kind === 'channels' ? this.#channels : this.#sources)

  /** Returns the earliest time of the next call; `Infinity` while a call runs or if nothing is to be read. */
  getWakeAt(now: number, quota: SideQuota): number {
    if (this.#running || this.#isEmpty) return Infinity
    if (getSideUnitsLeft(quota) < 1) return now + quota.untilReset
    const { channels, sources } = this.#getReadyTimes(quota)
    return Math.min(channels, sources)
  }

  get #isEmpty(): boolean {
    return this.#channels.size + this.#sources.size === 0
  }

  /** Returns the time of the next paced call. */
  #getNextSlot(quota: SideQuota): number {
    const { budget, untilReset } = quota
    const share = { budget: budget * SIDE_SHARE, left: getSideUnitsLeft(quota), untilReset }
    return this.#lastAt + getPacedInterval(share, 1)
  }

  /**
   * Returns the interval at which each playlist is read (ms) while the quota stays the same: at least the minimum.
   */
  getSourceInterval({ budget }: Pick<RemainingQuota, 'budget'>): number {
    if (budget === 0) return this.#minSourceInterval
    const calls = budget * SIDE_SHARE
    const channelCalls = Math.min(this.#channelCalls, calls / 2)
    return Math.max(this.#minSourceInterval, (DAY_MS * this.#sources.size) / (calls - channelCalls))
  }

  /** Returns the units that the side calls will use until the reset, at most their share. */
  getReservedUnits(now: number, quota: SideQuota): number {
    const { budget, untilReset } = quota
    if (budget === 0) return 0
    const channels = this.#channels.getDueAt() <= now + untilReset ? this.#channelCalls : 0
    const sources = Math.ceil((this.#sources.size * untilReset) / this.getSourceInterval(quota))
    return Math.min(channels + sources, Math.floor(Math.max(0, getSideUnitsLeft(quota))))
  }

  /** Returns the quota that the video schedule may use: the units left without those that side calls need. */
  getVideoQuota(now: number, quota: SideQuota): RemainingQuota {
    if (quota.budget === 0 || this.#isEmpty) return quota
    const daily = this.#channelCalls + (this.#sources.size * DAY_MS) / this.getSourceInterval(quota)
    const budget = quota.budget - Math.min(daily, quota.budget * SIDE_SHARE)
    return { budget, left: quota.left - this.getReservedUnits(now, quota), untilReset: quota.untilReset }
  }
}
