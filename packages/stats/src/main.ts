import { StartError } from '@influencer-stats/runtime/errors'
import { Problem } from '@influencer-stats/runtime/problems'
import type { OpenContext, Opened } from '@influencer-stats/runtime/service'
import { Announcer } from './announcer.ts'
import { CollectionsOwner } from './collections.ts'
import { DAY, type Usage } from './core/pace.ts'
import { reportAnnouncer, reportPoller, reportQuota } from './gauges.ts'
import type { Logger } from './logger/logger.ts'
import type { Shared, ToMain, ToThread, Update } from './messages.ts'
import { clientOptions, loggerOptions, notesOptions, stateOptions } from './part-options.ts'
import { keptRows, Overview } from './overview.ts'
import { parts } from './parts.ts'
import { Poller } from './poller.ts'
import { QuotaMeter } from './quota-meter.ts'
import { mainOwnsState, type StatsConfig } from './settings.ts'
import { createUsageKeeper } from './usage-keeper.ts'
import type { State } from './state/state.ts'
import { Notebook } from './video-notes.ts'

type Context = OpenContext<StatsConfig, ToThread>

/** Opens what exists once per process: the quota's meter, the state where main owns it, the poller where there is one. */
export async function openStats(context: Context): Promise<Opened<ToMain>> {
  const { config, registry, log } = context
  const memory = QuotaMeter.memory()
  if (!mainOwnsState(config)) {
    reportQuota(new QuotaMeter(memory, config.dailyBudget), registry)
    return { shared: (): Shared => ({ meter: memory, replies: [] }), handlers: {} as never, async close() {} }
  }

  const state = await parts.state[config.state](stateOptions(context))
  const keeper = createUsageKeeper(
    () => state.putUsage(meter.toUsage()),
    (fault) => {
      // A store that takes no writes has told so already.
      if (!state.level?.fault()) log.error(fault, 'the usage of the quota could not be kept')
    },
  )
  const meter = new QuotaMeter(memory, config.dailyBudget, { save: keeper.save })
  reportQuota(meter, registry)
  meter.restore(await firstRead(state, config))

  let polling: Polling | undefined
  const collections = new CollectionsOwner({
    state,
    retention: config.historyDays * DAY,
    onChange: (id, collection) => polling?.poller.changed(id, collection),
    onFault: (fault, what) => log.error(fault, what),
  })
  if (config.cache === 'poller') polling = await startPolling(context, collections, meter)
  const poller = () => polling!.poller
  const overview = new Overview(polling?.poller.rows ?? keptRows(collections), collections)

  return {
    shared: (): Shared => ({
      meter: memory,
      share: state.level?.share(),
      replies: polling?.poller.replies() ?? [],
    }),
    threadGone(shared) {
      const { share } = shared as Shared
      if (share) void state.level!.gone(share)
    },
    handlers: {
      get: (id) => collections.get(id),
      list: (after, limit) => collections.list(after, limit),
      snapshot: (id) => collections.snapshot(id),
      history: (id, from, to, limit) => collections.history(id, from, to, limit),
      videos: (ids) => collections.videos(ids),
      put: (id, videos, campaign) => collections.put(id, videos, campaign),
      patch: (id, patch) => collections.patch(id, patch),
      delete: (id) => collections.delete(id),
      addVideo: (id, video) => collections.addVideo(id, video),
      removeVideo: (id, video) => collections.removeVideo(id, video),
      overviewPage: (query) => overview.page(query),
      overviewOne: (id, withChange) => overview.one(id, withChange),
      saveSnapshot: (collection, snapshot) => collections.saveSnapshot(collection, snapshot),
      saveVideos: (rows) => collections.saveVideos(rows),
      poll: (id) => poller().read(id),
      pollByVideo: (id) => poller().readByVideo(id),
      saveUsage: keeper.save,
    },
    async close() {
      await polling?.close()
      await keeper.save()
      await collections.close()
    },
  }
}

/** Reads what a start needs first. @throws StartError where the state cannot be used, for a reason the user can mend */
async function firstRead(state: State, { state: name, kvUri }: StatsConfig): Promise<Usage | undefined> {
  try {
    return await state.usage()
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

async function startPolling(context: Context, collections: CollectionsOwner, meter: QuotaMeter): Promise<Polling> {
  const { config, registry } = context
  const logger = await parts.logger[config.logger](loggerOptions(config))
  const notes = new Notebook(notesOptions(collections, logger))
  const client = await parts.client[config.client](clientOptions(config, { meter, logger, notes }))
  const poller: Poller = new Poller({
    collections,
    client,
    meter,
    logger,
    refreshInterval: config.refreshInterval,
    connections: config.upstreamConnections,
    readTimeout: config.readTimeout,
    publish(updates) {
      announcer?.take(updates)
      return context.broadcast('publish', updates)
    },
    onStale: (updates) => announcer?.take(updates),
  })
  const announcer = await createAnnouncer(config, logger, () => poller.currentReplies())
  reportPoller(poller, registry)
  if (announcer) reportAnnouncer(announcer, registry)
  await poller.start()
  announcer?.take(poller.currentReplies())
  return {
    poller,
    async close() {
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
  logger: Logger,
  replies: () => Update[],
): Promise<Announcer | undefined> {
  if (!sseUri) return undefined
  // Loaded only here: without a broadcaster it is not needed.
  const { createBroadcaster } = await import('@influencer-stats/sse/client')
  return new Announcer({ broadcaster: createBroadcaster(sseUri, { token }), logger, replies })
}
