import { Outage } from '@influencer-stats/runtime/async/outage'
import { commonErrors } from '@influencer-stats/runtime/errors'
import { Problem } from '@influencer-stats/runtime/problems'
import { steadyNow, toSteadyTime } from '@influencer-stats/runtime/steady-clock'
import type { Collections } from '../../campaigns/collections.ts'
import type { Collection } from '../../core/campaign.ts'
import { isUpstreamWide, type CircuitBreaker } from '../../core/circuit-breaker.ts'
import { DAY_MS, type RemainingQuota, type SideQuota } from '../../core/quota-budget.ts'
import type { VideoDetails } from '../../core/video-details.ts'
import type { StatsLogger } from '../../logger/logger.ts'
import type { QuotaMeter } from '../../quota/quota-meter.ts'
import type { StatsState } from '../../state/stats-state.ts'
import type { SideCaller } from '../../youtube/side-caller.ts'
import { toUpstreamFault } from '../../youtube/upstream-problem.ts'
import { readChannelIds, readChannelTimes, storeChannels } from './channel-reader.ts'
import { FollowedPlaylists, type PlaylistChange } from './followed-playlists.ts'
import { SideCalls, type SideCall } from './side-calls.ts'
import { SourceReader } from './source-reader.ts'

export interface SidePollerOptions {
  readonly caller: Pick<SideCaller, 'getChannels' | 'getPlaylistPage'>
  readonly collections: Pick<Collections, 'change'> & {
    readonly state: Pick<StatsState, 'getVideos' | 'getRecords' | 'putRecords'>
  }
  readonly meter: Pick<QuotaMeter, 'remainingQuota' | 'usedByKind'>
  readonly logger: Pick<StatsLogger, 'info' | 'error'>
  /** Minimum time between two reads of a playlist (ms). */
  readonly sourceInterval: number
}

/** The data of the poller that side calls use. */
export interface PolledData {
  /** Circuit breaker of all calls. */
  readonly circuit: CircuitBreaker
  listCollections(): Iterable<Collection>
  getCollection(id: string): Collection | undefined
  /** Returns the videos of all collections. */
  listVideos(): string[]
}

/** Side calls from the time at which this node begins to poll until it no longer polls. */
interface Session {
  readonly polled: PolledData
  readonly calls: SideCalls
  readonly playlists: FollowedPlaylists
  readonly sources: SourceReader
  /** Times of the next reading of the campaigns and of the channels of their videos (ms of the monotonic clock). */
  campaignsAt: number
  channelsAt: number
  isLoading: boolean
  /** True once all campaigns were read: from then on their changes are applied. */
  hasCampaigns: boolean
  /** True once the channels of all videos were read: from then on a channel of a call is known to be new. */
  hasChannels: boolean
  /** Followed playlists of which it is unknown when they were last read. */
  readonly unloaded: Set<string>
  /** Channels of the videos; those that a call returned during a reading are included. */
  channels: Set<string>
}

/** Interval at which the dates of campaigns are compared with the clock (ms). */
const CAMPAIGNS_INTERVAL_MS = 3_600_000
const RETRY_MS = 60_000

/**
 * Makes the side calls of the poller: it reads the channels of all videos and the playlists that campaigns follow, when
 * `SideCalls` selects them. Faults of YouTube go to the circuit breaker of all calls.
 */
export class SidePoller {
  readonly #options: SidePollerOptions
  #session: Session | undefined
  readonly #upstreamOutage: Outage
  readonly #stateOutage: Outage

