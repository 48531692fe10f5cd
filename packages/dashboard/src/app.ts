import { createDataHealth } from '@influencer-stats/runtime/level-health'
import { createApp, type App } from '@influencer-stats/runtime/http'
import type { AppContext } from '@influencer-stats/runtime/service'
import { readAssets } from './assets/page-assets.ts'
import { CampaignReader } from './upstream/campaign-reader.ts'
import { ShareLinks } from './share-links.ts'
import { findReports } from './reports.ts'
import type { DashboardSharedState, DashboardMainMessage, DashboardThreadMessage } from './messages.ts'
import { ServiceProxy } from './upstream/service-proxy.ts'
import { registerLinkRoutes } from './routes/link-routes.ts'
import { registerReportRoutes } from './routes/report-routes.ts'
import { createNotFoundPage, registerPageRoutes } from './routes/page-routes.ts'
import { registerServiceRoutes } from './routes/service-routes.ts'
import { registerSessionRoutes } from './routes/session-routes.ts'
import { registerSharedRoutes } from './routes/shared-routes.ts'
import { registerStatusRoute } from './routes/status-route.ts'
import { registerViewRoutes } from './routes/view-routes.ts'
import { ServiceMonitor } from './upstream/service-monitor.ts'
import type { DashboardConfig } from './settings.ts'
import { createSourceReader } from './upstream/data-source.ts'
import { createAuth } from './auth.ts'
import { registerThumbnailRoutes } from './routes/thumbnail-routes.ts'
import { fetchPicture, toChannelPicture, toVideoPicture } from './thumbnails/picture-source.ts'
import { Thumbnails } from './thumbnails/thumbnails.ts'

/** @param toAddress the address of the picture of a key; undefined if there is none */
const createThumbnails = (toAddress: (key: string) => URL | undefined) =>
  new Thumbnails(async (key) => {
    const address = toAddress(key)
    return address && fetchPicture(address)
  })

/** Builds the dashboard's app, once per serving thread. */
export async function createDashboardApp(
  context: AppContext<DashboardConfig, DashboardMainMessage, DashboardThreadMessage>,
): Promise<App> {
  const { config, bus, budget } = context
  const { key, links: initialLinks, health } = context.shared as DashboardSharedState
  const links = new ShareLinks(key, initialLinks)
  bus.on('linkAdded', (link) => links.add(link))
  bus.on('linksRemoved', (ids) => links.remove(ids))
  // If only READ_TOKEN is set, changes and `/backup` require it, too: a backup contains the signing key.
  const apiToken = config.apiToken || config.readToken
  const assets = readAssets()
  const app = await createApp(
    { ...context, config: { ...config, apiToken } },
    {
      title: 'Dashboard',
      description: 'Web interface: campaigns with live numbers, prices, and the health of all services.',
      hasPage: true,
      notFoundPage: createNotFoundPage(assets),
      data: createDataHealth(health),
    },
  )
  const auth = createAuth(config, key)
  const proxy = new ServiceProxy(context)
  app.addHook('onClose', async () => proxy.close())
  const campaigns = new CampaignReader(proxy, auth.getToken('editor'))
  const source = createSourceReader(proxy, auth.getToken('editor'))
  const monitor = new ServiceMonitor(proxy, auth.getToken('reader'), source)

  registerPageRoutes(app, assets)
  registerReportRoutes(app, findReports())
  registerSessionRoutes(app, { auth, source, services: proxy.services, nodes: proxy.nodes })
  registerLinkRoutes(app, { auth, links, campaigns, bus })
  registerViewRoutes(app, { auth, bus })
  registerStatusRoute(app, auth, monitor)
  registerSharedRoutes(app, { links, campaigns, proxy, monitor, token: auth.getToken('editor') })
  const pictures = config.thumbnailUri || undefined
  registerThumbnailRoutes(app, {
    auth,
    links,
    campaigns,
    videos: createThumbnails((video) => toVideoPicture(video, pictures)),
    channels: createThumbnails((address) => toChannelPicture(address, pictures)),
  })
  await app.register(async (scope) =>
    registerServiceRoutes(scope as App, { auth, proxy, budget, limit: config.bodyLimit }),
  )
  return app
}
