import { StartError } from '@influencer-stats/runtime/errors'
import { Problem } from '@influencer-stats/runtime/problems'
import type { OpenContext, ServiceMain } from '@influencer-stats/runtime/service'
import { createUpstreamTimer, type UpstreamTimer } from '@influencer-stats/runtime/upstream-timer'
import { Announcer } from './announcer.ts'
import { openApiKeys } from './key-file.ts'
import { CollectionsOwner } from './collections.ts'
import { DAY, type Usage } from './core/pace.ts'
import { reportAnnouncer, reportPoller, reportQuota, reportSource, reportUpstream } from './gauges.ts'
import type { Logger } from './logger/logger.ts'
import type { Shared, ToMain, ToThread } from './messages.ts'
import { clientOptions, loggerOptions, notesOptions, stateOptions } from './part-options.ts'
import { keptRows, Overview } from './overview.ts'
import type { Node } from './node.ts'
import { parts } from './parts.ts'
import { Poller } from './poller.ts'
import { QuotaMeter } from './quota-meter.ts'
import { mainOwnsState, checkUpstream, sourceOf, type StatsConfig } from './settings.ts'
import { reportSetApart } from './set-apart.ts'
import { createUsageKeeper } from './usage-keeper.ts'
import type { State } from './state/state.ts'
import { Notebook } from './video-notes.ts'

type Context = OpenContext<StatsConfig, ToThread>

/** Opens what exists once per process: the quota's meter, the state where main owns it, the poller where there is one. */
export async function openStats(context: Context): Promise<ServiceMain<ToMain>> {
  const { config, registry, log } = context
  const memory = QuotaMeter.memory()
  checkUpstream(config)
  const own = sourceOf(config)
  if (!mainOwnsState(config)) {
    reportQuota(new QuotaMeter(memory, config.dailyBudget), registry)
    reportSource(() => own, registry)
    return { shared: (): Shared => ({ meter: memory, replies: [] }), handlers: {} as never, async close() {} }
  }

  const node = config.log === 'jetstream' ? await (await import('./node.ts')).openNode(context) : undefined
  const state = node?.state ?? (await parts.state[config.state](stateOptions(context)))
  const keeper = createUsageKeeper(
    () => state.putUsage(meter.toUsage()),
    (fault) => {
      // A store that takes no writes has told so already.
      if (!state.level?.getFault()) log.error(fault, 'the usage of the quota could not be kept')
    },
  )
  const save = node ? () => node.saveUsage(meter) : keeper.save
  const meter: QuotaMeter = new QuotaMeter(memory, config.dailyBudget, { save })
  reportQuota(meter, registry)
  const source = node?.source ?? (() => own)
  reportSource(source, registry)
  const { usage, isMissing } = await firstRead(state, config)
  if (isMissing && !node) log.warn('stats: the data folder has no count of the used quota; it is counted from 0')
  meter.restore(usage)

  let polling: Polling | undefined
  const collections = new CollectionsOwner({
    state,
    retention: config.historyDays * DAY,
    // The log tells all nodes, this one too.
    onChange: (id, collection) => (node ? node.told() : polling?.poller.changed(id, collection)),
    onFault: (fault, what) => log.error(fault, what),
    tidies: () => node?.now().polling ?? true,
  })
  if (config.cache === 'poller') polling = await startPolling(context, collections, meter, source(), node)
  const poller = () => polling!.poller
  const overview = new Overview(polling?.poller.rows ?? keptRows(collections, own), collections)
  const counting = reportSetApart(state, source(), log)

  return {
    // Of a node, that is what the log has.
    backupSource: node ? undefined : state.level,
    shared: (): Shared => ({
      meter: memory,
      share: state.level?.share(),
      replies: polling?.poller.board.replies() ?? [],
    }),
    onThreadExit(shared) {
      const { share } = shared as Shared
      if (share) void state.level!.releaseShare(share)
    },
    handlers: {
      get: (id) => collections.get(id),
      list: (after, limit) => collections.list(after, limit),
      snapshot: (id) => collections.snapshot(id),
      history: (id, from, to, limit) => collections.history(id, from, to, limit),
      videos: (ids) => collections.videos(ids),
      put: (id, videos, campaign, condition) => collections.put(id, videos, campaign, condition),
      patch: (id, patch, condition) => collections.patch(id, patch, condition),
      delete: (id, condition) => collections.delete(id, condition),
      addVideo: (id, video, condition) => collections.addVideo(id, video, condition),
      removeVideo: (id, video, condition) => collections.removeVideo(id, video, condition),
      overviewPage: (query) => overview.page(query),
      overviewOne: (id, withChange) => overview.one(id, withChange),
      saveSnapshot: (collection, snapshot) => collections.saveSnapshot(collection, snapshot),
      saveVideos: (rows) => collections.saveVideos(rows),
      poll: (id) => poller().read(id),
      pollByVideo: (id) => poller().readByVideo(id),
      saveUsage: save,
      upstream: () => poller().upstream(),
      node: () => node?.now(),
    },
    async close() {
      const hurry = node && setTimeout(() => node.giveUp(), CLOSE_PATIENCE)
      await polling?.close()
      if (!node) await keeper.save()
      await counting.close()
      await collections.close()
      clearTimeout(hurry)
    },
  }
}

