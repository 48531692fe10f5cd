import { registerGauge } from '@influencer-stats/runtime/gauge'
import type { OpenContext, ServiceMain } from '@influencer-stats/runtime/service'
import { createDemo } from './demo-campaigns.ts'
import { DashboardStore } from './dashboard-store.ts'
import type { DashboardSharedState, DashboardMainMessage, DashboardThreadMessage } from './messages.ts'
import type { DashboardConfig } from './settings.ts'

/** Interval at which expired links are deleted (ms). */
const SWEEP_INTERVAL_MS = 60_000

/** Opens the data of the process: the key that signs sessions and links, and the issued links. */
export async function openDashboard(
  context: OpenContext<DashboardConfig, DashboardThreadMessage>,
): Promise<ServiceMain<DashboardMainMessage>> {
  const { config, broadcast, log, registry } = context
  const store = await DashboardStore.open(config.data, log)
  const closing = new AbortController()
  registerGauge(registry, 'dashboard_links', 'Valid links to campaigns.', () => store.links.length)

  async function sweep(): Promise<void> {
    const expired = await store.sweep(Date.now())
    if (expired.length > 0) await broadcast('linksRemoved', expired)
  }
  const timer = setInterval(
    () => void sweep().catch((error) => log.error(error, 'expired links could not be deleted')),
    SWEEP_INTERVAL_MS,
  )
  timer.unref()
  await sweep()

  const demo = store.hadDemo ? undefined : createDemo(config, closing.signal)
  const demoCreated = demo
    ?.then(async (isDone) => void (isDone && (await store.recordDemo())))
    .catch((error) => void (closing.signal.aborted || log.warn(error, 'the demo campaigns could not be created')))

  return {
    backupSource: store.level,
    shared: (): DashboardSharedState => ({ key: store.key, links: store.links, health: store.level.memory }),
    handlers: {
      async addLink(campaign, days) {
        const link = await store.addLink(campaign, days)
        await broadcast('linkAdded', link)
        return link
      },
      async revokeLink(id) {
        const existed = await store.removeLink(id)
        if (existed) await broadcast('linksRemoved', [id])
        return existed
      },
      listViews: async () => store.views.list(),
      addView: (content) => store.views.add(content),
      removeView: (id) => store.views.remove(id),
    },
    async close() {
      clearInterval(timer)
      closing.abort()
      await demoCreated
      await store.close()
    },
  }
}
