import { getNoRestoreReason, isCluster } from '@influencer-stats/log/settings'
import { defineService } from '@influencer-stats/runtime/service'
import { examplePrice, exampleSearch } from './sample/examples.ts'
import type { PricesMainMessage, PricesThreadMessage } from './messages.ts'
import { settings } from './settings.ts'
import { variants } from './variants.ts'

/** The service that finds one matching price among millions. */
export const prices = defineService<typeof settings, PricesMainMessage, PricesThreadMessage>({
  name: 'prices',
  summary: 'finds the one price that matches all conditions of a search',
  port: 8084,
  settings,
  variants,
  // The price is part of the sample catalog, so the first command changes only a catalog without the sample.
  example: (url) =>
    `curl -XPUT -H 'content-type: application/json' ${url}/prices/${examplePrice.id} -d '${JSON.stringify(examplePrice)}'\n` +
    `curl -H 'content-type: application/json' ${url}/v1/search/bitmap/prices -d '${JSON.stringify(exampleSearch)}'`,
  getNoRestoreReason: (config) => getNoRestoreReason('prices', config),
  open: async (context) =>
    isCluster(context.config)
      ? (await import('./cluster.ts')).openPricesNode(context)
      : (await import('./standalone.ts')).openPrices(context),
  loadMain: (config) => (isCluster(config) ? import('./cluster.ts') : import('./standalone.ts')),
  load: () => import('./app.ts'),
  app: async (context) => (await import('./app.ts')).createPricesApp(context),
})
