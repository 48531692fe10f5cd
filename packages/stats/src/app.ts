import { createWriteReadiness } from '@influencer-stats/log/log-state'
import { registerNodeRoute } from '@influencer-stats/log/node-route'
import { createApp, type App } from '@influencer-stats/runtime/http'
import { createDataHealth } from '@influencer-stats/runtime/level-health'
import type { AppContext } from '@influencer-stats/runtime/service'
import { openCache } from './cache/open-cache.ts'
import { describeNode } from './cluster/node-state.ts'
import { openCollections } from './campaigns/open-collections.ts'
import { toRetentionTiers } from './core/history/retention-tiers.ts'
import type { StatsSharedState, StatsMainMessage, StatsThreadMessage } from './messages.ts'
import { openLogger } from './open-parts.ts'
import { registerBulkRoute } from './routes/bulk-route.ts'
import { registerDuplicateRoute } from './routes/duplicate-route.ts'
import { registerCampaignFileRoutes } from './routes/files/campaign-file-routes.ts'
import { registerCollectionRoutes } from './routes/collection-routes.ts'
import { registerCreatorRoutes } from './routes/creators/creator-routes.ts'
import { registerHistoryRoutes } from './routes/history/history-routes.ts'
import { registerMoveRoutes } from './routes/move-routes.ts'
import { registerOverviewRoutes } from './routes/overview-routes.ts'
import { registerNumbersRoutes } from './routes/posts/numbers-routes.ts'
import { registerPostRoutes } from './routes/posts/post-routes.ts'
import { registerResultsRoutes } from './routes/history/results-routes.ts'
import { registerPreviewRoutes } from './routes/files/preview-routes.ts'
import { registerSourceRoutes } from './routes/sources/source-routes.ts'
import { createStatsRoute } from './routes/stats-route.ts'
import { registerTrashRoutes } from './routes/trash-routes.ts'
import { registerUpstreamRoute } from './routes/upstream-route.ts'
import { registerVideoRoutes } from './routes/video-routes.ts'
import type { StatsConfig } from './settings.ts'
import { reportLogger } from './stats-metrics.ts'

/** Builds the app of one serving thread from the parts that the configuration names. */
export async function createStatsApp(
  context: AppContext<StatsConfig, StatsMainMessage, StatsThreadMessage>,
): Promise<App> {
  const { config } = context
  const { share, logState } = context.shared as StatsSharedState
  /** Closes the parts in the reverse order of opening. */
  const resources = new AsyncDisposableStack()
  const logger = await openLogger(config)
  resources.defer(() => logger.close())
  reportLogger(logger, context.registry)

  const { collections, posts, reported, overview, creators, source, database } = await openCollections(
    context,
    resources,
  )
  const opened = await openCache(context, collections, reported, logger, resources)
  const { cache, upstream, lookUpVideos, findSource } = opened

  const app = await createApp(context, {
    title: 'Influencer Stats',
    description: 'Collections of videos and their summed YouTube statistics.',
    source,
    data: share && createDataHealth(share.memory),
    writes: logState && createWriteReadiness(logState),
    hotRoutes: [createStatsRoute(cache)],
  })
  app.addHook('onClose', () => resources.disposeAsync())
  registerCollectionRoutes(app, collections, findSource)
  registerBulkRoute(app, collections)
  registerDuplicateRoute(app, collections)
  registerSourceRoutes(app, { collections, upstream, isPolled: config.cache === 'poller' })
  registerTrashRoutes(app, collections, config.trashDays)
  registerOverviewRoutes(app, { collections, overview, creators, cache })
  registerCreatorRoutes(app, { collections, creators, cache })
  registerVideoRoutes(app, collections, cache)
  registerPreviewRoutes(app, collections, lookUpVideos)
  registerResultsRoutes(app, collections)
  await registerCampaignFileRoutes(app, { collections, posts, lookUpVideos, findSource, budget: context.budget })
  registerPostRoutes(app, collections.state, posts)
  await registerNumbersRoutes(app, collections.state, posts, context.budget)
  registerHistoryRoutes(app, collections, toRetentionTiers(config).daily)
  await registerMoveRoutes(app, collections, database, context.budget)
  registerUpstreamRoute(app, upstream)
  registerNodeRoute(
    app,
    logState,
    describeNode(() => context.bus.call('node')),
  )
  return app
}
