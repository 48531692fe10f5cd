import { defineService } from '@influencer-stats/runtime/service'
import type { Price } from './core/price.ts'
import { samplePrices } from './core/sample.ts'
import type { ToMain, ToThread } from './messages.ts'
import { settings } from './settings.ts'
import { variants } from './variants.ts'

/** The search for the first price of the sample catalog. */
function exampleBody(): string {
  const [{ offeringId, groupId, priceSpecId, charValues }] = samplePrices(1).take(1).toArray() as [Price]
  return JSON.stringify({ offeringId, groupId, priceSpecId, charValues })
}

/** The one price that fits, among millions. */
export const prices = defineService<typeof settings, ToMain, ToThread>({
  name: 'prices',
  summary: 'finds the one price that fits eight conditions and more',
  port: 8084,
  settings,
  variants,
  example: (url) => `curl -H 'content-type: application/json' ${url}/v1/search/bitmap/prices -d '${exampleBody()}'`,
  open: async (context) => (await import('./main.ts')).openPrices(context),
  app: async (context) => (await import('./app.ts')).createPricesApp(context),
})
