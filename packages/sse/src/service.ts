import { getNoRestoreReason, isCluster } from '@influencer-stats/log/settings'
import { defineService } from '@influencer-stats/runtime/service'
import type { SseMainMessage, SseThreadMessage } from './messages.ts'
import { settings } from './settings.ts'
import { variants } from './variants.ts'

/** Service that pushes values to every open stream. */
export const sse = defineService<typeof settings, SseMainMessage, SseThreadMessage>({
  name: 'sse',
  summary: 'sends published values to all open streams (server-sent events)',
  port: 8083,
  settings,
  variants,
  example: (url) => `curl -N '${url}/wait?cid=me&last=1' & sleep 1; curl '${url}/put?v=hello'`,
  getSingleThreadReason: ({ broker }) =>
    broker === 'local' ? 'the broker "local" orders values separately on each thread' : undefined,
  getNoRestoreReason: (config) => getNoRestoreReason('sse', config),
  open: async (context) =>
    isCluster(context.config)
      ? (await import('./cluster.ts')).openCluster(context)
      : (await import('./standalone.ts')).openStandalone(context),
  loadMain: (config) => (isCluster(config) ? import('./cluster.ts') : import('./standalone.ts')),
  load: () => import('./app.ts'),
  app: async (context) => (await import('./app.ts')).createSseApp(context),
})
