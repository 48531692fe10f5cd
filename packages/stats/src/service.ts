import { getNoRestoreReason, isCluster } from '@influencer-stats/log/settings'
import { defineService } from '@influencer-stats/runtime/service'
import type { StatsMainMessage, StatsThreadMessage } from './messages.ts'
import { isStateOnMain, settings } from './settings.ts'
import { variants } from './variants.ts'

const SAMPLE_ID = '99757a95-f758-499f-a170-bea93b2d8bcf'

/** Collections of videos and their summed YouTube statistics. */
export const stats = defineService<typeof settings, StatsMainMessage, StatsThreadMessage>({
  name: 'stats',
  summary: 'groups videos into collections and sums their YouTube statistics',
  port: 8080,
  settings,
  variants,
  example: (url) =>
    `curl -XPUT -H 'content-type: application/json' ${url}/collections/${SAMPLE_ID} -d '{"videos":["-4lB5EKS5Uk","-jlLkTtgWUk","1FEFpk-uIYo"]}'\n` +
    `curl ${url}/collections/${SAMPLE_ID}/stats`,
  getSingleThreadReason(config) {
    if (config.cache === 'refresh') return 'the cache "refresh" would use the quota once per thread'
    if (!isStateOnMain(config)) return `the state "${config.state}" belongs to one thread`
    return undefined
  },
  getNoRestoreReason: (config) => getNoRestoreReason('stats', config),
  open: async (context) =>
    isCluster(context.config)
      ? (await import('./cluster.ts')).openStatsNode(context)
      : (await import('./standalone.ts')).openStats(context),
  loadMain: (config) => (isCluster(config) ? import('./cluster.ts') : import('./standalone.ts')),
  load: () => import('./app.ts'),
  app: async (context) => (await import('./app.ts')).createStatsApp(context),
})
