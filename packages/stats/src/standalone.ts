import { isCluster } from '@influencer-stats/log/settings'
import { StartError } from '@influencer-stats/runtime/errors'
import { Problem } from '@influencer-stats/runtime/problems'
import type { OpenContext, ServiceMain } from '@influencer-stats/runtime/service'
import { createUpstreamTimer, type UpstreamTimer } from '@influencer-stats/runtime/upstream-timer'
import { SsePublisher } from './publish/sse-publisher.ts'
import { openApiKeys } from './youtube/key-file.ts'
import { CollectionsOwner } from './campaigns/collections-owner.ts'
import { createReadHandlers } from './campaigns/collections-remote.ts'
import { DAY_MS, type QuotaUsage } from './core/quota-budget.ts'
import { reportSsePublisher, reportPoller, reportQuota, reportUpstream } from './stats-metrics.ts'
import type { StatsLogger } from './logger/logger.ts'
import type { StatsSharedState, StatsMainMessage, StatsThreadMessage } from './messages.ts'
import { getClientOptions, getLoggerOptions, getRecorderOptions, getStateOptions } from './part-options.ts'
import { createStoredRows } from './campaigns/overview-source.ts'
import { Overview } from './campaigns/overview.ts'
import type { StatsNode } from './cluster.ts'
import { parts } from './parts.ts'
import { Poller } from './refresh/poller.ts'
import { QuotaMeter } from './quota/quota-meter.ts'
import { isStateOnMain, checkUpstream, getSource, type StatsConfig } from './settings.ts'
import { reportOtherSources } from './state/report-other-sources.ts'
import { createQuotaPersistence } from './quota/quota-persistence.ts'
import type { StatsState } from './state/stats-state.ts'
import { VideoDetailsRecorder } from './persist/video-details-recorder.ts'

type StatsContext = OpenContext<StatsConfig, StatsThreadMessage>

/**
 * Opens the parts that exist once per process: the quota meter, the state if the main thread owns it, and the
 * poller if there is one.
 */
export async function openStats(context: StatsContext): Promise<ServiceMain<StatsMainMessage>> {
  const { config, registry, log } = context
  const memory = QuotaMeter.createMemory()
  checkUpstream(config)
  const ownSource = getSource(config)
  if (!isStateOnMain(config)) {
    reportQuota(new QuotaMeter(memory, config.dailyBudget), registry)
    return { shared: (): StatsSharedState => ({ meter: memory, replies: [] }), handlers: {} as never, async close() {} }
  }

  const node = isCluster(config) ? await (await import('./cluster.ts')).openNode(context) : undefined
  const state = node?.state ?? (await parts.state[config.state](getStateOptions(context)))
  const quotaPersistence = createQuotaPersistence(
    () => state.putUsage(meter.toUsage()),
    (fault) => {
      // If the database refuses writes, it has logged that already.
      if (!state.level?.getFault()) log.error(fault, 'the quota usage could not be stored')
    },
  )
  const save = node ? () => node.saveUsage(meter) : quotaPersistence.save
  const meter: QuotaMeter = new QuotaMeter(memory, config.dailyBudget, { save })
  reportQuota(meter, registry)
  const source = node?.source ?? (() => ownSource)
  const { usage, isMissing } = await readInitialState(state, config)
  if (isMissing && !node) log.warn('stats: the data folder has no quota usage; it begins at 0')
  meter.restore(usage)

  let polling: PollerHandle | undefined
  const collections = new CollectionsOwner({
    state,
    retention: config.historyDays * DAY_MS,
    // In a cluster the poller of every node, this one included, gets the change from the log.
    onChange: (id, collection) =>
      node ? node.waitUntilPublished() : polling?.poller.onCollectionChange(id, collection),
    onFault: (fault, description) => log.error(fault, description),
    shouldPrune: () => node?.getState().polling ?? true,
  })
  if (config.cache === 'poller') polling = await startPolling(context, collections, meter, source(), node)
  const poller = () => polling!.poller
  const overview = new Overview(polling?.poller.rows ?? createStoredRows(state, ownSource), state)
  const otherSources = reportOtherSources(state, source(), log)

  return {
    // A node of a cluster has no backup source, because its state is a copy of the log.
    backupSource: node ? undefined : state.level,
    shared: (): StatsSharedState => ({
      meter: memory,
      share: state.level?.share(),
      replies: polling?.poller.replyTable.getReplies() ?? [],
    }),
    onThreadExit(shared) {
      const { share } = shared as StatsSharedState
      if (share) void state.level!.releaseShare(share)
    },
    handlers: {
      ...createReadHandlers(state),
      change: (name, id, args) => collections.change(name, id, ...(args as never)),
      overviewPage: (query) => overview.getPage(query),
      overviewOne: (id, withChange) => overview.getRow(id, withChange),
      saveSnapshot: (collection, snapshot) => collections.saveSnapshot(collection, snapshot),
      saveVideos: (rows) => collections.saveVideos(rows),
      poll: (id) => poller().reads.read(id),
      pollNumbers: (id) => poller().reads.readNumbers(id),
      saveUsage: save,
      upstream: () => poller().getUpstreamState(),
      node: () => node?.getState(),
    },
    async close() {
      const closeTimer = node && setTimeout(() => node.abort(), CLOSE_TIMEOUT_MS)
      await polling?.close()
      if (!node) await quotaPersistence.save()
      await otherSources.close()
      await collections.close()
      clearTimeout(closeTimer)
    },
  }
}

