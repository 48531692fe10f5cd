import { StartError } from '@influencer-stats/runtime/errors'
import { Problem } from '@influencer-stats/runtime/problems'
import type { OpenContext, Opened } from '@influencer-stats/runtime/service'
import { Announcer } from './announcer.ts'
import { CollectionsOwner } from './collections.ts'
import { DAY, type Usage } from './core/pace.ts'
import { reportAnnouncer, reportPoller, reportQuota } from './gauges.ts'
import type { Logger } from './logger/logger.ts'
import type { Shared, ToMain, ToThread, Update } from './messages.ts'
import { clientOptions, loggerOptions, stateOptions } from './part-options.ts'
import { parts } from './parts.ts'
import { Poller } from './poller.ts'
import { QuotaMeter } from './quota-meter.ts'
import { mainOwnsState, type StatsConfig } from './settings.ts'
import { createUpstreamReader } from './upstream-reader.ts'
import type { State } from './state/state.ts'

type Context = OpenContext<StatsConfig, ToThread>

const SAVE_USAGE_EVERY = 1_000

/** Opens what exists once per process: the quota's meter, the state where main owns it, the poller where there is one. */
export async function openStats(context: Context): Promise<Opened<ToMain>> {
  const { config, registry, log } = context
  const memory = QuotaMeter.memory()
  const meter = new QuotaMeter(memory, config.dailyBudget)
  reportQuota(meter, registry)
  if (!mainOwnsState(config)) {
    return { shared: (): Shared => ({ meter: memory, replies: [] }), handlers: {} as never, async close() {} }
  }

  const state = await parts.state[config.state](stateOptions(context))
  meter.restore(await firstRead(state, config))
  const saving = setInterval(() => void saveUsage(), SAVE_USAGE_EVERY)
  let savedUsage = ''
  async function saveUsage(): Promise<void> {
    const usage = meter.toUsage()
    const text = JSON.stringify(usage)
    if (savedUsage === text) return
    try {
      await state.putUsage(usage)
      savedUsage = text
    } catch (fault) {
      // A store that takes no writes has told so already.
      if (state.level?.fault()) return
      // Tried again the next second: nobody waits for it, and an outage of the state must not end the service.
      log.error(fault, 'the usage of the quota could not be kept')
    }
  }

  let polling: Polling | undefined
  const collections = new CollectionsOwner({
    state,
    retention: config.historyDays * DAY,
    onChange: (id, collection) => polling?.poller.changed(id, collection),
    onTidyFault: (fault) => log.error(fault, 'the histories could not be tidied'),
  })
  if (config.cache === 'poller') polling = await startPolling(context, collections, meter)
  const poller = () => polling!.poller

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
      put: (id, videos) => collections.put(id, videos),
      delete: (id) => collections.delete(id),
      addVideo: (id, video) => collections.addVideo(id, video),
      removeVideo: (id, video) => collections.removeVideo(id, video),
      saveSnapshot: (collection, snapshot) => collections.saveSnapshot(collection, snapshot),
      poll: (id) => poller().read(id),
      pollByVideo: (id) => poller().readByVideo(id),
    },
    async close() {
      clearInterval(saving)
      await polling?.close()
      await saveUsage()
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
  const client = await parts.client[config.client](clientOptions(config, meter, logger))
  const upstream = createUpstreamReader({ collections, client, logger, retryAfter: config.refreshInterval })
  const poller: Poller = new Poller({
    collections,
    upstream,
    meter,
    logger,
    refreshInterval: config.refreshInterval,
    publish(updates) {
      announcer?.take(updates)
      return context.broadcast('publish', updates)
    },
  })
  const announcer = await createAnnouncer(config, logger, () => poller.replies())
  reportPoller(poller, registry)
  if (announcer) reportAnnouncer(announcer, registry)
  await poller.start()
  announcer?.take(poller.replies())
  return {
    poller,
    async close() {
      const ended = poller.close()
      // A call under way ends now, not at its time-out.
      await client.close()
      await ended
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