/** At its end a node waits no longer for a log that is away (ms). */
const CLOSE_PATIENCE = 1_000

/**
 * Records the source of the numbers, then reads the used quota.
 * @throws StartError if the state is unusable for a reason that the user can fix
 */
async function firstRead(state: State, config: StatsConfig): Promise<{ usage: Usage | undefined; isMissing: boolean }> {
  const { state: name, kvUri } = config
  try {
    const isUsed = (await state.source?.()) !== undefined
    await state.useSource?.(sourceOf(config))
    const usage = await state.usage()
    return { usage, isMissing: isUsed && usage === undefined }
  } catch (fault) {
    await state.close()
    if (!(fault instanceof Problem)) throw fault
    const reason = fault.cause instanceof Error ? fault.cause.message : fault.message
    throw new StartError(fault.code, `stats: state ${name} at ${kvUri} cannot be used (${reason})`)
  }
}

interface Polling {
  readonly poller: Poller
  close(): Promise<void>
}

async function startPolling(
  context: Context,
  collections: CollectionsOwner,
  meter: QuotaMeter,
  source: string,
  node: Node | undefined,
): Promise<Polling> {
  const { config, registry, log } = context
  const timer = createUpstreamTimer(context)
  const logger = await parts.logger[config.logger](loggerOptions(config))
  const notes = new Notebook(notesOptions(collections, logger))
  const { keys, close: closeKeys } = openApiKeys({ config, logger, onChange: () => poller.keyChanged() })
  const client = await parts.client[config.client](clientOptions(config, { keys, meter, logger, notes, timer }))
  const poller: Poller = new Poller({
    collections,
    client,
    notes,
    meter,
    logger,
    source,
    refreshInterval: config.refreshInterval,
    connections: config.upstreamConnections,
    readTimeout: config.readTimeout,
    publish(updates) {
      announcer?.take(poller.board.asTheyRead(updates))
      return context.broadcast('publish', updates)
    },
    onStale: (updates) => announcer?.take(updates),
    follows: node !== undefined,
    onWanted: node?.want,
    onAsked: node?.asked,
    onFailed: node?.failed,
    key: (of) => (of === sourceOf(config) ? keys.shown : undefined),
  })
  let announcer: Announcer | undefined
  async function announce(): Promise<void> {
    announcer = await createAnnouncer(config, { logger, timer }, poller)
    announcer?.takeAll()
  }
  reportPoller(poller, registry)
  reportUpstream(() => poller.upstream(), registry)
  if (config.sseUri) reportAnnouncer(() => announcer, registry)
  await poller.start()
  node?.join({
    poller,
    meter,
    async begin() {
      poller.begin()
      await announce()
      log.info('stats: this node asks YouTube from now on')
    },
    async end() {
      poller.end()
      await announcer?.close()
      announcer = undefined
      log.info('stats: this node asks YouTube no more')
    },
  })
  if (!node) await announce()
  return {
    poller,
    async close() {
      // That its calls are cut is no word about YouTube to others.
      if (node) poller.end()
      closeKeys()
      const ended = poller.close()
      // A call under way ends now, not at its time-out.
      await client.close()
      await ended
      await notes.close()
      await announcer?.close()
      await logger.close()
    },
  }
}

/** Puts what changes to the broadcaster, where there is one. */
async function createAnnouncer(
  { sseUri, apiToken: token }: Context['config'],
  { logger, timer }: { logger: Logger; timer: UpstreamTimer },
  poller: Pick<Poller, 'board'>,
): Promise<Announcer | undefined> {
  if (!sseUri) return undefined
  // Loaded only here: without a broadcaster it is not needed.
  const { createBroadcaster } = await import('@influencer-stats/sse/broadcaster')
  return new Announcer({
    broadcaster: createBroadcaster(sseUri, { token, timer }),
    logger,
    // The board is another one after a change of the source.
    replies: () => poller.board.currentReplies(),
    collectionOf: (id) => poller.board.find([id])[0]?.collection,
    source: () => poller.board.source,
  })
}
