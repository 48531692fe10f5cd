import { createApp, type App } from '@influencer-stats/runtime/http'
import { createDataHealth } from '@influencer-stats/runtime/level-health'
import type { AppContext } from '@influencer-stats/runtime/service'
import { MOST_LISTED } from './connections.ts'
import { parseQuery } from './core/query.ts'
import { reportHub } from './gauges.ts'
import type { History } from './history/history.ts'
import { createHistoryInMemory } from './history/in-memory.ts'
import type { Shared, ToMain, ToThread } from './messages.ts'
import { historyOptions, lagLimits, mostPerAddress } from './part-options.ts'
import { parts } from './parts.ts'
import { Places } from './places.ts'
import { FULL_READER, PUBLIC_READER } from './core/reader.ts'
import { mercureRoutes } from './routes/mercure.ts'
import { pageRoute } from './routes/page.ts'
import { streamRoutes } from './routes/streams.ts'
import { putManyRoute, putRoutes, valueRoute } from './routes/values.ts'
import { waitRoute } from './routes/wait.ts'
import type { SseConfig } from './settings.ts'
import { Streams } from './streams.ts'
import { baseOf, createAccessTokens } from './tokens/access-tokens.ts'
import { Bearers } from './tokens/bearers.ts'

type Context = AppContext<SseConfig, ToMain, ToThread>

/** Builds the app of one serving thread from the parts that the configuration names. */
export async function createSseApp(context: Context): Promise<App> {
  const { config, lifecycle, registry } = context
  const { kept, health, places } = context.shared as Shared
  const history = await openHistory(context, kept)
  const memory = health ?? history.level?.memory
  const streams = new Streams({
    history,
    budget: context.budget,
    isCopied: context.certificate !== undefined,
    places: new Places(places, config.maxStreams),
    retry: config.retry,
    createFanout: await parts.fanout[config.fanout](),
    streamBuffer: config.streamBuffer,
    sendTimeout: config.sendTimeout,
    maxPerAddress: mostPerAddress(config),
    heartbeat: config.heartbeat,
  })
  reportHub(streams.hub, registry, config.metricTopics)
  const broker = await parts.broker[config.broker]({
    bus: context.bus,
    history,
    lag: lagLimits(config),
    deliver: (entries) => streams.hub.deliver(entries),
    largestTopics: () => streams.hub.topics.largest(MOST_LISTED),
    count: (topics) => streams.count(topics),
  })
  const encoders = {
    eventStream: await parts.encoder['event-stream'](),
    named: await parts.encoder.named(),
    comet: await parts.encoder.comet(),
  }

  const isAllGuarded = config.readToken !== ''
  const bearers = new Bearers(await createAccessTokens(config, isAllGuarded), config.corsOrigins)
  // Who has shown what all reads need may read everything.
  const reader = isAllGuarded ? FULL_READER : PUBLIC_READER
  const values = { broker, history, bearers, reader, maxValue: config.maxValue }

  const app = await createApp(context, {
    title: 'Broadcaster',
    description: 'Values for every open stream.',
    data: memory && createDataHealth(memory),
    querystringParser: parseQuery,
    hasPage: true,
    hotRoutes: [
      waitRoute({ streams, history, encoders, broker, bearers, reader }),
      ...putRoutes(values),
      putManyRoute(values),
      valueRoute(values),
      ...mercureRoutes({
        streams,
        history,
        encoder: await parts.encoder.mercure(),
        broker,
        bearers,
        anonymous: config.mercureAnonymous === 'on' && !isAllGuarded,
        maxUpdate: config.maxValue,
        base: (host) => baseOf(config, host),
      }),
    ],
  })
  lifecycle.drain.addEventListener('abort', () => streams.close(), { once: true })
  app.addHook('onClose', async () => {
    streams.close()
    await broker.close()
  })
  streamRoutes(app, broker, history)
  pageRoute(app)
  return app
}

/** The thread's own history: main's copy, or, where main keeps none, the history itself. */
async function openHistory({ config, log }: Context, kept: Shared['kept']): Promise<History> {
  const options = historyOptions(config, log)
  return kept ? createHistoryInMemory(config.history, options, kept) : parts.history[config.history](options)
}
