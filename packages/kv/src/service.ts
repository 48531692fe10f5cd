import { defineService } from '@influencer-stats/runtime/service'
import type { KvMainMessage, KvThreadMessage } from './messages.ts'
import { settings } from './settings.ts'
import { variants } from './variants.ts'

/** Key-value service: durable, ordered, with conditional writes. */
export const kv = defineService<typeof settings, KvMainMessage, KvThreadMessage>({
  name: 'kv',
  summary: 'keeps bytes under keys, durably and in order',
  port: 8082,
  settings,
  variants,
  example: (url) =>
    `curl -XPUT '${url}/v0/entity?id=greeting' -H 'content-type: text/plain' -d hello\n` +
    `curl '${url}/v0/entity?id=greeting'`,
  getSingleThreadReason: ({ store }) =>
    store === 'memory' ? 'the store "memory" is known to one thread only' : undefined,
  getNoBackupReason: ({ log }) =>
    log === 'jetstream'
      ? 'a node has all of it from the log: `pnpm kv export` and `pnpm kv import` at any node back it up and restore it'
      : undefined,
  open: async (context) => (await import('./main.ts')).openKv(context),
  load: () => import('./app.ts'),
  app: async (context) => (await import('./app.ts')).createKvApp(context),
})