/** Maximum time that a closing node waits for an unavailable log (ms). */
const CLOSE_TIMEOUT_MS = 1_000

/**
 * Records the source of the numbers, then reads the used quota. `isMissing` is true if the database was used before but
 * has no used quota.
 * @throws StartError if the state is unusable for a reason that the user can fix
 */
async function readInitialState(
  state: StatsState,
  config: StatsConfig,
): Promise<{ usage: QuotaUsage | undefined; isMissing: boolean }> {
  const { state: name, kvUri } = config
  try {
    const isUsed = (await state.getSource?.()) !== undefined
    await state.useSource?.(getSource(config))
    const usage = await state.getUsage()
    return { usage, isMissing: isUsed && usage === undefined }
  } catch (fault) {
    await state.close()
    if (!(fault instanceof Problem)) throw fault
    const reason = fault.cause instanceof Error ? fault.cause.message : fault.message
    throw new StartError(fault.code, `stats: state ${name} at ${kvUri} cannot be used (${reason})`)
  }
}

interface PollerHandle {
  readonly poller: Poller
  close(): Promise<void>
}

async function startPolling(
  context: StatsContext,
  collections: CollectionsOwner,
  meter: QuotaMeter,
  source: string,
  node: StatsNode | undefined,
): Promise<PollerHandle> {
  const { config, registry, log } = context
  const timer = createUpstreamTimer(context)
  const logger = await parts.logger[config.logger](getLoggerOptions(config))
  const recorder = new VideoDetailsRecorder(getRecorderOptions(collections, logger))
  const { keys, close: closeKeys } = openApiKeys({ config, logger, onChange: () => poller.onKeyChange() })
  const client = await parts.client[config.client](getClientOptions(config, { keys, meter, logger, recorder, timer }))
  const poller: Poller = new Poller({
    collections,
    client,
    recorder,
    meter,
    logger,
    source,
    refreshInterval: config.refreshInterval,
    connections: config.upstreamConnections,
    readTimeout: config.readTimeout,
    publish(updates) {
      ssePublisher?.enqueue(poller.replyTable.markStaleUpdates(updates))
      return context.broadcast('publish', updates)
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
  node?.join({
    poller,
    meter,
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
  return {
    poller,
    async close() {
      // This close aborts the calls in flight: their failure must not be published to other nodes.
      if (node) poller.end()
      closeKeys()
      const ended = poller.close()
      // `poller.close` waits for the calls in flight. `client.close` ends these calls at once, so they need not reach
      // their timeouts.
      await client.close()
      await ended
      await recorder.close()
      await ssePublisher?.close()
      await logger.close()
    },
  }
}

/** Creates the client that publishes changes on the service sse. Resolves with undefined without `sseUri`. */
async function createSsePublisher(
  { sseUri, apiToken: token }: StatsContext['config'],
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
