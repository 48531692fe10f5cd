import { defineService } from '@influencer-stats/runtime/service'
import { exampleSearch } from './examples.ts'
import type { PricesMainMessage, PricesThreadMessage } from './messages.ts'
import { settings } from './settings.ts'
import { variants } from './variants.ts'

/** The service that finds one matching price among millions. */
export const prices = defineService<typeof settings, PricesMainMessage, PricesThreadMessage>({
  name: 'prices',
  summary: 'finds the one price that fits eight conditions and more',
  port: 8084,
  settings,
  variants,
  example: (url) =>
    `curl -H 'content-type: application/json' ${url}/v1/search/bitmap/prices -d '${JSON.stringify(exampleSearch)}'`,
  getNoBackupReason: ({ log }) =>
    log === 'jetstream'
      ? 'a node has all of it from the log: `pnpm prices export` and `pnpm prices import` at any node back it up and restore it'
      : undefined,
  open: async (context) => (await import('./main.ts')).openPrices(context),
  load: () => import('./app.ts'),
  app: async (context) => (await import('./app.ts')).createPricesApp(context),
})
