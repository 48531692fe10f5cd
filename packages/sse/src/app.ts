import { createWriteReadiness } from '@influencer-stats/log/log-state'
import { registerNodeRoute } from '@influencer-stats/log/node-route'
import { createApp, type App } from '@influencer-stats/runtime/http'
import { createDataHealth } from '@influencer-stats/runtime/level-health'
import type { AppContext } from '@influencer-stats/runtime/service'
import { MAX_LISTED_TOPICS } from './hub/connection-counts.ts'
import { parseQuery } from './core/parse-query.ts'
import { AnsweredSeq } from './broker/answered-seq.ts'
import { registerHubMetrics } from './sse-metrics.ts'
import type { History } from './history/history.ts'
import { createMemoryHistory } from './history/memory-history.ts'
import type { SseSharedState, SseMainMessage, SseThreadMessage } from './messages.ts'
import { getHistoryOptions, getBacklogLimits, getMaxPerAddress } from './part-options.ts'
import { parts } from './parts.ts'
import { ActiveSubscriptions } from './hub/active-subscriptions.ts'
import type { Broker } from './broker/broker.ts'
import { StreamSlots } from './hub/stream-slots.ts'
import { createMercureRoutes } from './routes/mercure-routes.ts'
import { registerSubscriptionRoutes } from './routes/subscription-routes.ts'
import { registerMoveRoutes } from './routes/move-routes.ts'
import { registerPageRoute } from './routes/page-route.ts'
import { createConnectionsRoute, registerCloseRoutes } from './routes/stream-routes.ts'
import { createPutValuesRoute, createPutRoutes, createValueRoute } from './routes/value-routes.ts'
import { createWaitRoute } from './routes/wait-route.ts'
import type { SseConfig } from './settings.ts'
import { Streams } from './hub/streams.ts'
import { getBaseUrl, createAccessTokens } from './tokens/access-tokens.ts'
import { Permissions } from './tokens/permissions.ts'
import { TokenAuth } from './tokens/token-auth.ts'

type SseAppContext = AppContext<SseConfig, SseMainMessage, SseThreadMessage>

/** Builds the app of one serving thread from the parts in the configuration. */
export async function createSseApp(context: SseAppContext): Promise<App> {
  const { config, lifecycle, registry } = context
  const { historyState, health, slots, answered, logState } = context.shared as SseSharedState
  const history = await openHistory(context, historyState)
  const memory = health ?? history.level?.memory
  const streams = new Streams({
    history,
    budget: context.budget,
    // TLS copies the bytes of each connection.
    isCopied: context.certificate !== undefined,
    slots: new StreamSlots(slots, config.maxStreams),
    retry: config.retry,
    createFanout: await parts.fanout[config.fanout](),
    streamBuffer: config.streamBuffer,
    sendTimeout: config.sendTimeout,
    maxPerAddress: getMaxPerAddress(config),
    heartbeat: config.heartbeat,
  })
  registerHubMetrics(streams.hub, registry, config.metricTopics)
  const isCompatible = config.mercureCompatibility !== ''
  const subscriptions =
    config.mercureSubscriptions === 'on'
      ? new ActiveSubscriptions({ isCompatible, publish: (puts) => broker.publish(puts) })
      : undefined
  const broker: Broker = await parts.broker[config.broker]({
    bus: context.bus,
    history,
    backlogLimits: getBacklogLimits(config),
    answered: new AnsweredSeq(answered),
    sequenceWaitTimeout: config.sequenceWaitTimeout,
    deliver: (entries) => streams.hub.deliver(entries),
    getLargestTopics: () => streams.hub.topics.largest(MAX_LISTED_TOPICS),
    listSubscriptions: () => subscriptions?.list() ?? [],
    countStreams: (topics) => streams.count(topics),
  })
  const encoders = {
    eventStream: await parts.encoder['event-stream'](),
    named: await parts.encoder.named(),
    comet: await parts.encoder.comet(),
  }

  const isReadTokenRequired = config.readToken !== ''
  const accessTokens = await createAccessTokens(config, isReadTokenRequired, context.log)
  const tokenAuth = new TokenAuth(accessTokens, config.corsOrigins, isCompatible)
  const permissions = new Permissions({ settings: config, tokenAuth })
  const values = { broker, history, permissions, maxValue: config.maxValue }

  const app = await createApp(context, {
    title: 'Broadcaster',
    description: 'Server-sent events: sends published values to all open streams.',
    data: memory && createDataHealth(memory),
    writes: logState && createWriteReadiness(logState),
    querystringParser: parseQuery,
    hasPage: true,
    hotRoutes: [
      createWaitRoute({ streams, history, encoders, broker, permissions }),
      ...createPutRoutes(values),
      createPutValuesRoute(values),
      createValueRoute(values),
      createConnectionsRoute({ broker, history, permissions }),
      ...createMercureRoutes({
        streams,
        history,
        encoder: await parts.encoder.mercure(),
        broker,
        permissions,
        isCompatible,
        subscriptions,
        maxUpdate: config.maxValue,
        getBaseUrl: (host) => getBaseUrl(config, host),
      }),
    ],
  })
  lifecycle.drain.addEventListener('abort', () => streams.close(), { once: true })
  app.addHook('onClose', async () => {
    streams.close()
    accessTokens?.close()
    await broker.close()
  })
  registerNodeRoute(app, logState)
  registerCloseRoutes(app, { broker, history, permissions })
  if (subscriptions) registerSubscriptionRoutes(app, { broker, history, permissions, isCompatible })
  await registerMoveRoutes(app, { ...values, budget: context.budget })
  registerPageRoute(app)
  return app
}

/** Opens the history of the thread: a copy of the main thread's history or, if the main thread has none, a new one. */
async function openHistory(
  { config, log }: SseAppContext,
  historyState: SseSharedState['historyState'],
): Promise<History> {
  const options = getHistoryOptions(config, log)
  return historyState
    ? createMemoryHistory(config.history, options, historyState)
    : parts.history[config.history](options)
}
