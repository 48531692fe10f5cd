import { createDataHealth } from '@influencer-stats/runtime/level-health'
import { createApp, type App } from '@influencer-stats/runtime/http'
import type { AppContext } from '@influencer-stats/runtime/service'
import { readAssets } from './assets.ts'
import { Campaigns } from './campaigns.ts'
import { Links } from './links.ts'
import { findMeasured } from './measured.ts'
import type { Shared, ToMain, ToThread } from './messages.ts'
import { Proxy } from './proxy.ts'
import { linkRoutes } from './routes/links.ts'
import { measuredRoutes } from './routes/measured.ts'
import { notFoundPage, pageRoutes } from './routes/page.ts'
import { serviceRoutes } from './routes/services.ts'
import { sessionRoutes } from './routes/session.ts'
import { sharedRoutes } from './routes/shared.ts'
import { statusRoute } from './routes/status.ts'
import { ServiceMonitor } from './service-monitor.ts'
import type { DashboardConfig } from './settings.ts'
import { createSource } from './source.ts'
import { createVisitors } from './visitors.ts'

/** Builds the dashboard's app, once per serving thread. */
export async function createDashboardApp(context: AppContext<DashboardConfig, ToMain, ToThread>): Promise<App> {
  const { config, bus, budget } = context
  const { key, links: known, health } = context.shared as Shared
  const links = new Links(key, known)
  bus.on('linkAdded', (link) => links.add(link))
  bus.on('linksGone', (ids) => links.remove(ids))
  // With one token of the two, it is needed for everything: `/backup` has the signing key.
  const apiToken = config.apiToken || config.readToken
  const assets = readAssets()
  const app = await createApp(
    { ...context, config: { ...config, apiToken } },
    {
      title: 'Dashboard',
      description: 'The page for people: campaigns with live numbers, prices, the health of all services.',
      hasPage: true,
      notFoundPage: notFoundPage(assets),
      data: createDataHealth(health),
    },
  )
  const visitors = createVisitors(config, key)
  const proxy = new Proxy(context)
  app.addHook('onClose', async () => proxy.close())
  const campaigns = new Campaigns(proxy, visitors.tokenFor('editor'))
  const source = createSource(proxy, visitors.tokenFor('editor'))
  const monitor = new ServiceMonitor(proxy, visitors.tokenFor('reader'), source)

  pageRoutes(app, assets)
  measuredRoutes(app, findMeasured())
  sessionRoutes(app, { visitors, source, services: proxy.services, nodes: proxy.nodes })
  linkRoutes(app, { visitors, links, campaigns, bus })
  statusRoute(app, visitors, monitor)
  sharedRoutes(app, { links, campaigns, proxy, monitor, token: visitors.tokenFor('editor') })
  await app.register(async (scope) => serviceRoutes(scope as App, { visitors, proxy, budget, limit: config.bodyLimit }))
  return app
}
