import { isCluster } from '@influencer-stats/log/settings'
import { createApp, type App } from '@influencer-stats/runtime/http'
import { createDataHealth } from '@influencer-stats/runtime/level-health'
import type { AppContext } from '@influencer-stats/runtime/service'
import { openCache } from './cache/open-cache.ts'
import { openCollections } from './campaigns/open-collections.ts'
import { DAY_MS } from './core/quota-budget.ts'
import type { StatsSharedState, StatsMainMessage, StatsThreadMessage } from './messages.ts'
import { getLoggerOptions } from './part-options.ts'
import { parts } from './parts.ts'
import { registerCollectionRoutes } from './routes/collection-routes.ts'
import { registerHistoryRoutes } from './routes/history-routes.ts'
import { registerNodeRoute } from './routes/node-route.ts'
import { registerOverviewRoutes } from './routes/overview-routes.ts'
import { createStatsRoute } from './routes/stats-route.ts'
import { registerUpstreamRoute } from './routes/upstream-route.ts'
import { registerVideoRoutes } from './routes/video-routes.ts'
import type { StatsConfig } from './settings.ts'
import { reportLogger } from './stats-metrics.ts'

/** Builds the app of one serving thread from the parts that the configuration names. */
export async function createStatsApp(
  context: AppContext<StatsConfig, StatsMainMessage, StatsThreadMessage>,
): Promise<App> {
  const { config } = context
  const { share } = context.shared as StatsSharedState
  /** Close functions, run in the reverse order of opening. */
  const closers: (() => Promise<void>)[] = []
  const logger = await parts.logger[config.logger](getLoggerOptions(config))
  closers.push(() => logger.close())
  reportLogger(logger, context.registry)

  const { collections, overview, source } = await openCollections(context, closers)
  const { cache, upstream } = await openCache(context, collections, logger, closers)

  const app = await createApp(context, {
    title: 'Influencer Stats',
    description: 'Collections of videos and their summed YouTube statistics.',
    source,
    data: share && createDataHealth(share.memory),
    hotRoutes: [createStatsRoute(cache)],
  })
  app.addHook('onClose', async () => {
    for (const close of closers.toReversed()) await close()
  })
  registerCollectionRoutes(app, collections)
  registerOverviewRoutes(app, { collections, overview, cache })
  registerVideoRoutes(app, collections, cache)
  registerHistoryRoutes(app, collections, config.historyDays * DAY_MS)
  registerUpstreamRoute(app, upstream)
  if (isCluster(config)) registerNodeRoute(app, () => context.bus.call('node'))
  return app
}