  constructor(options: SidePollerOptions) {
    this.#options = options
    const { logger } = options
    this.#upstreamOutage = new Outage({
      onStart: (fault) => logger.error(`channels or followed playlists cannot be read: ${toDetail(fault)}`),
      onEnd: () => logger.info('channels and followed playlists are read again'),
    })
    this.#stateOutage = new Outage({
      onStart: (fault) => logger.error('data of channels or followed playlists could not be stored', fault),
    })
  }

  /** Begins to make calls. What is known of channels and playlists is loaded with the next `start`. */
  begin(polled: PolledData): void {
    const { collections, logger, sourceInterval } = this.#options
    const playlists = new FollowedPlaylists()
    const getCampaigns = (playlist: string) =>
      playlists.getCampaignIds(playlist).flatMap((id) => polled.getCollection(id) ?? [])
    const calls = new SideCalls(sourceInterval)
    const getInterval = () => calls.getSourceInterval(this.#options.meter.remainingQuota)
    this.#session = {
      polled,
      calls,
      playlists,
      sources: new SourceReader({ collections, logger, getCampaigns, getInterval }),
      campaignsAt: -Infinity,
      channelsAt: -Infinity,
      isLoading: false,
      hasCampaigns: false,
      hasChannels: false,
      unloaded: new Set(),
      channels: new Set(),
    }
  }

  /** Makes no more calls. Of a call in flight only the circuit breaker gets the result. */
  end(): void {
    this.#session = undefined
  }

  /** Number of channels and of playlists that are read. */
  get size(): SideCalls['size'] {
    return this.#session?.calls.size ?? { channels: 0, sources: 0 }
  }

  /** Adds, changes or removes a campaign. */
  onCollectionChange(id: string, collection: Collection | undefined): void {
    const session = this.#session
    if (!session?.hasCampaigns) return
    this.#applyChange(session, session.playlists.set(id, collection, Date.now()))
  }

  /** Adds the channels of videos whose details a call returned. */
  addChannels(details: readonly VideoDetails[]): void {
    const session = this.#session
    if (!session) return
    for (const { channelId } of details) {
      if (channelId === undefined || session.channels.has(channelId)) continue
      session.channels.add(channelId)
      if (session.hasChannels) session.calls.addChannel(channelId, steadyNow())
    }
  }

  /** Returns the quota that the schedule of the videos may use: see `SideCalls`. */
  getVideoQuota(now: number): RemainingQuota {
    return this.#session ? this.#session.calls.getVideoQuota(now, this.#getQuota()) : this.#options.meter.remainingQuota
  }

  #getQuota(): SideQuota {
    const { remainingQuota, usedByKind } = this.#options.meter
    return { ...remainingQuota, usedBySideCalls: usedByKind.channels + usedByKind.playlistItems }
  }

  /** Starts the work that is due. The results never reject, and the poller checks the schedule after each. */
  start(now: number): Promise<void>[] {
    const session = this.#session
    if (!session) return []
    const works: Promise<void>[] = []
    if (!session.isLoading && now >= Math.min(session.campaignsAt, session.channelsAt))
      works.push(this.#load(session, now))
    const call = session.polled.circuit.canCall(now) && session.calls.next(now, this.#getQuota())
    if (call) works.push(this.#make(session, call))
    return works
  }

  /** Returns the earliest time of the next work, unless a call ends before (ms of the monotonic clock). */
  getWakeAt(now: number): number {
    const session = this.#session
    if (!session) return Infinity
    const { calls, polled, isLoading, campaignsAt, channelsAt } = session
    const callAt = Math.max(polled.circuit.getAllowedAt(), calls.getWakeAt(now, this.#getQuota()))
    return isLoading ? callAt : Math.min(callAt, campaignsAt, channelsAt)
  }

  async #load(session: Session, now: number): Promise<void> {
    session.isLoading = true
    try {
      if (now >= session.campaignsAt) await this.#loadCampaigns(session, now)
      if (now >= session.channelsAt) await this.#loadChannels(session, now)
      this.#stateOutage.succeed()
    } catch (fault) {
      this.#stateOutage.fail(fault)
      session.campaignsAt = Math.max(session.campaignsAt, now + RETRY_MS)
      session.channelsAt = Math.max(session.channelsAt, now + RETRY_MS)
    }
    session.isLoading = false
  }

  async #loadCampaigns(session: Session, now: number): Promise<void> {
    const { playlists, polled, sources, calls, unloaded } = session
    const { hasCampaigns } = session
    session.hasCampaigns = true
    for (const id of playlists.getAllCampaignIds()) this.onCollectionChange(id, polled.getCollection(id))
    for (const collection of polled.listCollections()) {
      if (!collection.sources) continue
      const change = playlists.set(collection.id, collection, Date.now())
      if (hasCampaigns) this.#applyChange(session, change)
      else for (const playlist of change.added) unloaded.add(playlist)
    }
    const added = [...unloaded]
    const times = added.length === 0 ? [] : await sources.load(added)
    for (const [i, playlist] of added.entries()) {
      unloaded.delete(playlist)
      if (playlists.getCampaignIds(playlist).length === 0) continue
      calls.addSource(playlist, times[i] === undefined ? undefined : toSteadyTime(times[i]))
    }
    session.campaignsAt = now + CAMPAIGNS_INTERVAL_MS
  }

  async #loadChannels(session: Session, now: number): Promise<void> {
    const { state } = this.#options.collections
    const before = session.channels
    // A call may add more meanwhile.
    session.channels = new Set()
    const found = await readChannelIds(state, session.polled.listVideos())
    for (const id of session.channels) found.add(id)
    const added = [...found].filter((id) => !session.calls.hasChannel(id))
    for await (const [id, asOf] of readChannelTimes(state, added))
      session.calls.addChannel(id, now, asOf === undefined ? undefined : toSteadyTime(asOf))
    for (const id of session.channels) found.add(id)
    for (const id of before) if (!found.has(id)) session.calls.removeChannel(id)
    for (const id of found) session.calls.addChannel(id, now)
    session.channels = found
    session.hasChannels = true
    session.channelsAt = now + DAY_MS
  }

  #applyChange({ calls, sources }: Session, { added, removed, changed }: PlaylistChange): void {
    for (const playlist of removed) {
      calls.removeSource(playlist)
      sources.forget(playlist)
    }
    for (const playlist of added) calls.addSource(playlist)
    for (const playlist of changed) calls.prioritizeSource(playlist)
  }

  async #make(session: Session, call: SideCall): Promise<void> {
    const { polled, calls } = session
    const [asOf, at, isProbe] = [Date.now(), steadyNow(), polled.circuit.begin()]
    let store: () => Promise<string | undefined>
    try {
      store = await this.#read(session, call, asOf)
    } catch (fault) {
      this.#recordFault(session, call, isProbe, fault)
      return
    }
    // Also after the end of the session: a probe without a result would pause all calls for good.
    polled.circuit.recordSuccess(isProbe)
    if (this.#session !== session) return
    this.#upstreamOutage.succeed()
    try {
      calls.recordRead(call, at, await store())
      this.#stateOutage.succeed()
    } catch (fault) {
      calls.recordFailure(call, steadyNow())
      this.#stateOutage.fail(fault)
    }
  }

  /** Makes a call. Returns the function that stores its result. */
  async #read({ sources }: Session, call: SideCall, asOf: number): Promise<() => Promise<string | undefined>> {
    const { caller, collections } = this.#options
    if (call.kind === 'channels') {
      const { found } = await caller.getChannels(call.ids)
      return async () => void (await storeChannels(collections.state, found))
    }
    const page = await caller.getPlaylistPage(sources.buildRequest(call, asOf))
    return () => sources.apply(call, page, asOf)
  }

  #recordFault(session: Session, call: SideCall, isProbe: boolean, fault: unknown): void {
    const { polled, calls } = session
    const problem = fault instanceof Problem ? fault : commonErrors.INTERNAL(undefined, { cause: fault })
    const cause = toUpstreamFault(problem)
    const now = steadyNow()
    calls.recordFailure(call, now)
    // A fault of one playlist does not show that other calls would fail.
    if (isProbe || isUpstreamWide(cause) || cause.kind === 'network')
      polled.circuit.recordFailure(isProbe, cause, now, this.#options.meter.remainingQuota.untilReset)
    if (this.#session === session && !polled.circuit.pause) this.#upstreamOutage.fail(problem)
  }
}

const toDetail = (fault: unknown): string => (fault instanceof Error ? fault.message : String(fault))
