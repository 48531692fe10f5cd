import type { OpenContext } from '@influencer-stats/runtime/service'
import type { CommonSettings } from '@influencer-stats/runtime/settings'
import { createUpstreamTimer, type UpstreamTimer } from '@influencer-stats/runtime/upstream-timer'
import type { CollectionsOwner } from './campaigns/collections-owner.ts'
import { ForwardedLookups } from './cluster/forwarded-lookups.ts'
import type { StatsNode } from './cluster/stats-node.ts'
import type { VideoDetails } from './core/video-details.ts'
import type { StatsLogger } from './logger/logger.ts'
import type { StatsThreadMessage } from './messages.ts'
import { openClient, openLogger } from './open-parts.ts'
import { createPublishedPosts } from './posts/published-posts.ts'
import type { ReportedTotals } from './posts/reported-totals.ts'
import { SsePublisher } from './publish/sse-publisher.ts'
import type { QuotaMeter } from './quota/quota-meter.ts'
import { Poller } from './refresh/poller.ts'
import { SourceLookup } from './refresh/side/source-lookup.ts'
import { SidePoller } from './refresh/side/side-poller.ts'
import { VideoLookup } from './refresh/video-lookup.ts'
import { getSource, type StatsConfig } from './settings.ts'
import { reportPoller, reportSsePublisher, reportUpstream } from './stats-metrics.ts'

/** A look-up through the log has this timeout in addition to that of the call (ms). */
const LOG_TIMEOUT_MS = 2_000

export interface PollerHandle {
  readonly poller: Poller
  readonly lookup: VideoLookup
  readonly sourceLookup: SourceLookup
  close(): Promise<void>
}

/**
 * Starts the poller of a process, and the publisher of its numbers.
 * @param node node of a cluster; it decides when this process makes calls
 * @param reported sums of the posts of all collections
 */
export async function startPolling(
  context: OpenContext<StatsConfig, StatsThreadMessage>,
  collections: CollectionsOwner,
  meter: QuotaMeter,
  source: string,
  node: StatsNode | undefined,
  reported: ReportedTotals,
): Promise<PollerHandle> {
  const { config, registry, log } = context
  const timer = createUpstreamTimer(context)
  const logger = await openLogger(config)
  const onKeyChange = () => poller.onKeyChange()
  const onDetails = (details: readonly VideoDetails[]) => side.addChannels(details)
  const opened = await openClient({ config, collections, logger, meter, timer, onKeyChange, onDetails })
  const { keys, client, recorder } = opened
  const { sourceInterval } = config
  const side = new SidePoller({ caller: client.side, collections, meter, logger, sourceInterval })
  const poller: Poller = new Poller({
    collections,
    client,
    recorder,
    side,
    meter,
    logger,
    source,
    reported,
    refreshInterval: config.refreshInterval,
    connections: config.upstreamConnections,
    readTimeout: config.readTimeout,
    publish(updates, requester) {
      ssePublisher?.enqueue(poller.replyTable.markStaleUpdates(updates))
      const broadcast = requester === undefined ? context.broadcast : context.broadcast.withoutReplyOf(requester)
      return broadcast('publish', updates)
    },
    onStale: (updates) => ssePublisher?.enqueue(updates),
    isFollower: node !== undefined,
    onReadRequested: node?.requestRead,
    onFetched: node?.publishFetched,
    onFailed: node?.publishFailure,
    getMaskedKey: (keySource) => (keySource === getSource(config) ? keys.maskedKey : undefined),
  })
  let ssePublisher: SsePublisher | undefined
  async function startPublisher(): Promise<void> {
    ssePublisher = await createSsePublisher(config, { logger, timer }, poller)
    ssePublisher?.enqueueAll()
  }
  reportPoller(poller, registry)
  reportUpstream(() => poller.getUpstreamState(), registry)
  if (config.sseUri) reportSsePublisher(() => ssePublisher, registry)
  await poller.start()
  const getOutage = () => poller.status.getOutage(poller.schedule?.circuit)?.problem
  const lookups =
    node &&
    new ForwardedLookups({
      caller: client.side,
      isPolling: () => node.getState().polling,
      getOutage,
      send: node.sendLookup,
      reply: node.publishLookup,
      timeout: config.upstreamTimeout + LOG_TIMEOUT_MS,
    })
  node?.join({
    poller,
    meter,
    ...(lookups && { lookups }),
    posts: createPublishedPosts(collections.state, reported, () => poller.replyTable),
    async begin() {
      poller.begin()
      await startPublisher()
      log.info('stats: this node polls YouTube now')
    },
    async end() {
      poller.end()
      await ssePublisher?.close()
      ssePublisher = undefined
      log.info('stats: this node no longer polls YouTube')
    },
  })
  if (!node) await startPublisher()
  const canCall = () => getOutage() === undefined
  const caller = lookups?.caller ?? client.side
  return {
    poller,
    lookup: new VideoLookup({ caller, meter, logger, canCall }),
    sourceLookup: new SourceLookup({ caller, meter, getOutage }),
    async close() {
      // This close aborts the calls in flight: their failure must not be published to other nodes.
      if (node) poller.end()
      await opened.close(() => poller.close())
      await ssePublisher?.close()
      await logger.close()
    },
  }
}

/** Creates the client that publishes changes on the service sse. Resolves with undefined without `sseUri`. */
async function createSsePublisher(
  { sseUri, apiToken: token }: StatsConfig & CommonSettings,
  { logger, timer }: { logger: StatsLogger; timer: UpstreamTimer },
  poller: Pick<Poller, 'replyTable'>,
): Promise<SsePublisher | undefined> {
  if (!sseUri) return undefined
  // Loaded lazily: only needed with `sseUri`.
  const { createPublisherClient } = await import('@influencer-stats/sse/publisher-client')
  return new SsePublisher({
    broadcaster: createPublisherClient(sseUri, { token, timer }),
    logger,
    // The reply table is replaced when the source changes.
    getReplies: () => poller.replyTable.getCurrentReplies(),
    getCollection: (id) => poller.replyTable.find([id])[0]?.collection,
    getSource: () => poller.replyTable.source,
  })
}
