import { registerGauge } from '@influencer-stats/runtime/gauge'
import type { OpenContext, ServiceMain } from '@influencer-stats/runtime/service'
import { makeDemo } from './demo.ts'
import { Keepsakes } from './keepsakes.ts'
import type { Shared, ToMain, ToThread } from './messages.ts'
import type { DashboardConfig } from './settings.ts'

/** How often links that have expired are forgotten (ms). */
const SWEEP_EVERY = 60_000

/** Opens what exists once per process: the key that sessions and links are signed with, and the links that are out. */
export async function openDashboard(context: OpenContext<DashboardConfig, ToThread>): Promise<ServiceMain<ToMain>> {
  const { config, broadcast, log, registry } = context
  const keepsakes = await Keepsakes.open(config.data, log)
  const closing = new AbortController()
  registerGauge(registry, 'dashboard_links', 'Links to campaigns that are out.', () => keepsakes.links.length)

  async function sweep(): Promise<void> {
    const gone = await keepsakes.sweep(Date.now())
    if (gone.length > 0) await broadcast('linksGone', gone)
  }
  const timer = setInterval(() => void sweep().catch((error) => log.error(error, 'links were not swept')), SWEEP_EVERY)
  timer.unref()
  await sweep()

  const demo = keepsakes.hadDemo ? undefined : makeDemo(config, closing.signal)
  const demoMade = demo
    ?.then(async (isSettled) => void (isSettled && (await keepsakes.rememberDemo())))
    .catch((error) => void (closing.signal.aborted || log.warn(error, 'the demo campaigns could not be made')))

  return {
    backupSource: keepsakes.kept,
    shared: (): Shared => ({ key: keepsakes.key, links: keepsakes.links, health: keepsakes.memory }),
    handlers: {
      async addLink(campaign, days) {
        const link = await keepsakes.add(campaign, days)
        await broadcast('linkAdded', link)
        return link
      },
      async revokeLink(id) {
        const existed = await keepsakes.revoke(id)
        if (existed) await broadcast('linksGone', [id])
        return existed
      },
    },
    async close() {
      clearInterval(timer)
      closing.abort()
      await demoMade
      await keepsakes.close()
    },
  }
}
