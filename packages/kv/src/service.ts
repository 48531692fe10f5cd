import { getNoRestoreReason, isCluster } from '@influencer-stats/log/settings'
import { defineService } from '@influencer-stats/runtime/service'
import type { KvMainMessage, KvThreadMessage } from './messages.ts'
import { settings } from './settings.ts'
import { variants } from './variants.ts'

/** Key-value service: durable, ordered, with conditional writes. */
export const kv = defineService<typeof settings, KvMainMessage, KvThreadMessage>({
  name: 'kv',
  summary: 'stores values under keys, durable and in the order of keys',
  port: 8082,
  settings,
  variants,
  example: (url) =>
    `curl -XPUT '${url}/v0/entity?id=greeting' -H 'content-type: text/plain' -d hello\n` +
    `curl '${url}/v0/entity?id=greeting'`,
  getSingleThreadReason: ({ store }) => (store === 'memory' ? 'the store "memory" belongs to one thread' : undefined),
  getNoRestoreReason: (config) => getNoRestoreReason('kv', config),
  open: async (context) =>
    isCluster(context.config)
      ? (await import('./cluster.ts')).openKvNode(context)
      : (await import('./standalone.ts')).openKv(context),
  loadMain: (config) => (isCluster(config) ? import('./cluster.ts') : import('./standalone.ts')),
  load: () => import('./app.ts'),
  app: async (context) => (await import('./app.ts')).createKvApp(context),
})
